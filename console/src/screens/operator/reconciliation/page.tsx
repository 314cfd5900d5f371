import type { components } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { cx } from '~/lib/cx.ts';
import { addAmounts, compareAmounts, negated } from '~/lib/money.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  EmptyState,
  Field,
  Loading,
  Money,
  PageBody,
  PageHeader,
  Panel,
  ProblemNotice,
  ScrollX,
  Select,
  Tabs,
  Time,
} from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import { Import, ReportBalance } from './forms.tsx';

type Item = components['schemas']['ReconciliationItem'];

/** Accounts that something outside can be compared with. */
async function readAccounts(): Promise<string[]> {
  const { assets } = await ferry.getTrialBalance({});
  const names = assets.flatMap(({ accounts }) => accounts.map(({ account }) => account));
  return [...new Set(names)].filter((name) => name === 'treasury' || name.startsWith('clearing:')).sort();
}

export default function Reconciliation() {
  const { account: chosen, tab = 'items' } = useScreenSearch<{ account?: string; tab?: string }>();
  const setSearch = useSetSearch();
  const accounts = useQuery({ queryKey: ['reconciled-accounts'], queryFn: readAccounts });
  const account = chosen ?? accounts.data?.[0];
  const mayBook = useMay('operator:journal');
  const [form, setForm] = useState<'import' | 'balance'>();
  const go = (next: Search): void => setSearch({ ...(account !== undefined && { account }), tab, ...next });
  return (
    <>
      <PageHeader title="Reconciliation">
        {mayBook && account !== undefined && (
          <>
            <Button onClick={() => setForm('balance')}>Report a balance</Button>
            <Button variant="primary" icon="plus" onClick={() => setForm('import')}>
              Import a statement
            </Button>
          </>
        )}
      </PageHeader>
      <PageBody>
        {accounts.error !== null && (
          <ProblemNotice error={accounts.error} retry={() => void accounts.refetch()} />
        )}
        {accounts.data === undefined && accounts.error === null && <Loading />}
        {accounts.data !== undefined && account === undefined && (
          <EmptyState icon="check" title="Nothing to compare yet">
            When money has come in or gone out, the account of its rail is compared here with the statements
            of the bank.
          </EmptyState>
        )}
        {account !== undefined && (
          <>
            <Field label="Account" className="w-64">
              {(wired) => (
                <Select
                  {...wired}
                  value={account}
                  onChange={(event) => go({ account: event.target.value })}
                  options={[...new Set([account, ...(accounts.data ?? [])])].map((value) => ({
                    value,
                    label: value,
                  }))}
                />
              )}
            </Field>
            <Tabs
              value={tab}
              onChange={(next) => go({ tab: next })}
              tabs={[
                {
                  id: 'items',
                  label: 'On one side only',
                  content: <Unmatched key={account} account={account} />,
                },
                { id: 'balances', label: 'Balances', content: <Balances account={account} /> },
              ]}
            />
            {form === 'import' && <Import account={account} onClose={() => setForm(undefined)} />}
            {form === 'balance' && <ReportBalance account={account} onClose={() => setForm(undefined)} />}
          </>
        )}
      </PageBody>
    </>
  );
}

const SIDES = [
  ['STATEMENT', 'On the statement, not in the ledger'],
  ['LEDGER', 'In the ledger, not on a statement'],
] as const;
const PAGE = 200;

