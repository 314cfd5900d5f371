import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { useMay } from '~/app/session.ts';
import { words } from '~/lib/words.ts';
import {
  Button,
  type Column,
  DataTable,
  Drawer,
  EmptyState,
  Facts,
  Field,
  FilterBar,
  IconButton,
  Id,
  Loading,
  PageHeader,
  ProblemNotice,
  Select,
  StatusBadge,
  TextInput,
  Time,
  usePages,
} from '~/ui/index.ts';
import { ActDialog } from '../parts/acting.tsx';
import { ActorText } from '../parts/show.tsx';
import { FILTERS } from './filters.ts';

type Freeze = components['schemas']['Freeze'];

const COLUMNS: readonly Column<Freeze>[] = [
  { id: 'scope', header: 'What', width: '8rem', narrow: true, cell: ({ scope }) => words(scope) },
  {
    id: 'subject',
    header: 'Which',
    width: 'minmax(10rem, 1fr)',
    cell: ({ subject_id: id }) => (id === undefined ? 'Everything' : <Id id={id} />),
  },
  {
    id: 'status',
    header: 'Status',
    width: '8rem',
    narrow: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'reason',
    header: 'Why',
    width: 'minmax(12rem, 3fr)',
    cell: ({ reason }) => (
      <span className="truncate" title={reason}>
        {reason}
      </span>
    ),
  },
  {
    id: 'by',
    header: 'By',
    width: 'minmax(9rem, 1fr)',
    cell: ({ frozen_by: by }) => (
      <span className="truncate" title={by}>
        <ActorText text={by} />
      </span>
    ),
  },
  {
    id: 'since',
    header: 'Since',
    width: '7rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="relative" />,
  },
];

export default function Freezes() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const mayFreeze = useMay('operator:admin');
  const pages = usePages(['freezes', filter], (cursor, signal) =>
    ferry.listFreezes({ ...(filter as Input<'listFreezes'>), ...cursor }, { signal }),
  );
  const close = (): void => setSearch(filter);
  return (
    <>
      <PageHeader title="Freezes">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
        {mayFreeze && (
          <Button icon="snow" variant="primary" onClick={() => setSearch({ ...filter, open: 'new' })}>
            Freeze
          </Button>
        )}
      </PageHeader>
      <FilterBar list="freezes" filters={FILTERS} />
      <DataTable
        label="Freezes"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          <EmptyState icon="snow" title="Nothing is frozen">
            A freeze stops everything at once that moves value of a profile, an identity, a customer or the
            whole platform. What was accepted and not handed to a rail waits until it is lifted.
          </EmptyState>
        }
      />
      {mayFreeze && <NewFreeze open={open === 'new'} onClose={close} />}
      <FreezeDrawer id={typeof open === 'string' && open !== 'new' ? open : undefined} onClose={close} />
    </>
  );
}

const SCOPES = ['PROFILE', 'IDENTITY', 'CUSTOMER', 'PLATFORM'] as const;
type Scope = (typeof SCOPES)[number];

const EFFECT: Readonly<Record<Scope, string>> = {
  PROFILE: 'Nothing leaves or moves within this profile. Deposits are credited, and cannot be used.',
  IDENTITY: 'No request that names this identity is accepted, and the profiles of its accounts are frozen.',
  CUSTOMER: 'No value of any profile of this customer moves.',
  PLATFORM: 'No value of any customer moves: no transfers, no withdrawals, no settlement.',
};

function NewFreeze({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [scope, setScope] = useState<Scope>('PROFILE');
  const [subject, setSubject] = useState('');
  const isPlatform = scope === 'PLATFORM';
  return (
    <ActDialog
      open={open}
      onClose={onClose}
      title="Freeze"
      description={EFFECT[scope]}
      action={isPlatform ? 'Freeze the whole platform' : `Freeze the ${scope.toLowerCase()}`}
      danger
      isReady={isPlatform || subject.trim() !== ''}
      act={({ reason }) =>
        ferry.createFreeze({ scope, reason, ...(!isPlatform && { subject_id: subject.trim() }) })
      }
      done="Frozen. Nothing more is submitted."
    >
      <Field label="What">
        {(wired) => (
          <Select
            {...wired}
            value={scope}
            onChange={(event) => setScope(event.target.value as Scope)}
            options={SCOPES.map((value) => ({ value, label: words(value) }))}
          />
        )}
      </Field>
      {!isPlatform && (
        <Field label={`Id of the ${scope.toLowerCase()}`} hint="Search finds it by name or reference.">
          {(wired) => (
            <TextInput
              {...wired}
              className="font-mono"
              value={subject}
              onChange={(event) => setSubject(event.target.value)}
            />
          )}
        </Field>
      )}
    </ActDialog>
  );
}

function FreezeDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }) {
  const [lifts, setLifts] = useState(false);
  const mayLift = useMay('operator:admin');
  const read = useQuery({
    queryKey: ['freeze', id],
    queryFn: () => ferry.getFreeze({ id: id! }),
    enabled: id !== undefined,
  });
  const freeze = read.data;
  return (
    <>
      <Drawer
        open={id !== undefined && !lifts}
        onClose={onClose}
        title="Freeze"
        footer={
          mayLift && freeze?.status === 'IN_FORCE' ? (
            <Button variant="primary" onClick={() => setLifts(true)}>
              Lift the freeze
            </Button>
          ) : undefined
        }
      >
        {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
        {freeze === undefined && read.error === null && <Loading />}
        {freeze !== undefined && (
          <Facts
            facts={[
              { name: 'What', value: words(freeze.scope) },
              freeze.subject_id === undefined
                ? undefined
                : { name: 'Which', value: <Id id={freeze.subject_id} whole /> },
              { name: 'Status', value: <StatusBadge status={freeze.status} /> },
              { name: 'Why', value: freeze.reason },
              { name: 'By', value: <ActorText text={freeze.frozen_by} /> },
              { name: 'Since', value: <Time at={freeze.created_at} /> },
              { name: 'Freeze', value: <Id id={freeze.id} of="freeze id" whole /> },
              freeze.lifted_at === undefined
                ? undefined
                : { name: 'Lifted', value: <Time at={freeze.lifted_at} /> },
              freeze.lifted_by === undefined
                ? undefined
                : { name: 'Lifted by', value: <ActorText text={freeze.lifted_by} /> },
              freeze.lifted_because === undefined
                ? undefined
                : { name: 'Because', value: freeze.lifted_because },
            ]}
          />
        )}
      </Drawer>
      {freeze !== undefined && (
        <ActDialog
          open={lifts}
          onClose={() => setLifts(false)}
          title="Lift the freeze"
          description="What waited goes on at once, unless another freeze stops it: withdrawals are submitted, and transactions settle if their window is open."
          action="Lift the freeze"
          act={({ reason }) => ferry.liftFreeze({ id: freeze.id, reason })}
          done="The freeze is lifted."
        />
      )}
    </>
  );
}
