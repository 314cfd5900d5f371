import type { Input } from '@ferry/client';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo, useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import type { Profile } from '~/customer/data.ts';
import { FormField, filled, required, useForm } from '~/customer/form.tsx';
import { words } from '~/lib/words.ts';
import {
  Button,
  type Column,
  ConfirmDialog,
  DataTable,
  EmptyState,
  FilterBar,
  Id,
  PageHeader,
  TextInput,
  toast,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './screen.ts';

const COLUMNS: readonly Column<Profile>[] = [
  {
    id: 'name',
    header: 'Nickname',
    width: 'minmax(12rem, 1.5fr)',
    narrow: true,
    cell: ({ nickname }) => nickname,
  },
  {
    id: 'type',
    header: 'Type',
    width: '7rem',
    narrow: true,
    align: 'right',
    cell: ({ type }) => words(type),
  },
  {
    id: 'incoming',
    header: 'Accepts from',
    width: '9rem',
    cell: ({ incoming }) => (incoming?.accepts_from === 'LISTED' ? 'Listed profiles' : 'Anyone'),
  },
  {
    id: 'about',
    header: 'Description',
    width: 'minmax(10rem, 2fr)',
    cell: ({ description }) => <span className="truncate text-quiet">{description}</span>,
  },
  { id: 'id', header: 'Id', width: '11rem', cell: ({ id }) => <Id id={id} of="profile id" /> },
];

export default function Profiles() {
  const { customer: _, new: isNew, ...filter } = useScreenSearch<Search & { new?: string }>();
  const setSearch = useSetSearch();
  const mayWrite = useMay('funding:write_profile');
  const pages = usePages(['profiles', 'list', filter], (cursor, signal) =>
    ferry.listProfiles({ ...(filter as Input<'listProfiles'>), ...cursor, limit: 100 }, { signal }),
  );
  return (
    <>
      <PageHeader title="Profiles">
        {mayWrite && (
          <Button variant="primary" icon="plus" onClick={() => setSearch({ ...filter, new: 'yes' })}>
            New profile
          </Button>
        )}
      </PageHeader>
      <FilterBar list="profiles" filters={FILTERS} />
      <DataTable
        label="Profiles"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/profiles/${row.id}`}
        empty={
          <EmptyState icon="vault" title="No profile here">
            A profile holds balances: one per purpose, user or desk. Value moves between profiles at once.
          </EmptyState>
        }
      />
      {isNew !== undefined && mayWrite && <NewProfile onClose={() => setSearch(filter)} />}
    </>
  );
}

function NewProfile({ onClose }: { readonly onClose: () => void }) {
  const go = useGo();
  const form = useForm({ nickname: '', description: '' }, (values) => ({
    nickname:
      required(values.nickname, 'a nickname') ??
      (values.nickname.length > 140 ? 'At most 140 characters.' : undefined),
  }));
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="New profile"
      action="Create the profile"
      isReady={form.isValid}
      onConfirm={async () => {
        const { nickname, description } = form.values;
        const made = await ferry
          .createProfile(filled({ nickname: nickname.trim(), description: description.trim() }))
          .catch((error: unknown) => {
            form.refuse(error);
            throw error;
          });
        await queryClient.invalidateQueries();
        toast(`Created the profile ${made.nickname}.`);
        // After the dialog has closed, which changes the address as well.
        setTimeout(() => go(`/profiles/${made.id}`));
      }}
    >
      <FormField form={form} name="nickname" label="Nickname" hint="Unique among your profiles">
        {(wired) => <TextInput {...wired} />}
      </FormField>
      <FormField form={form} name="description" label="Description" hint="Optional">
        {(wired) => <TextInput {...wired} />}
      </FormField>
    </ConfirmDialog>
  );
}
