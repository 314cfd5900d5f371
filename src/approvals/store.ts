import { plainArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import { type Condition, createParameters, selectPage } from '../database/select.ts';
import { change } from '../events/outbox.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Found, Page } from '../kernel/paging.ts';
import { PERSONAL_ACTIONS } from '../kernel/privileged.ts';
import type { Table } from '../ledger/command.ts';
import { type Approval, type Level, presentApproval, type Vote } from './approval.ts';

/** Instants are strings in JSON, whose numbers would lose digits. */
type StoredVote = Omit<Vote, 'atNs'> & { readonly atNs: string };
type StoredApproval = Omit<Approval, 'votes'> & { readonly votes: readonly StoredVote[] };

const COLUMNS = `a.id, a.customer_id as "customerId", a.level, a.action, a.proposal, a.digest, a.summary, a.maker, a.quorum,
  a.approvers, a.status, a.votes, a.problem, a.result, a.ref_id as "refId", a.created_at_ns as "createdAtNs",
  a.updated_at_ns as "updatedAtNs", a.expires_at_ns as "expiresAtNs", a.claimed_at_ns as "claimedAtNs"`;

const placeOf = ({ id }: Pick<Approval, 'id'>): string => `approvals.proposal:${id}`;

/** Exactly as it was sealed: what was changed in the database is shown as it is, and its digest differs. */
function proposalOf({ vault }: Pick<Queryable, 'vault'>, row: StoredApproval): Approval['proposal'] {
  const { sealed, ...others } = row.proposal;
  if (typeof sealed !== 'string' || Object.keys(others).length > 0) return row.proposal;
  return JSON.parse(vault().open(sealed, placeOf(row))) as Approval['proposal'];
}

const fromStored = (database: Pick<Queryable, 'vault'>, row: StoredApproval): Approval => ({
  ...row,
  proposal: proposalOf(database, row),
  votes: row.votes.map((vote) => ({ ...vote, atNs: BigInt(vote.atNs) })),
});

const plainOf = (row: Approval, vault: Queryable['vault']) => ({
  id: row.id,
  customer_id: row.customerId,
  level: row.level,
  action: row.action,
  proposal: PERSONAL_ACTIONS.has(row.action)
    ? { sealed: vault().seal(JSON.stringify(row.proposal), placeOf(row)) }
    : row.proposal,
  digest: row.digest,
  summary: row.summary,
  maker: row.maker,
  quorum: row.quorum,
  approvers: row.approvers,
  status: row.status,
  votes: row.votes.map((vote) => ({ ...vote, atNs: vote.atNs.toString() })),
  problem: row.problem,
  result: row.result,
  ref_id: row.refId,
  created_at_ns: row.createdAtNs.toString(),
  updated_at_ns: row.updatedAtNs.toString(),
  expires_at_ns: row.expiresAtNs.toString(),
  claimed_at_ns: row.claimedAtNs?.toString() ?? null,
});

function actionOf({ status, votes, claimedAtNs }: Approval): string {
  if (claimedAtNs !== null) return 'approval.claimed';
  if (status !== 'PENDING') return `approval.${status.toLowerCase()}`;
  return votes.length === 0 ? 'approval.proposed' : 'approval.approved';
}

/** Loading locks the row, so that of two last votes the second one finds the request executed. */
export const approvals: Table<Approval> = {
  name: 'approvals',
  record: (row) => [
    change({
      action: actionOf(row),
      customerId: row.customerId,
      resourceId: row.id,
      at: row.updatedAtNs,
      after: presentApproval(row),
      isSealed: PERSONAL_ACTIONS.has(row.action),
    }),
  ],
  async load(tx, ids) {
    const rows = await tx.query<StoredApproval>(
      `select ${COLUMNS} from approvals a where a.id = any ($1::uuid[]) order by a.id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, fromStored(tx, row)]));
  },
  write: (tx, rows) =>
    tx.query(
      `insert into approvals
       select (jsonb_populate_record(null::approvals, row)).* from jsonb_array_elements($1::jsonb) as row
       on conflict (id) do update set status = excluded.status, votes = excluded.votes, problem = excluded.problem,
         result = excluded.result, updated_at_ns = excluded.updated_at_ns, claimed_at_ns = excluded.claimed_at_ns`,
      [JSON.stringify(rows.map((row) => plainOf(row, () => tx.vault())))],
    ),
};

/** Of all customers, for operators and for the command that a vote executes. */
export async function approvalById(database: Queryable, id: string): Promise<Approval | undefined> {
  const [row] = await database.query<StoredApproval>(`select ${COLUMNS} from approvals a where a.id = $1`, [
    id,
  ]);
  return row && fromStored(database, row);
}

/** A request of that customer; undefined for one of another customer, and for one of operators. */
export async function findApproval(
  database: Queryable,
  customerId: string,
  id: string,
): Promise<Approval | undefined> {
  const [row] = await database.query<StoredApproval>(
    `select ${COLUMNS} from approvals a where a.id = $1 and a.customer_id = $2 and a.level = 'CUSTOMER'`,
    [id, customerId],
  );
  return row && fromStored(database, row);
}

export type ApprovalFilters = {
  readonly level: Level;
  readonly customerId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly actions?: readonly string[] | undefined;
  /** Requests that expired before are shown as EXPIRED. */
  readonly now: Instant;
};

export async function listApprovals(
  database: Queryable,
  { level, customerId, ids, statuses, actions, now }: ApprovalFilters,
  page: Page,
): Promise<Found<Approval>> {
  const parameters = createParameters();
  const conditions: Condition[] = [];
  if (statuses !== undefined)
    conditions.push((here) =>
      here.anyOf(
        `case when a.status = 'PENDING' and a.expires_at_ns <= ${here.add(now)} then 'EXPIRED' else a.status end`,
        'text',
        statuses,
      ),
    );
  if (ids !== undefined) conditions.push((here) => here.anyOf('a.id', 'uuid', ids));
  if (actions !== undefined) conditions.push((here) => here.anyOf('a.action', 'text', actions));
  const own = customerId === undefined ? '' : ` and a.customer_id = ${parameters.add(customerId)}`;
  const found = await selectPage<StoredApproval>(database, page, {
    table: 'approvals',
    alias: 'a',
    columns: COLUMNS,
    parameters,
    branches: [{ where: `a.level = ${parameters.add(level)}${own}` }],
    filters: conditions,
  });
  return { ...found, rows: found.rows.map((row) => fromStored(database, row)) };
}

/** Requests of a customer that wait, as far as they are counted. */
export async function countPending(
  database: Queryable,
  customerId: string,
  countMax: number,
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from (
       select from approvals a where a.customer_id = $1 and a.status = 'PENDING'
         and a.expires_at_ns > (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 limit $2) as waiting`,
    [customerId, countMax],
  );
  return row!.count;
}
