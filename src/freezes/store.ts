import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import { plainArray, textArray } from '../database/array.ts';
import { countUpTo } from '../database/backlog.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import { change } from '../events/outbox.ts';
import type { Backlog } from '../kernel/capability.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import { type Freeze, presentFreeze, type Subject } from './freeze.ts';

/**
 * Freezes. Other stores read the views `freezes_in_force`, `frozen_profiles`, `frozen_identities` and `frozen_transfers` in the
 * statements in which they read a profile, an identity or a payment anyway.
 */

const COLUMNS = `f.id, f.scope, f.subject_id as "subjectId", f.reason, f.frozen_by as "frozenBy",
  f.created_at_ns as "createdAtNs", f.lifted_by as "liftedBy", f.lifted_because as "liftedBecause",
  f.lifted_at_ns as "liftedAtNs"`;

/** Locks the freezes in force until commit: none of them is lifted before what waits because of it is recorded. */
async function holdFreezes(tx: Transaction): Promise<boolean> {
  const rows = await tx.query('select id from freezes where lifted_at_ns is null order by id for share');
  return rows.length > 0;
}

/** Only a lock: read by commands that record that something waits for a freeze to be lifted. */
export const heldFreezes: Table<true> = {
  name: 'freezes (held)',
  async load(tx) {
    await holdFreezes(tx);
    return new Map();
  },
};

/** The transfers among these that belong to a frozen party. The freezes are locked until commit. */
export const frozenTransfers: Table<true> = {
  name: 'frozen transfers',
  async load(tx, ids) {
    if (!(await holdFreezes(tx))) return new Map();
    const rows = await tx.query<{ id: string }>(
      'select id from frozen_transfers where id = any ($1::uuid[])',
      [plainArray(ids)],
    );
    return new Map(rows.map(({ id }) => [id, true]));
  },
};

/** A party that can be frozen, with the freeze that is in force. */
export type Freezable = {
  readonly inForce: Freeze | null;
  /** Freezes that the commands of the batch have made or lifted, in order. */
  readonly changed: readonly Freeze[];
};

async function freezablesAmong(tx: Transaction, keys: readonly string[]): Promise<Map<string, Freezable>> {
  // One after another, because the row of a first freeze cannot be locked before it exists.
  await tx.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.freezes})`);
  const rows = await tx.query<Freeze & { key: string }>(
    `select wanted.key, ${COLUMNS}
     from (select key, split_part(key, '/', 1) as scope, nullif(split_part(key, '/', 2), '')::uuid as subject_id
           from unnest($1::text[]) as keys (key)) as wanted
     left join freezes f on f.scope = wanted.scope and f.subject_id is not distinct from wanted.subject_id
       and f.lifted_at_ns is null
     where wanted.scope = 'PLATFORM'
        or exists (select from freezable p where p.scope = wanted.scope and p.id = wanted.subject_id)`,
    [textArray(keys)],
  );
  return new Map(
    rows.map(({ key, ...freeze }) => [key, { inForce: freeze.id === null ? null : freeze, changed: [] }]),
  );
}

/** By `subjectKey`. A lifted freeze is written with the wake-up of what waits for it. */
export const freezables: Table<Freezable> = {
  name: 'freezes (changed)',
  load: freezablesAmong,
  async write(tx, rows) {
    const changed = new Map(rows.flatMap((row) => row.changed).map((freeze) => [freeze.id, freeze]));
    // Lifted ones first: one freeze of a subject is in force at a time.
    const sorted = [...changed.values()].sort(
      (a, b) => Number(b.liftedAtNs !== null) - Number(a.liftedAtNs !== null),
    );
    for (const freeze of sorted) {
      await tx.query(
        `insert into freezes (id, scope, subject_id, reason, frozen_by, created_at_ns, lifted_by, lifted_because, lifted_at_ns)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (id) do update set lifted_by = excluded.lifted_by, lifted_because = excluded.lifted_because,
           lifted_at_ns = excluded.lifted_at_ns`,
        [
          freeze.id,
          freeze.scope,
          freeze.subjectId,
          freeze.reason,
          freeze.frozenBy,
          freeze.createdAtNs,
          freeze.liftedBy,
          freeze.liftedBecause,
          freeze.liftedAtNs,
        ],
      );
      if (freeze.liftedAtNs !== null)
        await tx.query('insert into freeze_wakes (freeze_id) values ($1)', [freeze.id]);
    }
  },
  /** For operators only: a customer is not told why it is frozen. */
  record({ changed }) {
    const freeze = changed.at(-1)!;
    return [
      change({
        action: freeze.liftedAtNs === null ? 'freeze.created' : 'freeze.lifted',
        customerId: null,
        resourceId: freeze.id,
        at: freeze.liftedAtNs ?? freeze.createdAtNs,
        after: presentFreeze(freeze),
      }),
    ];
  },
};

export async function findInForce(
  database: Queryable,
  { scope, subjectId }: Subject,
): Promise<Freeze | undefined> {
  const [row] = await database.query<Freeze>(
    `select ${COLUMNS} from freezes f
     where f.scope = $1 and f.subject_id is not distinct from $2 and f.lifted_at_ns is null`,
    [scope, subjectId],
  );
  return row;
}

/** All that are in force, oldest first. */
export function inForce(database: Queryable): Promise<Freeze[]> {
  return database.query<Freeze>(
    `select ${COLUMNS} from freezes f where f.lifted_at_ns is null order by f.created_at_ns, f.id`,
  );
}

export async function findFreeze(database: Queryable, id: string): Promise<Freeze | undefined> {
  const [row] = await database.query<Freeze>(`select ${COLUMNS} from freezes f where f.id = $1`, [id]);
  return row;
}

/** Freezes that were lifted, and for which something may still wait. */
export async function wakes(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>('select freeze_id as id from freeze_wakes limit 100');
  return rows.map(({ id }) => id);
}

export async function endWakes(database: Queryable, ids: readonly string[]): Promise<void> {
  await database.query('delete from freeze_wakes where freeze_id = any ($1::uuid[])', [plainArray(ids)]);
}

export function listFreezes(
  database: Queryable,
  { statuses, scopes }: { readonly statuses?: readonly string[]; readonly scopes?: readonly string[] },
  page: Page,
): Promise<Found<Freeze>> {
  const parameters = createParameters();
  const status = `case when f.lifted_at_ns is null then 'IN_FORCE' else 'LIFTED' end`;
  const conditions = [
    'true',
    ...(statuses ? [parameters.anyOf(status, 'text', statuses)] : []),
    ...(scopes ? [parameters.anyOf('f.scope', 'text', scopes)] : []),
  ];
  const branches = [{ where: conditions.join(' and ') }];
  return selectPage(database, page, {
    table: 'freezes',
    alias: 'f',
    columns: COLUMNS,
    parameters,
    branches,
    filters: [],
  });
}

export function freezeBacklog(database: Queryable): Backlog {
  return {
    gauges: { ferry_freezes_in_force: 'Freezes that are in force' },
    labels: ['scope'],
    read: () =>
      database.query(
        `select scope, ${countUpTo(LIMITS.backlogCountMax, 'from freezes f where f.scope = s.scope and f.lifted_at_ns is null')}
           as ferry_freezes_in_force
         from unnest(array['PLATFORM', 'CUSTOMER', 'IDENTITY', 'PROFILE']) as s (scope)`,
      ),
  };
}
