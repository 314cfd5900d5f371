import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { nameOf } from '~/customer/data.ts';
import { cx } from '~/lib/cx.ts';
import { counted, words } from '~/lib/words.ts';
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  FilterBar,
  Id,
  PageHeader,
  StatusBadge,
  Time,
  usePages,
} from '~/ui/index.ts';
import { NewAccount } from './new-account.tsx';
import { NewIdentity } from './new-identity.tsx';
import { ACCOUNT_FILTERS, FILTERS } from './screen.ts';

type Identity = components['schemas']['Identity'];
type Account = components['schemas']['Account'];

const CREATED = {
  id: 'created',
  header: 'Created',
  width: '8.5rem',
  align: 'right',
  cell: ({ created_at: at }: { created_at: string }) => <Time at={at} form="short" />,
} as const;

const TABS = [
  ['identities', 'Identities'],
  ['accounts', 'Accounts'],
] as const;

export default function Identities() {
  const { tab = 'identities', new: isNew } = useScreenSearch<{ tab?: string; new?: string }>();
  const setSearch = useSetSearch();
  const kept = tab === 'accounts' ? { tab } : {};
  const [mayIdentity, mayAccount] = [useMay('identity:write_identity'), useMay('identity:write_account')];
  const mayCreate = tab === 'accounts' ? mayAccount : mayIdentity;
  const close = (): void => setSearch(kept);
  return (
    <>
      <PageHeader title="Identities and accounts">
        {mayCreate && (
          <Button variant="primary" icon="plus" onClick={() => setSearch({ ...kept, new: 'yes' })}>
            {tab === 'accounts' ? 'New account' : 'New identity'}
          </Button>
        )}
      </PageHeader>
      <div className="flex gap-4 px-4 pb-3 sm:px-6">
        {TABS.map(([id, label]) => (
          <button
            key={id}
            type="button"
            aria-pressed={tab === id}
            onClick={() => setSearch(id === 'accounts' ? { tab: id } : {})}
            className={cx(
              'h-8 border-b-2 text-sm',
              tab === id ? 'border-accent font-medium' : 'border-transparent text-quiet hover:text-ink',
            )}
          >
            {label}
          </button>
        ))}
      </div>
      {tab === 'accounts' ? <Accounts /> : <IdentityList />}
      {isNew !== undefined &&
        mayCreate &&
        (tab === 'accounts' ? <NewAccount onClose={close} /> : <NewIdentity onClose={close} />)}
    </>
  );
}

function IdentityList() {
  const { customer: _, tab: __, new: ___, ...filter } = useScreenSearch<Search>();
  const pages = usePages(['identities', filter], (cursor, signal) =>
    ferry.listIdentities({ ...(filter as Input<'listIdentities'>), ...cursor, limit: 100 }, { signal }),
  );
  const columns: readonly Column<Identity>[] = [
    {
      id: 'name',
      header: 'Name',
      width: 'minmax(12rem, 2fr)',
      narrow: true,
      cell: (one) => nameOf(one) || '—',
    },
    { id: 'type', header: 'Type', width: '8rem', cell: ({ type }) => words(type) },
    {
      id: 'status',
      header: 'Status',
      width: '8rem',
      narrow: true,
      align: 'right',
      cell: ({ status }) => <StatusBadge status={status} />,
    },
    { id: 'id', header: 'Id', width: '11rem', cell: ({ id }) => <Id id={id} of="identity id" /> },
    CREATED,
  ];
  return (
    <>
      <FilterBar list="identities" filters={FILTERS} />
      <DataTable
        label="Identities"
        columns={columns}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/identities?tab=accounts&identity_ids=${row.id}`}
        empty={
          <EmptyState icon="people" title="No identity yet">
            An identity is a person or an institution that you act for. It owns accounts, and is a member of
            others.
          </EmptyState>
        }
      />
    </>
  );
}

function Accounts() {
  const { customer: _, tab: __, new: ___, ...filter } = useScreenSearch<Search>();
  const pages = usePages(['accounts', filter], (cursor, signal) =>
    ferry.listAccounts({ ...(filter as Input<'listAccounts'>), ...cursor, limit: 100 }, { signal }),
  );
  const owners = [...new Set(pages.first.map((one) => one.identity_id))].slice(0, 100);
  const names = useQuery({
    queryKey: ['identities', 'named', owners],
    queryFn: async () => (await ferry.listIdentities({ ids: owners, limit: 100 })).items,
    enabled: owners.length > 0,
  }).data;
  const columns: readonly Column<Account>[] = [
    {
      id: 'owner',
      header: 'Owner',
      width: 'minmax(12rem, 2fr)',
      narrow: true,
      cell: ({ identity_id: owner }) => {
        const found = names?.find((one) => one.id === owner);
        return found === undefined ? `…${owner.slice(-8)}` : nameOf(found);
      },
    },
    { id: 'type', header: 'Type', width: '8rem', cell: ({ type }) => words(type) },
    {
      id: 'members',
      header: 'Members',
      width: '8rem',
      narrow: true,
      align: 'right',
      cell: ({ members }) => counted(members.length, 'member'),
    },
    { id: 'id', header: 'Id', width: '11rem', cell: ({ id }) => <Id id={id} of="account id" /> },
    CREATED,
  ];
  return (
    <>
      <FilterBar list="accounts" filters={ACCOUNT_FILTERS} />
      <DataTable
        label="Accounts"
        columns={columns}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/accounts/${row.id}`}
        empty={
          <EmptyState icon="people" title="No account here">
            An account belongs to an identity and has members with roles. Transfers can name it as that of a
            user.
          </EmptyState>
        }
      />
    </>
  );
}
