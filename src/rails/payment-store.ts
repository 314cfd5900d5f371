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
  const plain = openJson<Omit<Payment, 'amountUnits'> & { amountUnits: string }>(
    vault,
    sealed as never,
    place(key),
  );
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
