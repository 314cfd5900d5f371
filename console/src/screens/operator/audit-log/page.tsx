import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { Link } from '~/app/link.tsx';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { words } from '~/lib/words.ts';
import {
  ActorName,
  type AuditEntry,
  Badge,
  Changes,
  type Column,
  DataTable,
  Drawer,
  EmptyState,
  Everything,
  ExportButton,
  Facts,
  FilterBar,
  IconButton,
  Id,
  Loading,
  PageHeader,
  ProblemNotice,
  Time,
  usePages,
} from '~/ui/index.ts';
import { Customer } from '../parts/show.tsx';
import { FILTERS } from './filters.ts';

type Filter = Input<'listOperatorAuditLog'>;
const FIELDS = [
  'id',
  'created_at',
  'action',
  'outcome',
  'resource_type',
  'resource_id',
  'customer_id',
  'actor',
  'refusal',
] as const satisfies readonly (keyof components['schemas']['AuditEntry'])[];

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'action',
    header: 'Action',
    width: 'minmax(11rem, 1.3fr)',
    narrow: true,
    cell: ({ action }) => <code className="truncate font-mono text-xs">{action}</code>,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    width: '7rem',
    cell: ({ outcome }) =>
      outcome === 'DONE' ? <Badge tone="good">Done</Badge> : <Badge tone="bad">Refused</Badge>,
  },
  {
    id: 'resource',
    header: 'Resource',
    width: 'minmax(10rem, 1fr)',
    cell: ({ resource_id: id, resource_type: type }) => <Id id={id} of={`${words(type).toLowerCase()} id`} />,
  },
  {
    id: 'actor',
    header: 'Who',
    width: 'minmax(11.5rem, 1fr)',
    narrow: true,
    cell: ({ actor }) => <ActorName actor={actor} />,
  },
  {
    id: 'from',
    header: 'From',
    width: '7rem',
    cell: ({ actor }) => <span className="tabular text-quiet">{actor?.from ?? '–'}</span>,
  },
  {
    id: 'at',
    header: 'When',
    width: '12rem',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];

export default function AuditLog() {
  const { open, ...filter } = useScreenSearch<Search>();
  const setSearch = useSetSearch();
  const pages = usePages(['operator-audit-log', filter], (cursor, signal) =>
    ferry.listOperatorAuditLog({ ...(filter as Filter), ...cursor }, { signal }),
  );
  return (
    <>
      <PageHeader title="Audit log">
        <IconButton label="Read again" icon="refresh" onClick={pages.refresh} />
        <ExportButton<AuditEntry>
          name="audit-log"
          fields={FIELDS}
          read={() => ferry.listOperatorAuditLog({ ...(filter as Filter), limit: 1_000 })}
        />
      </PageHeader>
      <FilterBar list="operator-audit-log" filters={FILTERS} />
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        onOpen={(row) => setSearch({ ...filter, open: row.id })}
        empty={
          <EmptyState icon="log" title="No entry matches">
            Every change is here, with who made it, from where, and the resource before and after it; and
            refused attempts at privileged actions. Nothing is ever removed.
          </EmptyState>
        }
      />
      <EntryDrawer id={typeof open === 'string' ? open : undefined} onClose={() => setSearch(filter)} />
    </>
  );
}

function EntryDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }) {
  const read = useQuery({
    queryKey: ['audit-entry', id],
    queryFn: async () => (await ferry.listOperatorAuditLog({ ids: [id!], limit: 1 })).items[0] ?? null,
    enabled: id !== undefined,
  });
  const entry = read.data;
  return (
    <Drawer open={id !== undefined} onClose={onClose} title={entry?.action ?? 'Entry of the audit log'}>
      {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
      {entry === undefined && read.error === null && <Loading />}
      {entry === null && <p className="text-sm">There is no entry with this id.</p>}
      {entry != null && (
        <div className="flex flex-col gap-5">
          <Facts
            facts={[
              { name: 'When', value: <Time at={entry.created_at} /> },
              { name: 'Who', value: <ActorName actor={entry.actor} /> },
              entry.actor?.id === undefined
                ? undefined
                : { name: 'Actor', value: <Id id={entry.actor.id} of="actor id" whole /> },
              entry.actor?.from === undefined ? undefined : { name: 'From', value: entry.actor.from },
              entry.actor?.request_id === undefined
                ? undefined
                : { name: 'Request', value: <Id id={entry.actor.request_id} of="request id" whole /> },
              { name: words(entry.resource_type), value: <Id id={entry.resource_id} whole /> },
              entry.customer_id === undefined
                ? undefined
                : { name: 'Customer', value: <Customer id={entry.customer_id} /> },
              entry.refusal === undefined
                ? undefined
                : {
                    name: 'Refused',
                    value: `${entry.refusal.detail} (${entry.refusal.attempts} ${entry.refusal.attempts === 1 ? 'attempt' : 'attempts'})`,
                  },
            ]}
          />
          <Link
            to={`/operator/audit-log?resource_ids=${encodeURIComponent(entry.resource_id)}`}
            className="text-sm text-accent hover:underline"
          >
            Everything about this {words(entry.resource_type).toLowerCase()}
          </Link>
          {entry.before !== undefined && entry.after !== undefined && (
            <section>
              <h3 className="eyebrow mb-2">What changed</h3>
              <Changes before={entry.before} after={entry.after} />
            </section>
          )}
          {entry.after !== undefined && (
            <section>
              <h3 className="eyebrow mb-2">{entry.before === undefined ? 'Created' : 'After it'}</h3>
              <Everything value={entry.after} />
            </section>
          )}
        </div>
      )}
    </Drawer>
  );
}
