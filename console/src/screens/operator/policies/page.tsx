import type { components } from '@ferry/client';
import { ferry } from '~/app/api.ts';
import { useMay } from '~/app/session.ts';
import {
  Badge,
  type Column,
  DataTable,
  EmptyState,
  Id,
  LinkButton,
  PageHeader,
  Time,
  usePages,
} from '~/ui/index.ts';
import { ruleInWords, scopeInWords } from '../policy/words.ts';

type Policy = components['schemas']['Policy'];

const COLUMNS: readonly Column<Policy>[] = [
  { id: 'name', header: 'Name', width: 'minmax(9rem, 1fr)', narrow: true, cell: ({ name }) => name },
  {
    id: 'enabled',
    header: 'In force',
    width: '7rem',
    narrow: true,
    cell: ({ enabled }) => (enabled ? <Badge tone="good">In force</Badge> : <Badge>Off</Badge>),
  },
  {
    id: 'owner',
    header: 'Of',
    width: 'minmax(8rem, 0.8fr)',
    cell: ({ customer_id: id }) => (id === undefined ? 'the operator' : <Id id={id} of="customer id" />),
  },
  {
    id: 'rules',
    header: 'Rules',
    width: 'minmax(14rem, 3fr)',
    cell: ({ rules }) => {
      const text = rules.map(ruleInWords).join(' ');
      return (
        <span className="truncate" title={text}>
          {text}
        </span>
      );
    },
  },
  {
    id: 'scope',
    header: 'About',
    width: 'minmax(8rem, 1fr)',
    cell: ({ applies_to: scope }) => <span className="truncate text-quiet">{scopeInWords(scope)}</span>,
  },
  {
    id: 'changed',
    header: 'Changed',
    width: '9rem',
    align: 'right',
    cell: ({ updated_at: at, version }) => (
      <span>
        v{version} · <Time at={at} form="relative" />
      </span>
    ),
  },
];

export default function Policies() {
  const mayChange = useMay('operator:admin');
  const pages = usePages(['policies'], (cursor, signal) => ferry.listPolicies({ ...cursor }, { signal }));
  return (
    <>
      <PageHeader title="Policies">
        {mayChange && (
          <LinkButton to="/operator/policies/new" icon="plus" variant="primary">
            New policy
          </LinkButton>
        )}
      </PageHeader>
      <DataTable
        label="Policies"
        columns={COLUMNS}
        pages={pages}
        rowId={(row) => row.id}
        rowLink={(row) => `/operator/policies/${row.id}`}
        empty={
          <EmptyState icon="policy" title="No policies yet">
            A policy limits, holds or refuses withdrawals: by amount, by what was paid within a day, by
            destination, by hour, or until somebody approves them. Try it on the last 30 days before it is in
            force.
          </EmptyState>
        }
      />
    </>
  );
}
