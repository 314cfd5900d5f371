import type { Answer } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import { csvLine, download } from '~/lib/csv.ts';
import { cx } from '~/lib/cx.ts';
import { fractionOf } from '~/lib/money.ts';
import { fromLocalInput, READER_ZONE, toLocalInput } from '~/lib/time.ts';
import {
  Badge,
  Button,
  EmptyState,
  Field,
  IconButton,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  TextInput,
  Time,
} from '~/ui/index.ts';

type TrialBalance = Answer<'getTrialBalance'>;
type OfAsset = TrialBalance['assets'][number];

const balanceOf = ({ balance, balance_units: units }: OfAsset['accounts'][number]): string =>
  (balance ?? units)!;

export default function TrialBalancePage() {
  const { at } = useScreenSearch<{ at?: string }>();
  const setSearch = useSetSearch();
  const read = useQuery({
    queryKey: ['trial-balance', at],
    queryFn: () => ferry.getTrialBalance(at === undefined ? {} : { at }),
  });
  const { data } = read;
  return (
    <>
      <PageHeader title="Trial balance">
        <IconButton label="Read again" icon="refresh" onClick={() => void read.refetch()} />
        <Button icon="download" disabled={data === undefined} onClick={() => data && save(data)}>
          Export CSV
        </Button>
      </PageHeader>
      <PageBody>
        <div className="flex flex-wrap items-end gap-3">
          <Field label="As it was at" hint={`${READER_ZONE}. Empty: as late as is final`} className="w-64">
            {(wired) => (
              <TextInput
                {...wired}
                type="datetime-local"
                defaultValue={at === undefined ? '' : toLocalInput(at)}
                onChange={(event) => {
                  const next = fromLocalInput(event.target.value);
                  setSearch(next === undefined ? {} : { at: next });
                }}
              />
            )}
          </Field>
          {data !== undefined && (
            <p className="pb-6 text-xs text-quiet">
              Balances at <Time at={data.at} />
            </p>
          )}
        </div>
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {data === undefined && read.error === null && <Loading />}
        {data?.assets.length === 0 && (
          <EmptyState icon="scales" title="The ledger is empty">
            Every account of the ledger is here, by asset. They always sum to zero.
          </EmptyState>
        )}
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
          {data?.assets.map((one) => (
            <Asset key={one.asset} of={one} />
          ))}
        </div>
      </PageBody>
    </>
  );
}

function save({ assets }: TrialBalance): void {
  download('trial-balance.csv', 'text/csv;charset=utf-8', [
    csvLine(['asset', 'account', 'balance']),
    ...assets.flatMap(({ asset, accounts }) =>
      accounts.map((one) => csvLine([asset, one.account, balanceOf(one)])),
    ),
  ]);
}

const OF_PROFILES = new Set(['available', 'held']);

function Asset({ of: { asset, accounts, total } }: { readonly of: OfAsset }) {
  const fraction = fractionOf([...accounts.map(balanceOf), total]);
  const isBalanced = total === '0';
  return (
    <Panel
      title={asset}
      flush
      action={isBalanced ? <Badge tone="good">Sums to zero</Badge> : <Badge tone="bad">Broken</Badge>}
    >
      <table className="w-full text-sm">
        <thead className="sr-only">
          <tr>
            <th scope="col">Account</th>
            <th scope="col">Balance</th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((one) => (
            <tr key={one.account} className="border-b border-line/60">
              <th scope="row" className="px-4 py-1.5 text-left font-normal">
                {OF_PROFILES.has(one.account) ? (
                  <>
                    {one.account} <span className="text-xs text-quiet">of all profiles</span>
                  </>
                ) : (
                  <Link
                    to={`/operator/accounts/${encodeURIComponent(one.account)}?asset=${asset}`}
                    className="text-accent hover:underline"
                  >
                    {one.account}
                  </Link>
                )}
              </th>
              <td className="px-4 py-1.5 text-right">
                <Money amount={balanceOf(one)} fraction={fraction} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className="font-medium">
            <th scope="row" className="px-4 py-2 text-left font-medium">
              Sum
            </th>
            <td className={cx('px-4 py-2 text-right', isBalanced ? 'text-good' : 'text-bad')}>
              <Money amount={total} fraction={fraction} />
            </td>
          </tr>
        </tfoot>
      </table>
    </Panel>
  );
}
