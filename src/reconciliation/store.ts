import { plainArray, textArray } from '../database/array.ts';
import { countUpTo, secondsSince } from '../database/backlog.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { createParameters, selectPage } from '../database/select.ts';
import type { Backlog } from '../kernel/capability.ts';
import { newId } from '../kernel/id.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { LIMITS } from '../limits.ts';
import type { Item, NewItem } from './item.ts';
import { type Candidate, chosenPairs } from './rules.ts';

export type StoredStatement = {
  readonly id: string;
  readonly account: string;
  readonly statementId: string;
  readonly asset: string;
  readonly format: 'CAMT053' | 'CSV';
  readonly digest: string;
  readonly lineCount: number;
  readonly actor: string;
  readonly createdAtNs: Instant;
};

const STATEMENT = `s.id, s.account, s.statement_id as "statementId", s.asset, s.format, s.digest, s.line_count as "lineCount", s.actor,
  s.created_at_ns as "createdAtNs"`;

/** Undefined if the account has a statement with that id already. */
export async function insertStatement(
  tx: Transaction,
  statement: Omit<StoredStatement, 'createdAtNs'>,
): Promise<StoredStatement | undefined> {
  const { id, account, statementId, asset, format, digest, lineCount, actor } = statement;
  const [row] = await tx.query<StoredStatement>(
    `insert into reconciliation_statements as s
       (id, account, statement_id, asset, format, digest, line_count, actor, created_at_ns)
     values ($1, $2, $3, $4, $5, $6, $7, $8, ${CLOCK_NS})
     on conflict (account, statement_id) do nothing returning ${STATEMENT}`,
    [id, account, statementId, asset, format, digest, lineCount, actor],
  );
  return row;
}

export async function findStatement(
  database: Queryable,
  account: string,
  statementId: string,
): Promise<StoredStatement | undefined> {
  const [row] = await database.query<StoredStatement>(
    `select ${STATEMENT} from reconciliation_statements s where s.account = $1 and s.statement_id = $2`,
    [account, statementId],
  );
  return row;
}

const ITEM = `i.id, i.side, i.account, i.asset, i.units, i.reference, i.created_at_ns as "createdAtNs", i.cause_id as "causeId",
  i.statement_id as "statementId", i.match_id as "matchId"`;

const referencesOf = (items: readonly NewItem[]) =>
  items.flatMap(({ refs, ...item }) => refs.map((ref) => ({ ...item, ref })));

export async function insertItems(tx: Transaction, items: readonly NewItem[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    `insert into reconciliation_items (id, side, account, asset, units, reference, created_at_ns, cause_id, statement_id)
     select *
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::numeric[], $6::text[], $7::bigint[], $8::uuid[],
                 $9::uuid[])`,
    columns(items, {
      id: 'uuid',
      side: 'text',
      account: 'text',
      asset: 'text',
      units: 'numeric',
      reference: 'text',
      createdAtNs: 'bigint',
      causeId: 'uuid',
      statementId: 'uuid',
    }),
  );
  await tx.query(
    `insert into reconciliation_references (account, asset, ref, units, item_id)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::uuid[])`,
    columns(referencesOf(items), {
      account: 'text',
      asset: 'text',
      ref: 'text',
      units: 'numeric',
      id: 'uuid',
    }),
  );
}

export type ReconciledAccount = {
  readonly account: string;
  readonly asset: string;
  readonly copiedNs: Instant;
};

/** From then on the account is reconciled; an earlier statement does not change that. */
export async function reconcileFrom(
  tx: Transaction,
  account: string,
  asset: string,
  from: Instant,
): Promise<void> {
  await tx.query(
    `insert into reconciled_accounts (account, asset, from_ns, copied_ns) values ($1, $2, $3::bigint, $3::bigint - 1)
     on conflict do nothing`,
    [account, asset, from],
  );
}

export async function reconciledAccounts(database: Queryable): Promise<ReconciledAccount[]> {
  return database.query<ReconciledAccount>(
    'select account, asset, copied_ns as "copiedNs" from reconciled_accounts order by account, asset',
  );
}

/** Locks the account: matching and copying of one account and asset happen one after the other, on all nodes. */
export async function lockAccount(
  tx: Transaction,
  account: string,
  asset: string,
): Promise<ReconciledAccount | undefined> {
  const [row] = await tx.query<ReconciledAccount>(
    `select account, asset, copied_ns as "copiedNs" from reconciled_accounts where account = $1 and asset = $2 for update`,
    [account, asset],
  );
  return row;
}

export async function setCopied(
  tx: Transaction,
  account: string,
  asset: string,
  until: Instant,
): Promise<void> {
  await tx.query('update reconciled_accounts set copied_ns = $3 where account = $1 and asset = $2', [
    account,
    asset,
    until,
  ]);
}

/**
 * Open items of the other side that share a reference with the new ones. Each statement reads one table by a list of keys, so no
 * plan is quadratic: the tables grow by thousands of rows at once, and their statistics are old then.
 */
