import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import type { OnChain, Payment, PaymentState, RailName, SubmitResult } from './rail.ts';

/** Payments of rails that have a queue of their own. To accept a payment is one insert; to ask about it is one read. */

export type RailPayment = {
  readonly payment: Payment;
  readonly acceptedAtNs: Instant;
};

type State = 'ACCEPTED' | 'COMPLETED' | 'FAILED';

/** How the rail describes a payment. */
export type PaymentProgress = OnChain & {
  readonly state: State;
  readonly detail: string | null;
  /** Why it failed, for operators, if that is more than `detail`. */
  readonly privateDetail: string | null;
  readonly confirmations: number | null;
  readonly required: number | null;
};

const place = (key: string): string => `rail_payments.payment:${key}`;

function sealPayment(vault: Vault, payment: Payment): string {
  const plain = { ...payment, amountUnits: payment.amountUnits.toString() };
  return sealJson(vault, plain, place(payment.key))!;
}

export function openPayment(vault: Vault, key: string, sealed: string): Payment {
  const plain = openJson<Omit<Payment, 'amountUnits'> & { amountUnits: string }>(vault, sealed, place(key));
  return { ...plain, amountUnits: BigInt(plain.amountUnits) };
}

/** True if the payment is new. The same key is the same payment, however often it arrives. */
export async function acceptPayment(
  database: Queryable,
  rail: RailName,
  payment: Payment,
  now: Instant,
): Promise<boolean> {
  const { key, asset, amountUnits } = payment;
  const rows = await database.query(
    `insert into rail_payments (key, rail, asset, units, payment, accepted_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5::jsonb, $6, $6)
     on conflict (key) do nothing returning key`,
    [key, rail, asset, amountUnits, sealPayment(database.vault(), payment), now],
  );
  return rows.length > 0;
}

export async function findProgress(
  database: Queryable,
  rail: RailName,
  key: string,
): Promise<PaymentProgress | undefined> {
  const [row] = await database.query<
    Omit<PaymentProgress, keyof OnChain> & Record<'txHash' | 'txIndex', string | null>
  >(
    `select state, detail, private_detail as "privateDetail", tx_hash as "txHash", tx_index as "txIndex", confirmations, required
     from rail_payments where key = $1 and rail = $2`,
    [key, rail],
  );
  if (row === undefined) return undefined;
  const { txHash, txIndex, ...others } = row;
  return { ...others, ...(txHash !== null && { txHash }), ...(txIndex !== null && { txIndex }) };
}

/** The state that `ask` returns. */
export function stateOf(progress: PaymentProgress | undefined, nextAskMs: number): PaymentState {
  if (progress === undefined) return { kind: 'not-found' };
  const { state, detail, privateDetail, confirmations: have, required: need, ...onChain } = progress;
  if (state === 'COMPLETED') return { kind: 'completed', detail: detail!, ...onChain };
  if (state === 'FAILED')
    return {
      kind: 'failed',
      reason: detail!,
      ...(privateDetail !== null && { privateReason: privateDetail }),
    };
  return {
    kind: 'pending',
    nextAskMs,
    ...(have !== null && need !== null && { confirmations: { have, need } }),
    ...onChain,
  };
}

/**
 * Remembers that the payment is never made. Undefined if it was accepted before; otherwise why it is not made, which may be what
 * an earlier request was told.
 */
async function refusePayment(
  database: Queryable,
  rail: RailName,
  payment: Payment,
  reason: string,
  now: Instant,
): Promise<string | undefined> {
  const { key, asset, amountUnits } = payment;
  await database.query(
    `insert into rail_payments (key, rail, asset, units, payment, state, detail, accepted_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5::jsonb, 'FAILED', $6, $7, $7)
     on conflict (key) do nothing`,
    [key, rail, asset, amountUnits, sealPayment(database.vault(), payment), reason, now],
  );
  const known = await findProgress(database, rail, key);
  return known?.state === 'FAILED' ? known.detail! : undefined;
}

