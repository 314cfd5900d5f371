import { plainArray, textArray } from '../database/array.ts';
import { CLOCK_NS } from '../database/clock.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { OlderRows } from '../kernel/capability.ts';
import { INSTANT_MAX, type Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Table } from '../ledger/command.ts';
import type { Payment } from '../rails/rail.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import { olderJson } from '../sealing/older-rows-store.ts';
import type { ClaimedWork, NewWork, Work, WorkWrite } from './states.ts';

/** Units are strings in JSON, whose numbers would lose digits. */
type PlainPayment = Omit<Payment, 'amountUnits'> & { readonly amountUnits: string };
/** The payment has the account number and the name of the recipient, so it is sealed. */
type StoredWork = Omit<Work, 'payment'> & { readonly payment: PlainPayment | string | null };

const paymentPlace = (transferId: string): string => `withdrawal_work.payment:${transferId}`;

function fromStored(vault: Vault, { payment, ...work }: StoredWork): Work {
  const plain = openJson<PlainPayment | null>(vault, payment, paymentPlace(work.transferId));
  return { ...work, payment: plain && { ...plain, amountUnits: BigInt(plain.amountUnits) } };
}

function sealPayment(vault: Vault, { transferId, payment }: Pick<Work, 'transferId' | 'payment'>) {
  const plain = payment && { ...payment, amountUnits: payment.amountUnits.toString() };
  return sealJson(vault, plain, paymentPlace(transferId));
}

export const olderPayments = (database: Database): OlderRows =>
  olderJson(database, {
    table: 'withdrawal_work',
    key: { name: 'transfer_id', type: 'uuid' },
    columns: ['payment'],
  });

const COLUMNS = `w.transfer_id as "transferId", w.rail, w.state, w.due_at_ns as "dueAtNs", w.version, w.attempts,
  w.failures, w.intent_at_ns as "intentAtNs", w.payment, w.fiat_account_id as "fiatAccountId", w.frozen, w.holds`;

/** Work of new withdrawals, written in the transaction that creates them. */
export const newWork: Table<NewWork> = {
  name: 'withdrawal_work',
  write: (tx, rows) =>
    tx.query(
      `insert into withdrawal_work (transfer_id, rail, state, due_at_ns, fiat_account_id, holds, profile_id, customer_id,
                                    identity_id, account_id)
       select transfer_id, rail, state, due_at_ns, fiat_account_id, holds::jsonb, profile_id, customer_id, identity_id, account_id
       from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::uuid[], $8::uuid[], $9::uuid[],
                   $10::uuid[])
            as work (transfer_id, rail, state, due_at_ns, fiat_account_id, holds, profile_id, customer_id, identity_id, account_id)`,
      columns(rows, {
        transferId: 'uuid',
        rail: 'text',
        state: 'text',
        dueAtNs: 'bigint',
        fiatAccountId: 'uuid',
        holds: 'json',
        profileId: 'uuid',
        customerId: 'uuid',
        identityId: 'uuid',
        accountId: 'uuid',
      }),
    ),
};

/** Work in progress. Loading locks the rows until commit. */
export const works: Table<WorkWrite> = {
  name: 'withdrawal_work',
  async load(tx, ids) {
    const rows = await tx.query<StoredWork>(
      `select ${COLUMNS} from withdrawal_work w where w.transfer_id = any ($1::uuid[]) order by w.transfer_id for update`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.transferId, fromStored(tx.vault(), row)]));
  },
  async write(tx, rows) {
    const done = rows.filter((row) => row.done === true);
    const going = rows.filter((row) => row.done !== true);
    await Promise.all([
      done.length > 0 &&
        tx.query('delete from withdrawal_work where transfer_id = any ($1::uuid[])', [
          plainArray(done.map((row) => row.transferId)),
        ]),
      going.length > 0 &&
        tx.query(
          `update withdrawal_work w
           set state = changed.state, due_at_ns = changed.due_at_ns, version = w.version + 1,
               attempts = changed.attempts, failures = changed.failures, intent_at_ns = changed.intent_at_ns,
               payment = changed.payment::jsonb, frozen = changed.frozen, holds = changed.holds::jsonb
           from unnest($1::uuid[], $2::text[], $3::bigint[], $4::integer[], $5::integer[], $6::bigint[], $7::text[],
                       $8::boolean[], $9::text[])
                as changed (transfer_id, state, due_at_ns, attempts, failures, intent_at_ns, payment, frozen, holds)
           where w.transfer_id = changed.transfer_id`,
          columns(going, {
            transferId: 'uuid',
            state: 'text',
            dueAtNs: 'bigint',
            attempts: 'integer',
            failures: 'integer',
            intentAtNs: 'bigint',
            payment: (row) => sealPayment(tx.vault(), row),
            frozen: 'boolean',
            holds: 'json',
          }),
        ),
    ]);
  },
};

/** How many rows of one rail may be claimed, independently of all other rails. */
export type ClaimLimit = { readonly rail: string; readonly free: number };

/** The database's clock, so that all nodes agree on what is due. Only tests have an offset. */
const NOW_NS = `${CLOCK_NS} + $1::bigint`;

/**
 * Claims due rows, the longest overdue first, rail by rail; rows that another node is claiming are skipped. Each rail
 * costs one index lookup and the rows that it returns, however many are waiting. The ids are passed as an array, so that
 * the planner cannot choose a scan of the whole table for the update.
 */
