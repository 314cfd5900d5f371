import type { components, Input } from '@ferry/client';
import { useQuery } from '@tanstack/react-query';
import { ferry } from '~/app/api.ts';
import { useScreenSearch, useSetSearch } from '~/app/navigation.ts';
import type { Search } from '~/app/screen.ts';
import { words } from '~/lib/words.ts';
import {
  ActorName,
  Badge,
  type Column,
  DataTable,
  Drawer,
  EmptyState,
  Facts,
  FilterBar,
  Id,
  Loading,
  PageHeader,
  ProblemNotice,
  Time,
  usePages,
} from '~/ui/index.ts';
import { FILTERS } from './screen.ts';

type Entry = components['schemas']['AuditEntry'];

const COLUMNS: readonly Column<Entry>[] = [
  {
    id: 'action',
    header: 'Action',
    width: 'minmax(14rem, 2fr)',
    narrow: true,
    cell: ({ action }) => <span className="font-mono text-xs">{action}</span>,
  },
  {
    id: 'outcome',
    header: 'Outcome',
    width: '7rem',
    cell: ({ outcome }) => <Badge tone={outcome === 'DONE' ? 'good' : 'bad'}>{words(outcome)}</Badge>,
  },
  {
    id: 'actor',
    header: 'Who',
    width: 'minmax(9rem, 1fr)',
    cell: ({ actor }) => (
      <span className="truncate">
        <ActorName actor={actor} />
      </span>
    ),
  },
  {
    id: 'resource',
    header: 'Resource',
    width: '11rem',
    cell: ({ resource_id: id, resource_type: type }) => <Id id={id} of={`${words(type).toLowerCase()} id`} />,
  },
  {
    id: 'at',
    header: 'When',
    width: '8.5rem',
    narrow: true,
    align: 'right',
    cell: ({ created_at: at }) => <Time at={at} form="short" />,
  },
];

export default function AuditLog() {
  const { customer: _, entry, ...filter } = useScreenSearch<Search & { entry?: string }>();
  const setSearch = useSetSearch();
  const pages = usePages(['audit-log', 'list', filter], (cursor, signal) =>
    ferry.listAuditLog({ ...(filter as Input<'listAuditLog'>), ...cursor, limit: 100 }, { signal }),
  );
  return (
    <>
      <PageHeader title="Audit log" />
      <FilterBar list="audit-log" filters={FILTERS} />
      <DataTable
        label="Audit log"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => `${row.id}${row.resource_id}`}
        onOpen={(row) => setSearch({ ...filter, entry: row.id })}
        empty={
          <EmptyState icon="log" title="No entry matches">
            Everything that changes something is recorded here: who did it, when, and the resource before and
            after.
          </EmptyState>
        }
      />
      {entry !== undefined && <EntryDrawer id={entry} onClose={() => setSearch(filter)} />}
    </>
  );
}

/** Fields that differ, first; then what stayed. */
function changesOf({ before = {}, after = {} }: Entry): [string, string, string][] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const text = (value: unknown): string =>
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return names
    .map((name): [string, string, string] => [name, text(before[name]), text(after[name])])
    .filter(([, old, now]) => old !== now);
}

function EntryDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const read = useQuery({
    queryKey: ['audit-log', 'entry', id],
    queryFn: async () => (await ferry.listAuditLog({ ids: [id], limit: 1 })).items[0] ?? null,
  });
  const entry = read.data;
  return (
    <Drawer
      open
      onClose={onClose}
      title={entry?.action ?? 'Entry of the audit log'}
      description={entry?.refusal?.detail}
    >
      {read.error !== null && <ProblemNotice error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <Loading />}
      {entry === null && <p className="text-sm">There is no entry with this id.</p>}
      {entry != null && <EntryDetail entry={entry} />}
    </Drawer>
  );
}

function EntryDetail({ entry }: { readonly entry: Entry }) {
  const changes = changesOf(entry);
  return (
    <div className="flex flex-col gap-5">
      <Facts
        facts={[
          { name: 'Who', value: <ActorName actor={entry.actor} /> },
          entry.actor?.from === undefined ? undefined : { name: 'From', value: entry.actor.from },
          entry.actor?.request_id === undefined
            ? undefined
            : { name: 'Request', value: <Id id={entry.actor.request_id} of="request id" whole /> },
          { name: 'When', value: <Time at={entry.created_at} /> },
          { name: words(entry.resource_type), value: <Id id={entry.resource_id} of="id" whole /> },
          { name: 'Entry', value: <Id id={entry.id} of="entry id" whole /> },
        ]}
      />
      {changes.length > 0 && (
        <section>
          <h3 className="mb-2 text-sm font-semibold">What changed</h3>
          <dl className="flex flex-col gap-2 text-xs">
            {changes.map(([name, old, now]) => (
              <div key={name} className="rounded-lg border border-line p-2">
                <dt className="text-quiet">{name}</dt>
                <dd className="font-mono break-all">
                  {old !== '' && <del className="block text-bad">{old}</del>}
                  {now !== '' && <ins className="block text-good no-underline">{now}</ins>}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </div>
  );
}
