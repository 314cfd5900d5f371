import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { cx } from '~/lib/cx.ts';
import { compareAmounts, formatAmount, ratioOf } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Badge,
  EmptyState,
  Icon,
  IconButton,
  Id,
  LinkButton,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  ScrollX,
  Time,
  type Tone,
} from '~/ui/index.ts';

type Treasury = Answer<'getTreasury'>;
type Wallet = Treasury['networks'][number]['wallets'][number];

const AGAIN_MS = 15_000;
const LEVELS: Readonly<Record<Wallet['level'], readonly [string, Tone]>> = {
  BELOW_LOW: ['Below the low mark', 'bad'],
  BETWEEN: ['Between its marks', 'good'],
  ABOVE_HIGH: ['Above the high mark', 'warn'],
  UNMARKED: ['Without marks', 'neutral'],
};
const isZero = (amount: string): boolean => compareAmounts(amount, '0') === 0;

export default function TreasuryPage() {
  const read = useQuery({
    queryKey: ['treasury'],
    queryFn: () => ferry.getTreasury({}),
    refetchInterval: AGAIN_MS,
  });
  return (
    <>
      <PageHeader title="Treasury">
        <IconButton label="Read again" icon="refresh" onClick={() => void read.refetch()} />
        <LinkButton to="/operator/rails" icon="events">
          Health of the rails
        </LinkButton>
      </PageHeader>
      <PageBody>
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {read.data === undefined ? read.error === null && <Loading /> : <Holdings treasury={read.data} />}
      </PageBody>
    </>
  );
}

function Holdings({ treasury: { networks, banks, alarms } }: { readonly treasury: Treasury }) {
  if (networks.length === 0 && banks.length === 0)
    return (
      <EmptyState icon="vault" title="No wallets and no bank balances">
        Wallets of chains that the configuration connects are here: what is on chain, in the ledger and in
        flight, and whether that adds up. Balances that banks report, and that you enter under reconciliation,
        stand beside the ledger. Simulated rails have neither.
      </EmptyState>
    );
  return (
    <>
      {alarms.map((alarm) => (
        <div
          key={`${alarm.rail}${alarm.asset ?? ''}${alarm.reason}`}
          className="flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm"
        >
          <Icon name="alert" className="mt-0.5 size-4 shrink-0 text-bad" />
          <p>
            <strong className="font-medium text-bad">
              {alarm.rail} {alarm.asset}
            </strong>{' '}
            {alarm.detail}
          </p>
        </div>
      ))}
      {networks.map(({ network, cold_address: cold, wallets }) => (
        <Panel key={network} title={network} flush>
          {cold !== undefined && (
            <p className="border-b border-line/60 px-4 py-2 text-xs text-quiet">
              Cold wallet <Id id={cold} of="address of the cold wallet" />
            </p>
          )}
          <div className="grid grid-cols-1 divide-y divide-line lg:grid-cols-2 lg:divide-x lg:divide-y-0">
            {wallets.map((wallet) => (
              <WalletCard key={wallet.asset} wallet={wallet} />
            ))}
          </div>
        </Panel>
      ))}
      {banks.length > 0 && <Banks banks={banks} />}
    </>
  );
}

/** Where the hot wallet stands between its marks. */
function Marks({ wallet }: { readonly wallet: Wallet }) {
  const { low_mark: low, high_mark: high, on_chain: chain } = wallet;
  if (low === undefined || high === undefined) return null;
  const at = Math.min(1, ratioOf(chain.hot, high));
  return (
    <div className="my-2" aria-hidden="true">
      <div className="relative h-1.5 rounded-full bg-raised">
        <div className="h-full rounded-full bg-accent" style={{ width: `${at * 100}%` }} />
        <span
          className="absolute top-[-3px] h-3 w-px bg-bad"
          style={{ left: `${Math.min(1, ratioOf(low, high)) * 100}%` }}
        />
      </div>
      <div className="mt-1 flex justify-between text-2xs text-quiet">
        <span>low {formatAmount(low)}</span>
        <span>high {formatAmount(high)}</span>
      </div>
    </div>
  );
}

function WalletCard({ wallet }: { readonly wallet: Wallet }) {
  const {
    asset,
    on_chain: chain,
    ledger,
    in_flight: flight,
    difference,
    differs_since: since,
    level,
  } = wallet;
  const [label, tone] = LEVELS[level];
  const line = (name: string, amount: string | undefined, isStrong = false) =>
    amount === undefined ? null : (
      <div className={cx('flex justify-between gap-4', isStrong && 'font-medium')}>
        <dt className={isStrong ? '' : 'text-quiet'}>{name}</dt>
        <dd>
          <Money amount={amount} />
        </dd>
      </div>
    );
  return (
    <div className="p-4 text-sm">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 font-semibold">{asset}</h3>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <Marks wallet={wallet} />
      <dl className="mt-2 flex flex-col gap-1">
        {line('Hot wallet on chain', chain.hot, true)}
        {line('Deposit addresses, not swept', chain.deposit_addresses)}
        {line('Cold wallet on chain', chain.cold)}
        {line('Hot wallet in the ledger', ledger.hot)}
        {line('Cold wallet in the ledger', ledger.cold)}
        {line('Network fees paid', ledger.network_fees)}
        {line('Arriving', flight.arriving)}
        {line('Leaving', flight.leaving)}
        {line('Reserved for fees', flight.fees_reserved)}
        <div className="mt-1 flex justify-between gap-4 border-t border-line pt-1.5 font-medium">
          <dt>Difference</dt>
          <dd className={isZero(difference) ? 'text-good' : 'text-bad'}>
            <Money amount={difference} />
            {since !== undefined && (
              <span className="ml-2 text-xs font-normal">
                since <Time at={since} form="relative" />
              </span>
            )}
          </dd>
        </div>
      </dl>
      <p className="mt-2 text-xs text-quiet">
        At block {chain.height.toLocaleString('en')}, observed <Time at={chain.observed_at} form="relative" />
        {wallet.gas_payments !== undefined && `. The poorest lane can pay ${wallet.gas_payments} more fees.`}
      </p>
    </div>
  );
}

function Banks({ banks }: { readonly banks: Treasury['banks'] }) {
  return (
    <Panel title="Banks" flush>
      <ScrollX label="Banks">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left">
              {['Account', 'Asset', 'At the bank', 'In the ledger', 'Difference', 'When'].map(
                (name, index) => (
                  <th key={name} scope="col" className={cx('eyebrow px-4 py-2', index > 1 && 'text-right')}>
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {banks.map((one) => (
              <tr key={`${one.account}${one.asset}`} className="border-b border-line/60 last:border-0">
                <td className="px-4 py-2">{words(one.account)}</td>
                <td className="px-4 py-2 text-quiet">{one.asset}</td>
                <td className="px-4 py-2 text-right">
                  <Money amount={one.balance} />
                </td>
                <td className="px-4 py-2 text-right">
                  <Money amount={one.ledger_balance} />
                </td>
                <td className={cx('px-4 py-2 text-right', isZero(one.difference) ? 'text-good' : 'text-bad')}>
                  <Money amount={one.difference} />
                </td>
                <td className="px-4 py-2 text-right" title={one.reference}>
                  <Time at={one.at} form="short" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
    </Panel>
  );
}
