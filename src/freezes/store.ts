import { plainArray } from '../database/array.ts';
import { countUpTo } from '../database/backlog.ts';
import { CLOCK_NS } from '../database/clock.ts';
import type { Database, Queryable, Transaction } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import type { Backlog } from '../kernel/capability.ts';
import { newId } from '../kernel/id.ts';
import type { Found, Page } from '../kernel/paging.ts';
import type { Table } from '../ledger/command.ts';
import { LIMITS } from '../limits.ts';
import type { Freeze, FreezeScope } from './freeze.ts';

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

export type NewFreeze = {
  readonly scope: FreezeScope;
  readonly subjectId: string | null;
  readonly reason: string;
  readonly frozenBy: string;
};

/** Undefined if there is no such subject. A subject that is frozen already keeps its freeze. */
export async function insertFreeze(database: Database, freeze: NewFreeze): Promise<Freeze | undefined> {
  const { scope, subjectId, reason, frozenBy } = freeze;
  return database.transaction(async (tx) => {
    if (subjectId !== null) {
      const found = await tx.query('select from freezable where scope = $1 and id = $2', [scope, subjectId]);
      if (found.length === 0) return undefined;
    }
    await tx.query(
      `insert into freezes (id, scope, subject_id, reason, frozen_by, created_at_ns)
       values ($1, $2, $3, $4, $5, ${CLOCK_NS})
       on conflict (scope, subject_id) where lifted_at_ns is null do nothing`,
      [newId(), scope, subjectId, reason, frozenBy],
    );
    return findInForce(tx, scope, subjectId);
  });
}

export async function findInForce(
  database: Queryable,
  scope: FreezeScope,
  subjectId: string | null,
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

/** In one transaction with the wake-up of what waits for it. Undefined if it is not in force. */
export async function liftFreeze(
  database: Database,
  id: string,
  by: string,
  because: string,
): Promise<Freeze | undefined> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<Freeze>(
      `update freezes f set lifted_by = $2, lifted_because = $3, lifted_at_ns = greatest(${CLOCK_NS}, f.created_at_ns)
       where f.id = $1 and f.lifted_at_ns is null returning ${COLUMNS}`,
      [id, by, because],
    );
    if (row !== undefined) await tx.query('insert into freeze_wakes (freeze_id) values ($1)', [id]);
    return row;
  });
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
