import type { Input } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { destinationOf, type FiatAccount, ownerOf } from '~/customer/data.ts';
import { words } from '~/lib/words.ts';
import {
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  LinkButton,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { AccountDrawer } from './drawer.tsx';
import { FILTERS } from './filters.ts';

const COLUMNS: readonly Column<FiatAccount>[] = [
  {
    id: 'owner',
    header: 'Owner',
    width: 'minmax(12rem, 1.5fr)',
    narrow: true,
    cell: (one) => ownerOf(one) || '—',
  },
  { id: 'kind', header: 'Rail', width: 'minmax(8rem, 1fr)', cell: (one) => words(destinationOf(one).kind) },
  {
    id: 'number',
    header: 'Number',
    width: '9rem',
    narrow: true,
    cell: (one) => <span className="font-mono text-xs">{destinationOf(one).number}</span>,
  },
  { id: 'status', header: 'Status', width: '8rem', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'created',
    header: 'Registered',
    width: '8.5rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function FiatAccounts() {
  const { customer: _, open, ...filter } = useScreenSearch<Search & { open?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('transfer:write_fiat_account');
  const pages = usePages(['fiat-accounts', filter], (cursor, signal) =>
    ferry.listFiatAccounts({ ...(filter as Input<'listFiatAccounts'>), ...cursor, limit: 100 }, { signal }),
  );
  return (
    <>
      <PageHeader title="Fiat accounts">
        {mayWrite && (
          <LinkButton to="/new/fiat-account" variant="primary" icon="plus">
            Register an account
          </LinkButton>
        )}
      </PageHeader>
      <FilterBar list="fiat-accounts" filters={FILTERS} />
      <DataTable
        label="Fiat accounts"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          Object.keys(filter).length === 0 ? (
            <EmptyState icon="bank" title="No fiat account yet">
              Register the bank account or wallet that you withdraw to. It is reviewed before the first
              payment.
            </EmptyState>
          ) : (
            <EmptyState icon="filter" title="No fiat account matches these filters" />
          )
        }
      />
      {open !== undefined && <AccountDrawer id={open} onClose={() => setSearch(filter)} />}
    </>
  );
}
