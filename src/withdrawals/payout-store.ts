import { columns } from '../database/columns.ts';
import type { Queryable } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { change } from '../events/outbox.ts';
import { formatInstant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import type { Contradiction } from './outcome.ts';
import type { Work } from './states.ts';
import type { RentPaid } from './transitions.ts';

/** The same contradiction is recorded once, however often it is reported. */
export const contradictions: Table<Contradiction> = {
  name: 'rail_contradictions',
  record: ({ transferId, rail, reported, recorded, detail, atNs }) => [
    change({
      action: 'rail_contradiction.reported',
      customerId: null,
      resourceId: transferId,
      at: atNs,
      after: { transfer_id: transferId, rail, reported, recorded, detail, created_at: formatInstant(atNs) },
    }),
  ],
  write: (tx, rows) =>
    tx.query(
      `insert into rail_contradictions (transfer_id, rail, reported, recorded, detail, at_ns)
       select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
       on conflict do nothing`,
      columns(rows, {
        transferId: 'uuid',
        rail: 'text',
        reported: 'text',
        recorded: 'text',
        detail: 'text',
        atNs: 'bigint',
      }),
    ),
};

export type ListedContradiction = Contradiction & { readonly id: string; readonly createdAtNs: bigint };

/** One page of the contradictions of all customers, for operators. */
export function listContradictions(database: Queryable, page: Page): Promise<Found<ListedContradiction>> {
  const table = `(select c.*, c.transfer_id as id, c.at_ns as created_at_ns from rail_contradictions c)`;
  const shown = `c.id, c.created_at_ns as "createdAtNs", c.transfer_id as "transferId", c.rail, c.reported, c.recorded,
    c.detail, c.at_ns as "atNs"`;
  const parameters = createParameters();
  const branches = [{ where: 'true' }];
  return selectPage(database, page, { table, alias: 'c', columns: shown, parameters, branches, filters: [] });
}

export type OpenWithdrawal = Pick<
  Work,
  'transferId' | 'rail' | 'state' | 'attempts' | 'failures' | 'intentAtNs'
> & {
  readonly id: string;
  readonly createdAtNs: bigint;
};

/**
 * One page of the withdrawals of all customers that have not ended, for operators. Their ids begin with the time, so they are
 * ordered by id alone: the time of a row is the same for all.
 */
export function listOpen(
  database: Queryable,
  filters: {
    readonly ids?: readonly string[];
    readonly rails?: readonly string[];
    readonly states?: readonly string[];
  },
  page: Page,
): Promise<Found<OpenWithdrawal>> {
  const { ids, rails, states } = filters;
  const table = `(select w.*, w.transfer_id as id, 0::bigint as created_at_ns from withdrawal_work w)`;
  const shown = `w.id, w.created_at_ns as "createdAtNs", w.transfer_id as "transferId", w.rail, w.state, w.attempts,
    w.failures, w.intent_at_ns as "intentAtNs"`;
  const parameters = createParameters();
  const conditions = [
    'true',
    ...(ids ? [parameters.anyOf('w.id', 'uuid', ids)] : []),
    ...(rails ? [parameters.anyOf('w.rail', 'text', rails)] : []),
    ...(states ? [parameters.anyOf('w.state', 'text', states)] : []),
  ];
  const branches = [{ where: conditions.join(' and ') }];
  return selectPage(database, page, { table, alias: 'w', columns: shown, parameters, branches, filters: [] });
}

function keyParts(key: string): { day: number; destination: string } {
  const slash = key.indexOf('/');
  return { day: Number(key.slice(0, slash)), destination: key.slice(slash + 1) };
}

/**
 * Rent paid for a destination on a day. Reading creates the row and locks it, so that two nodes cannot both use the last
 * of the limit.
 */
export const rents: Table<RentPaid> = {
  name: 'rent_paid',
  async load(tx, keys) {
    const parts = [...keys].sort().map(keyParts);
    const rows = await tx.query<{ day: number; destination: string; lamports: bigint }>(
      `insert into rent_paid (day, destination, lamports)
       select day, destination, 0 from unnest($1::integer[], $2::text[]) as wanted (day, destination)
       on conflict (destination, day) do update set lamports = rent_paid.lamports
       returning day, destination, lamports`,
      columns(parts, { day: 'integer', destination: 'text' }),
    );
    return new Map(
      rows.map(({ day, destination, lamports }) => {
        const key = `${day}/${destination}`;
        return [key, { key, lamports }];
      }),
    );
  },
  write: (tx, rows) =>
    tx.query(
      `update rent_paid r set lamports = changed.lamports
       from unnest($1::integer[], $2::text[], $3::numeric[]) as changed (day, destination, lamports)
       where r.day = changed.day and r.destination = changed.destination`,
      columns(
        rows.map(({ key, lamports }) => ({ ...keyParts(key), lamports })),
        { day: 'integer', destination: 'text', lamports: 'numeric' },
      ),
    ),
};