function Unmatched({ account }: { readonly account: string }) {
  const [chosen, setChosen] = useState<readonly Item[]>([]);
  const [matches, setMatches] = useState(false);
  const mayBook = useMay('operator:journal');
  const read = useQuery({
    queryKey: ['unmatched', account],
    queryFn: () =>
      Promise.all(
        SIDES.map(
          async ([side]) => (await ferry.listUnmatched({ account, side, order: 'ASC', limit: PAGE })).items,
        ),
      ),
  });
  if (read.error !== null) return <ProblemNotice error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <Loading />;
  const toggle = (item: Item): void =>
    setChosen(
      chosen.some((one) => one.id === item.id)
        ? chosen.filter((one) => one.id !== item.id)
        : [...chosen, item],
    );
  const sum = chosen.reduce((total, one) => {
    const amount =
      (one.direction === 'CREDIT') === (one.side === 'STATEMENT') ? one.amount : negated(one.amount);
    return addAmounts(total, amount);
  }, '0');
  return (
    <>
      {mayBook && chosen.length > 0 && (
        <div className="sticky top-2 z-10 mb-3 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-panel px-4 py-2 text-sm shadow-pop">
          <span>
            {chosen.length} chosen, their difference is{' '}
            <strong className={compareAmounts(sum, '0') === 0 ? 'text-good' : 'text-bad'}>
              <Money amount={sum} />
            </strong>
          </span>
          <span className="flex-1" />
          <Button onClick={() => setChosen([])}>Choose none</Button>
          <Button variant="primary" disabled={chosen.length < 2} onClick={() => setMatches(true)}>
            They belong together
          </Button>
        </div>
      )}
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        {SIDES.map(([side, title], index) => (
          <Panel key={side} title={title} flush>
            <Items
              items={read.data[index]!}
              chosen={chosen}
              onToggle={mayBook ? toggle : undefined}
              side={side}
            />
          </Panel>
        ))}
      </div>
      <ActDialog
        open={matches}
        onClose={() => setMatches(false)}
        title="They belong together"
        description={`${chosen.length} items leave both lists. Nothing is booked.`}
        action="Match them"
        act={async ({ reason }) => {
          const answer = await ferry.matchItems({ item_ids: chosen.map((one) => one.id), reason });
          setChosen([]);
          return answer;
        }}
        done="Matched."
      />
    </>
  );
}

function Items({
  items,
  chosen,
  onToggle,
  side,
}: {
  readonly items: readonly Item[];
  readonly chosen: readonly Item[];
  readonly onToggle: ((item: Item) => void) | undefined;
  readonly side: Item['side'];
}) {
  if (items.length === 0)
    return (
      <EmptyState icon="check" title="Everything is on both sides">
        {side === 'LEDGER'
          ? 'All that the ledger has moved was found on a statement.'
          : 'All lines of the imported statements were found in the ledger.'}
      </EmptyState>
    );
  // A label only if there is something to choose.
  const Row = onToggle === undefined ? 'div' : 'label';
  return (
    <ul>
      {items.map((item) => (
        <li key={item.id} className="border-b border-line/60 last:border-0">
          <Row className="flex items-center gap-3 px-4 py-2 text-sm hover:bg-hover">
            {onToggle !== undefined && (
              <input
                type="checkbox"
                className="size-3.5 accent-accent"
                checked={chosen.some((one) => one.id === item.id)}
                onChange={() => onToggle(item)}
              />
            )}
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-xs">{item.reference}</span>
              <span className="text-xs text-quiet">
                {item.direction === 'CREDIT' ? 'came in' : 'went out'} <Time at={item.since} form="short" />
              </span>
            </span>
            <Money amount={item.amount} asset={item.asset} direction={item.direction} />
          </Row>
        </li>
      ))}
      {items.length >= PAGE && <li className="px-4 py-2 text-xs text-quiet">The oldest {PAGE} are shown.</li>}
    </ul>
  );
}

function Balances({ account }: { readonly account: string }) {
  const read = useQuery({
    queryKey: ['balance-reports', account],
    queryFn: async () => (await ferry.listBalanceReports({ account, limit: 200 })).items,
  });
  if (read.error !== null) return <ProblemNotice error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <Loading />;
  if (read.data.length === 0)
    return (
      <EmptyState icon="scales" title="No balance was reported">
        Report what the bank says is on {account}: the difference to the ledger, and how much of it the items
        on one side explain, are shown here.
      </EmptyState>
    );
  const names = ['When', 'Statement', 'There', 'In the ledger', 'Difference', 'Unexplained'];
  return (
    <Panel flush>
      <ScrollX label="Reported balances">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left">
              {names.map((name, index) => (
                <th key={name} scope="col" className={cx('eyebrow px-4 py-2', index > 1 && 'text-right')}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {read.data.map((one) => (
              <tr key={one.id} className="border-b border-line/60 last:border-0">
                <td className="px-4 py-2">
                  <Time at={one.at} form="short" />
                </td>
                <td className="px-4 py-2">{one.reference}</td>
                {[one.balance, one.ledger_balance, one.difference, one.unexplained].map((amount, index) => (
                  <td
                    key={words(names[index + 2]!)}
                    className={cx(
                      'px-4 py-2 text-right',
                      index > 1 && (compareAmounts(amount, '0') === 0 ? 'text-good' : 'text-bad'),
                    )}
                  >
                    <Money amount={amount} asset={one.asset} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
    </Panel>
  );
}
