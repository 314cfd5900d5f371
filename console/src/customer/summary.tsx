import { addAmounts, compareAmounts, fractionOf, subtractAmount } from '~/lib/money.ts';
import { Icon, Money } from '~/ui/index.ts';

export type Sum = {
  readonly asset: string;
  readonly amount: string;
  readonly fee: string;
  /** What can be spent now; undefined while it is not known. */
  readonly available: string | undefined;
  /** Where the amount ends up: "Recipient gets". */
  readonly amountLabel?: string;
};

/** Amount, fee and total, and what is left: each digit, below each other. */
export function Summary({ asset, amount, fee, available, amountLabel = 'Amount' }: Sum) {
  const total = addAmounts(amount, fee);
  const after = available === undefined ? undefined : subtractAmount(available, total);
  const lines: readonly (readonly [string, string, boolean])[] = [
    [amountLabel, amount, false],
    ['Fee', fee, false],
    ['Total', total, true],
    ...(available === undefined || after === undefined
      ? []
      : ([
          ['Available now', available, false],
          ['Available after', after, true],
        ] as const)),
  ];
  const fraction = fractionOf(lines.map(([, value]) => value));
  const isShort = after !== undefined && compareAmounts(after, '0') < 0;
  return (
    <div className="rounded-lg border border-line bg-raised/50 text-sm">
      <dl className="px-3 py-1">
        {lines.map(([label, value, strong], index) => (
          <div
            key={label}
            className={`flex items-baseline justify-between gap-4 py-1.5 ${index > 0 && label.startsWith('Available now') ? 'border-t border-line' : ''}`}
          >
            <dt className={strong ? 'font-medium' : 'text-quiet'}>{label}</dt>
            <dd>
              <Money
                amount={value}
                asset={asset}
                fraction={fraction}
                className={
                  strong ? `font-medium ${isShort && label === 'Available after' ? 'text-bad' : ''}` : ''
                }
              />
            </dd>
          </div>
        ))}
      </dl>
      {isShort && (
        <p className="flex items-center gap-2 border-t border-line px-3 py-2 text-xs text-bad">
          <Icon name="alert" className="size-3.5" />
          The balance is not enough for the total.
        </p>
      )}
    </div>
  );
}