/** `submit` and `ask` of a rail that works off its queue. `accepted` wakes the worker of the rail on this node. */
export function createQueue(parts: {
  readonly database: Database;
  readonly name: RailName;
  readonly now: () => Instant;
  readonly nextAskMs: number;
  readonly accepted: () => void;
  /** Why the payment can never be made; undefined if it can. */
  readonly fault?: (
    payment: Payment,
    signal: AbortSignal,
  ) => string | undefined | Promise<string | undefined>;
}) {
  const { database, name, now, nextAskMs, accepted, fault } = parts;
  return {
    async submit(payment: Payment, signal: AbortSignal): Promise<SubmitResult> {
      const reason = await fault?.(payment, signal);
      const refused =
        reason === undefined ? undefined : await refusePayment(database, name, payment, reason, now());
      if (refused !== undefined) return { kind: 'failed', meaning: 'final', reason: refused };
      if (await acceptPayment(database, name, payment, now())) accepted();
      return { kind: 'accepted', nextAskMs };
    },
    ask: async (key: string): Promise<PaymentState> =>
      stateOf(await findProgress(database, name, key), nextAskMs),
  };
}

/** Looked up only if there is a freeze at all. */
const NOT_FROZEN = `(not exists (select from freezes_in_force)
  or (select f.id from frozen_transfers f where f.id = rail_payments.key) is null)`;

/** Payments that the rail has accepted and nothing has taken yet, oldest first, without those of frozen parties. */
export async function waitingPayments(
  database: Queryable,
  rail: RailName,
  max: number,
): Promise<readonly Payment[]> {
  const rows = await database.query<{ key: string; payment: string }>(
    `select key, payment from rail_payments
     where rail = $1 and state = 'ACCEPTED' and not taken and ${NOT_FROZEN} order by accepted_at_ns, key limit $2`,
    [rail, max],
  );
  return rows.map(({ key, payment }) => openPayment(database.vault(), key, payment));
}

/** Whether one of these payments belongs to a frozen party. */
export async function anyFrozen(tx: Queryable, keys: readonly string[]): Promise<boolean> {
  const rows = await tx.query(
    `select id from frozen_transfers where exists (select from freezes_in_force) and id = any ($1::uuid[]) limit 1`,
    [plainArray(keys)],
  );
  return rows.length > 0;
}

export type WaitingPayment = { readonly key: string; readonly asset: string; readonly units: bigint };

