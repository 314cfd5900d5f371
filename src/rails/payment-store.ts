import { plainArray } from '../database/array.ts';
import { columns } from '../database/columns.ts';
import type { Database, Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { openJson, sealJson } from '../sealing/columns.ts';
import type { OnChain, Payment, PaymentState, RailName } from './rail.ts';

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
    `select state, detail, tx_hash as "txHash", tx_index as "txIndex", confirmations, required
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
  const { state, detail, confirmations: have, required: need, ...onChain } = progress;
  if (state === 'COMPLETED') return { kind: 'completed', detail: detail!, ...onChain };
  if (state === 'FAILED') return { kind: 'failed', reason: detail! };
  return {
    kind: 'pending',
    nextAskMs,
    ...(have !== null && need !== null && { confirmations: { have, need } }),
    ...onChain,
  };
}

/** `submit` and `ask` of a rail that works off its queue. `accepted` wakes the worker of the rail on this node. */
export function createQueue(parts: {
  readonly database: Database;
  readonly name: RailName;
  readonly now: () => Instant;
  readonly nextAskMs: number;
  readonly accepted: () => void;
}) {
  const { database, name, now, nextAskMs, accepted } = parts;
  return {
    async submit(payment: Payment) {
      if (await acceptPayment(database, name, payment, now())) accepted();
      return { kind: 'accepted', nextAskMs } as const;
    },
    ask: async (key: string): Promise<PaymentState> =>
      stateOf(await findProgress(database, name, key), nextAskMs),
  };
}

/** Payments that the rail has accepted and nothing has taken yet, oldest first. */
export async function waitingPayments(
  database: Queryable,
  rail: RailName,
  max: number,
): Promise<readonly Payment[]> {
  const rows = await database.query<{ key: string; payment: string }>(
    `select key, payment from rail_payments
     where rail = $1 and state = 'ACCEPTED' and not taken order by accepted_at_ns, key limit $2`,
    [rail, max],
  );
  return rows.map(({ key, payment }) => openPayment(database.vault(), key, payment));
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
