import type { components } from '@ferry/client';
import { formatAmount } from '~/lib/money.ts';
import { Money } from '~/ui/index.ts';

type Leg = components['schemas']['SettlementLeg'];

/** On one line: "0.5 BTC → for 30,000 USD ←". */
export function LegTexts({ legs }: { readonly legs: readonly Leg[] }) {
  const texts = (direction: Leg['direction']): string =>
    legs
      .filter((leg) => leg.direction === direction)
      .map(({ amount, asset }) => `${formatAmount(amount)} ${asset}`)
      .join(' + ');
  const [delivered, received] = [texts('DELIVER'), texts('RECEIVE')];
  return (
    <span className="tabular truncate">
      {[delivered, received].filter((one) => one !== '').join(' for ')}
    </span>
  );
}

/** From the side of one party: what leaves and what arrives. */
export function OwnLegs({ legs, isSource }: { readonly legs: readonly Leg[]; readonly isSource: boolean }) {
  return (
    <ul className="flex flex-col gap-0.5 text-sm">
      {legs.map(({ id, direction, amount, asset }) => {
        const leaves = (direction === 'DELIVER') === isSource;
        return (
          <li key={id} className="flex justify-between gap-3">
            <span className="text-quiet">{leaves ? 'You deliver' : 'You receive'}</span>
            <Money amount={amount} asset={asset} direction={leaves ? 'DEBIT' : 'CREDIT'} />
          </li>
        );
      })}
    </ul>
  );
}