async function candidatesFor(
  tx: Transaction,
  account: string,
  asset: string,
  items: readonly NewItem[],
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  const refs = [...new Set(items.flatMap((item) => item.refs))];
  const isNew = new Set(items.map(({ id }) => id));
  for (let at = 0; at < refs.length; at += LIMITS.reconciliationReferencesAtOnce) {
    const shared = await tx.query<{ id: string; ref: string }>(
      `select r.item_id as id, r.ref from reconciliation_references r
       where r.account = $1 and r.asset = $2 and r.ref = any ($3::text[]) limit ${LIMITS.reconciliationPairsMax}`,
      [account, asset, textArray(refs.slice(at, at + LIMITS.reconciliationReferencesAtOnce))],
    );
    const others = shared.filter(({ id }) => !isNew.has(id));
    const open = await tx.query<Omit<Candidate, 'ref'>>(
      `select i.id, i.side, i.units, i.created_at_ns as "createdAtNs" from reconciliation_items i
       where i.id = any ($1::uuid[]) and i.match_id is null`,
      [plainArray([...new Set(others.map(({ id }) => id))])],
    );
    const byId = new Map(open.map((one) => [one.id, one]));
    for (const { id, ref } of others) {
      const one = byId.get(id);
      if (one !== undefined) found.push({ ...one, ref });
    }
  }
  return found;
}

/** Matches new items with open ones of the other side: the same amount and a reference in common, oldest first. */
export async function matchNew(
  tx: Transaction,
  account: string,
  asset: string,
  items: readonly NewItem[],
): Promise<number> {
  const pairs = chosenPairs(items, await candidatesFor(tx, account, asset, items));
  const chosen = pairs.map((itemIds) => ({ id: newId(), itemIds }));
  if (chosen.length === 0) return 0;
  await tx.query(
    `insert into reconciliation_matches (id, account, created_at_ns) select id, $2, ${CLOCK_NS} from unnest($1::uuid[]) as new (id)`,
    [plainArray(chosen.map(({ id }) => id)), account],
  );
  await tx.query(
    `update reconciliation_items i set match_id = m.match_id
     from unnest($1::uuid[], $2::uuid[]) as m (item_id, match_id) where i.id = m.item_id`,
    columns(
      chosen.flatMap(({ id, itemIds }) => itemIds.map((itemId) => ({ itemId, matchId: id }))),
      { itemId: 'uuid', matchId: 'uuid' },
    ),
  );
  return chosen.length;
}

/** Locked, so that an item is matched once. */
export async function lockItems(tx: Transaction, ids: readonly string[]): Promise<Item[]> {
  return tx.query<Item>(
    `select ${ITEM} from reconciliation_items i where i.id = any ($1::uuid[]) order by i.id for update`,
    [plainArray(ids)],
  );
}

export type Match = {
  readonly id: string;
  readonly account: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly createdAtNs: Instant;
  readonly removedBy: string | null;
  readonly removedBecause: string | null;
  readonly removedAtNs: Instant | null;
};

const MATCH = `m.id, m.account, m.actor, m.reason, m.created_at_ns as "createdAtNs", m.removed_by as "removedBy",
  m.removed_because as "removedBecause", m.removed_at_ns as "removedAtNs"`;

export async function insertMatch(
  tx: Transaction,
  { account, actor, reason }: { readonly account: string; readonly actor: string; readonly reason: string },
  itemIds: readonly string[],
): Promise<Match> {
  const id = newId();
  const [match] = await tx.query<Match>(
    `insert into reconciliation_matches as m (id, account, actor, reason, created_at_ns)
     values ($1, $2, $3, $4, ${CLOCK_NS}) returning ${MATCH}`,
    [id, account, actor, reason],
  );
  await tx.query('update reconciliation_items set match_id = $1 where id = any ($2::uuid[])', [
    id,
    plainArray(itemIds),
  ]);
  return match!;
}

/** Its items are open again. Undefined if there is no such match; one that was removed before stays as it is. */
export async function removeMatch(
  tx: Transaction,
  id: string,
  by: { readonly actor: string; readonly reason: string },
): Promise<Match | undefined> {
  await tx.query(
    `update reconciliation_matches set removed_by = $2, removed_because = $3, removed_at_ns = ${CLOCK_NS}
     where id = $1 and removed_at_ns is null`,
    [id, by.actor, by.reason],
  );
  const [match] = await tx.query<Match>(`select ${MATCH} from reconciliation_matches m where m.id = $1`, [
    id,
  ]);
  await tx.query('update reconciliation_items set match_id = null where match_id = $1', [id]);
  return match;
}

/** Items that are on one side only, by when they were booked. */
export function listOpen(
  database: Queryable,
  filters: { readonly account: string; readonly sides: readonly string[] },
  page: Page,
): Promise<Found<Item>> {
  const parameters = createParameters();
  const own = `i.account = ${parameters.add(filters.account)} and i.match_id is null`;
  return selectPage<Item>(database, page, {
    table: 'reconciliation_items',
    alias: 'i',
    columns: ITEM,
    parameters,
    branches: [{ where: `${own} and i.side = one.value`, each: { type: 'text', values: filters.sides } }],
    filters: [],
  });
}

/** Counts each account and side by its index. */
export const openBacklog = (database: Queryable): Backlog => {
  const open =
    'from reconciliation_items i where i.account = a.account and i.side = s.side and i.match_id is null';
  return {
    gauges: {
      ferry_reconciliation_unmatched: `Items that are only on a statement or only in the ledger, counted up to ${LIMITS.backlogCountMax}`,
      ferry_reconciliation_unmatched_oldest_seconds: 'Age of the oldest of them',
    },
    labels: ['account', 'side'],
    read: () =>
      database.query(
        `select a.account, s.side, ${countUpTo(LIMITS.backlogCountMax, open)} as ferry_reconciliation_unmatched,
                ${secondsSince(`select min(i.created_at_ns) ${open}`)} as ferry_reconciliation_unmatched_oldest_seconds
         from (select distinct account from reconciled_accounts) a
         cross join unnest(array['LEDGER', 'STATEMENT']) as s (side)`,
      ),
  };
};
