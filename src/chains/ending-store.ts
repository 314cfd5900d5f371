import { plainArray } from '../database/array.ts';
import type { Transaction } from '../database/database.ts';
import { change } from '../events/outbox.ts';
import type { Instant } from '../kernel/instant.ts';
import type { Table } from '../ledger/command.ts';
import { endPayments, releasePayments, type TogetherOnChain } from '../rails/payment-store.ts';
import { releaseCoins, removeChange } from './coin-store.ts';
import { markSwept } from './unswept-store.ts';

/** How assignments end: in the transaction that posts their fee. */

export type AssignmentState = 'ASSIGNED' | 'SUCCEEDED' | 'FAILED' | 'SUPERSEDED';

export type AssignmentEnd = TogetherOnChain & {
  readonly id: string;
  readonly state: AssignmentState;
  /** What the customer is told; absent where the payments wait again. */
  readonly detail?: string;
  readonly feeUnits?: bigint;
  /** Of the block that has its transaction. */
  readonly height?: number;
  readonly endedAtNs?: Instant;
  /** As loaded: how many versions the database knows. */
  readonly versions?: number;
};

export async function keysOf(tx: Transaction, id: string): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(
    'select key from chain_assignment_payments where assignment_id = $1 and active order by position',
    [id],
  );
  return rows.map(({ key }) => key);
}

async function writeEnd(tx: Transaction, end: AssignmentEnd): Promise<void> {
  const { id, state, detail, feeUnits = null, height = null, endedAtNs, txHash, txIndex, txIndexes } = end;
  const keys = await keysOf(tx, id);
  const onChain = {
    ...(txHash !== undefined && { txHash }),
    ...(txIndex !== undefined && { txIndex }),
    ...(txIndexes !== undefined && { txIndexes }),
  };
  await tx.query(
    'update chain_assignments set state = $2, tx_hash = $3, fee_units = $4, height = $5, updated_at_ns = $6 where id = $1',
    [id, state, txHash ?? null, feeUnits, height, endedAtNs!],
  );
  if (height !== null) await markSwept(tx, id, height);
  await removeChange(tx, id);
  if (state === 'SUPERSEDED') {
    await tx.query('update chain_assignment_payments set active = false where assignment_id = $1', [id]);
    await releaseCoins(tx, id);
    await releasePayments(tx, keys, endedAtNs!);
  } else if (keys.length > 0) {
    const payments = state === 'SUCCEEDED' ? 'COMPLETED' : 'FAILED';
    await endPayments(tx, keys, { state: payments, detail: detail!, ...onChain }, endedAtNs!);
  }
}

/**
 * Until commit. What is to be known about them is read by a later statement: one that waits for a lock sees other tables as they were
 * before it waited, so it would miss a version that was added meanwhile.
 */
export async function lockAssignments(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.query('select from chain_assignments where id = any ($1::uuid[]) order by id for update', [
    plainArray(ids),
  ]);
}

export const assignmentEnds: Table<AssignmentEnd> = {
  name: 'chain_assignments',
  record: ({ id, state, detail, txHash, feeUnits }, { recordedAt: at }) => [
    change({
      action: 'chain_assignment.ended',
      customerId: null,
      resourceId: id,
      at,
      after: {
        id,
        state,
        ...(detail && { detail }),
        ...(txHash && { tx_hash: txHash }),
        ...(feeUnits !== undefined && { fee_units: feeUnits.toString() }),
      },
    }),
  ],
  async load(tx, ids) {
    await lockAssignments(tx, ids);
    const rows = await tx.query<{ id: string; state: AssignmentState; versions: number }>(
      `select a.id, a.state, (select count(*) from chain_versions v where v.assignment_id = a.id)::integer as versions
       from chain_assignments a where a.id = any ($1::uuid[])`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  async write(tx, rows) {
    for (const row of rows) await writeEnd(tx, row);
  },
};