/** Payments that the rail has accepted, and that nothing has taken. */
export async function waitingAmong(
  tx: Queryable,
  rail: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, WaitingPayment>> {
  const rows = await tx.query<WaitingPayment>(
    `select key, asset, units from rail_payments
     where rail = $1 and key = any ($2::uuid[]) and state = 'ACCEPTED' and not taken`,
    [rail, plainArray(keys)],
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** How many of these payments the rail has ever accepted. */
export async function acceptedAmong(tx: Queryable, rail: string, keys: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'select count(*)::integer as count from rail_payments where rail = $1 and key = any ($2::uuid[])',
    [rail, plainArray(keys)],
  );
  return row!.count;
}

/** Something else has taken one of the payments: nothing is committed. */
export class PaymentsTaken extends Error {}

/** In the transaction that commits what is done with them. Fails if one of them was taken before. */
export async function takePayments(tx: Queryable, keys: readonly string[], now: Instant): Promise<void> {
  const taken = await tx.query(
    `update rail_payments set taken = true, updated_at_ns = $2
     where key = any ($1::uuid[]) and state = 'ACCEPTED' and not taken returning key`,
    [plainArray(keys), now],
  );
  if (taken.length < keys.length)
    throw new PaymentsTaken(`of ${keys.length} payments, only ${taken.length} were waiting`);
}

/** What happened to them can never be executed: they wait again. */
export async function releasePayments(tx: Queryable, keys: readonly string[], now: Instant): Promise<void> {
  await tx.query(
    `update rail_payments set taken = false, confirmations = null, required = null, tx_hash = null, tx_index = null,
       updated_at_ns = $2
     where key = any ($1::uuid[]) and state = 'ACCEPTED'`,
    [plainArray(keys), now],
  );
}

/** Where several payments of one transaction are on their chain. */
export type TogetherOnChain = OnChain & {
  /** Of each payment, in their order, where they differ. */
  readonly txIndexes?: readonly string[];
};

/** The keys, and where each payment is within the transaction. */
const placesOf = (keys: readonly string[], { txIndex, txIndexes }: TogetherOnChain): string[] =>
  columns(
    keys.map((key, index) => ({ key, txIndex: txIndexes?.[index] ?? txIndex ?? null })),
    { key: 'uuid', txIndex: 'text' },
  );

/** Where they are on their chain. Payments that have ended stay as they are. */
export async function notePayments(
  tx: Queryable,
  keys: readonly string[],
  progress: { readonly have: number | null; readonly need: number | null } & TogetherOnChain,
  now: Instant,
): Promise<void> {
  const { have, need, txHash = null } = progress;
  await tx.query(
    `update rail_payments p set confirmations = $3, required = $4, tx_hash = $5, tx_index = o.tx_index, updated_at_ns = $6
     from unnest($1::uuid[], $2::text[]) as o (key, tx_index)
     where p.key = o.key and p.state = 'ACCEPTED'
       and (p.confirmations, p.required, p.tx_hash, p.tx_index)
           is distinct from ($3::integer, $4::integer, $5::text, o.tx_index)`,
    [...placesOf(keys, progress), have, need, txHash, now],
  );
}

export async function endPayments(
  tx: Queryable,
  keys: readonly string[],
  end: { readonly state: 'COMPLETED' | 'FAILED'; readonly detail: string } & TogetherOnChain,
  now: Instant,
): Promise<void> {
  const { state, detail, txHash = null } = end;
  const ended = await tx.query(
    `update rail_payments p set state = $3, detail = $4, tx_hash = $5, tx_index = o.tx_index, updated_at_ns = $6
     from unnest($1::uuid[], $2::text[]) as o (key, tx_index)
     where p.key = o.key and p.state = 'ACCEPTED' returning p.key`,
    [...placesOf(keys, end), state, detail, txHash, now],
  );
  if (ended.length < keys.length)
    throw new Error(`of ${keys.length} payments, only ${ended.length} had not ended`);
}

/** How a payment ended, or would have: if it had ended before, it stays as it was. */
export type PaymentEnd = {
  readonly key: string;
  readonly state: 'COMPLETED' | 'FAILED';
  readonly detail: string;
  /** For operators only. */
  readonly privateDetail?: string;
};

/** Ends those that have not ended. Each key at most once. */
export async function endOpenPayments(
  tx: Queryable,
  ends: readonly PaymentEnd[],
  now: Instant,
): Promise<void> {
  await tx.query(
    `update rail_payments p set state = e.state, detail = e.detail, private_detail = e.private_detail, updated_at_ns = $5
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as e (key, state, detail, private_detail)
     where p.key = e.key and p.state = 'ACCEPTED'`,
    [...columns(ends, { key: 'uuid', state: 'text', detail: 'text', privateDetail: 'text' }), now],
  );
}

/** Whether payments wait, and since when the first of them does. */
export async function waitingSince(
  database: Queryable,
  rail: RailName,
  countMax: number,
): Promise<{ readonly count: number; readonly sinceNs: Instant | null }> {
  const [row] = await database.query<{ count: bigint; sinceNs: Instant | null }>(
    `select count(*) as count, min(accepted_at_ns) as "sinceNs" from (
       select accepted_at_ns from rail_payments
       where rail = $1 and state = 'ACCEPTED' and not taken and ${NOT_FROZEN} order by accepted_at_ns, key limit $2) as waiting`,
    [rail, countMax],
  );
  return { count: Number(row!.count), sinceNs: row!.sinceNs };
}

export type KnownPayment = {
  readonly key: string;
  readonly units: bigint;
  readonly state: State;
};

/** Those of the keys that are payments of the rail. */
export async function knownPayments(
  tx: Queryable,
  rail: RailName,
  keys: readonly string[],
): Promise<ReadonlyMap<string, KnownPayment>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<KnownPayment>(
    'select key, units, state from rail_payments where rail = $1 and key = any ($2::uuid[])',
    [rail, plainArray(keys)],
  );
  return new Map(rows.map((row) => [row.key, row]));
}