export const CLAIM_DUE = `with clock as materialized (select ${NOW_NS} as now_ns),
  due as materialized (
    select picked.transfer_id
    from clock cross join unnest($2::text[], $3::integer[]) as claim_limit (rail, free)
    cross join lateral (
      select d.transfer_id from withdrawal_work d
      where d.rail = claim_limit.rail and d.due_at_ns <= clock.now_ns
      order by d.due_at_ns limit claim_limit.free for update skip locked) as picked)
  update withdrawal_work w set due_at_ns = clock.now_ns + $4::bigint, version = w.version + 1
  from clock where w.transfer_id = any (array (select transfer_id from due))
  returning ${COLUMNS}, clock.now_ns as "nowNs"`;

/** Claims what is due, for the duration of the lease. */
export async function claimDue(
  database: Queryable,
  limits: readonly ClaimLimit[],
  offsetNs: bigint,
  leaseNs: bigint,
): Promise<ClaimedWork[]> {
  const rows = await database.query<StoredWork & { nowNs: Instant }>(CLAIM_DUE, [
    offsetNs,
    ...columns(limits, { rail: 'text', free: 'integer' }),
    leaseNs,
  ]);
  return rows.map(({ nowNs, ...row }) => ({ nowNs, work: fromStored(database.vault(), row) }));
}

/**
 * Repairs due times that are further in the future than any worker sets them: the database's clock was ahead when they
 * were set, and was corrected since, or another server has taken over. Without the repair, such a row would wait until
 * the clock has caught up. It becomes due at once if the rail has not been called or the last call is in the future,
 * otherwise after the longest interval between two status queries. An additional query has no effect; a worker that still
 * has the row loses its lease.
 */
export async function pullBack(
  database: Queryable,
  rails: readonly string[],
  offsetNs: bigint,
  { soonNs, askNs, rowsMax }: { soonNs: bigint; askNs: bigint; rowsMax: number },
): Promise<number> {
  const rows = await database.query(
    `with clock as materialized (select ${NOW_NS} as now_ns),
       ahead as materialized (
         select w.transfer_id, w.state in ('QUEUED', 'SUBMITTING') or w.intent_at_ns > clock.now_ns as is_due
         from clock join withdrawal_work w
           on w.rail = any ($2::text[]) and w.due_at_ns > clock.now_ns + $3::bigint and w.due_at_ns < ${INSTANT_MAX}
         where (w.state in ('QUEUED', 'SUBMITTING') or w.intent_at_ns > clock.now_ns
             or w.due_at_ns > clock.now_ns + $4::bigint)
           -- A policy may hold it for longer.
           and not (w.state = 'QUEUED' and w.holds is not null)
         limit $5 for update of w skip locked)
     update withdrawal_work w
     set due_at_ns = clock.now_ns + case when ahead.is_due then 0 else $4::bigint end, version = w.version + 1
     from clock, ahead where w.transfer_id = ahead.transfer_id
     returning w.transfer_id`,
    [offsetNs, textArray(rails), soonNs, askNs, rowsMax],
  );
  return rows.length;
}

/** Fiat accounts whose waiting withdrawals have to become due: written in the transaction of the review or deletion. */
export const withdrawalWakes: Table<{ readonly fiatAccountId: string }> = {
  name: 'withdrawal_wakes',
  // DO UPDATE, not DO NOTHING: it waits for a worker that is deleting the row, and then inserts it again.
  write: (tx, rows) =>
    tx.query(
      `insert into withdrawal_wakes (fiat_account_id) select * from unnest($1::uuid[]) as changed (id) order by id
       on conflict (fiat_account_id) do update set fiat_account_id = excluded.fiat_account_id`,
      [plainArray(rows.map((row) => row.fiatAccountId))],
    ),
};

/**
 * Makes the withdrawals of reviewed accounts due, a bounded number at a time, so that an account with a hundred
 * thousand of them does not delay others. Locked rows are left for the next call; the wake stays until none is left.
 * Returns how many rows became due.
 */
export async function wakeWithdrawals(
  database: Database,
  offsetNs: bigint,
  rowsMax: number,
): Promise<number> {
  // There is hardly ever a wake, and a transaction would cost three round trips.
  if ((await database.query('select 1 from withdrawal_wakes limit 1')).length === 0) return 0;
  return database.transaction(async (tx) => {
    const wakes = await tx.query<{ id: string }>(
      'select fiat_account_id as id from withdrawal_wakes limit 10 for update skip locked',
    );
    if (wakes.length === 0) return 0;
    const ids = plainArray(wakes.map((wake) => wake.id));
    const waiting = `w.fiat_account_id = any ($2::uuid[]) and w.state = 'QUEUED' and w.due_at_ns > ${NOW_NS}`;
    const woken = await tx.query(
      `update withdrawal_work set due_at_ns = ${NOW_NS}, version = version + 1
       where transfer_id = any (array (
         select w.transfer_id from withdrawal_work w where ${waiting} limit $3 for update skip locked))
       returning transfer_id`,
      [offsetNs, ids, rowsMax],
    );
    await tx.query(
      `delete from withdrawal_wakes k where k.fiat_account_id = any ($2::uuid[])
         and not exists (select from withdrawal_work w where ${waiting} and w.fiat_account_id = k.fiat_account_id)`,
      [offsetNs, ids],
    );
    return woken.length;
  });
}

/** The rail of a withdrawal that has not ended. */
export async function railOf(database: Queryable, transferId: string): Promise<string | undefined> {
  const [row] = await database.query<{ rail: string }>(
    'select rail from withdrawal_work where transfer_id = $1',
    [transferId],
  );
  return row?.rail;
}
