import type { Database, Transaction } from '../database/database.ts';
import { newId } from '../kernel/id.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { findProgress } from '../rails/payment-store.ts';
import { CancellationRefused, type Cancelled, type CancelOrder } from '../rails/treasury.ts';
import * as store from './cancel-store.ts';
import { type Signer, SignerRefusal } from './signer.ts';

/**
 * Ends what the signer does not sign. The signer decides first, in turn with its signatures: it promises never to sign the
 * assignment, or says that it has. Only then the database changes: the payment fails, the coins are free, and a nonce is used up
 * by a cancellation. Whatever dies in between, the same order again goes on.
 */

type Parts = {
  readonly database: Database;
  readonly signer: Signer;
  readonly network: CryptoNetwork;
  readonly feeAsset: string;
  /** The task whose keeper has the assignment. */
  taskOf(candidate: store.Candidate): string;
};

/** What customers read. */
const DETAIL = 'The operator has cancelled the payment. Nothing was sent.';

const signedAlready = (id: string): CancellationRefused =>
  new CancellationRefused(
    'signed',
    `Assignment ${id} was signed: the chain decides about it. Nothing was changed.`,
  );

async function find({ database, network }: Parts, order: CancelOrder): Promise<store.Candidate | undefined> {
  const which = 'transferId' in order ? { key: order.transferId } : { id: order.assignmentId };
  const found = await store.findCandidate(database, network, which, 'read');
  if (found !== undefined && found.state === 'ASSIGNED') {
    if (found.versions > 0) throw signedAlready(found.id);
    return found;
  }
  if (found !== undefined)
    throw new CancellationRefused('ended', `Assignment ${found.id} is ${found.state}. Nothing was changed.`);
  if (!('transferId' in order))
    throw new CancellationRefused('unknown', `${network} has no assignment ${order.assignmentId}.`);
  const state = (await findProgress(database, network, order.transferId))?.state;
  if (state === undefined)
    throw new CancellationRefused('unknown', `${network} has no payment ${order.transferId}.`);
  if (state !== 'ACCEPTED')
    throw new CancellationRefused(
      'ended',
      `The payment ${order.transferId} is ${state}. Nothing was changed.`,
    );
  return undefined;
}

async function drop(
  tx: Transaction,
  { network, feeAsset, taskOf }: Parts,
  found: store.Candidate,
  failed: readonly string[],
): Promise<Cancelled> {
  const task = taskOf(found);
  await store.endRefusal(tx, network, task);
  const locked = await store.findCandidate(tx, network, { id: found.id }, 'lock');
  if (locked?.state !== 'ASSIGNED' || locked.versions > 0) throw signedAlready(found.id);
  const now = await store.timeOf(tx);
  await store.dropAssignment(tx, locked, failed, DETAIL, now);
  if (locked.slot === null || locked.purpose === 'SWEEP')
    return { assignmentId: locked.id, cancellationId: null };
  const id = newId();
  await store.insertCancellation(tx, { id, network, lane: locked.lane, feeAsset }, locked, now);
  return { assignmentId: locked.id, cancellationId: id };
}

export async function cancel(parts: Parts, order: CancelOrder, signal: AbortSignal): Promise<Cancelled> {
  const { database, signer, network } = parts;
  const found = await find(parts, order);
  const keys = 'transferId' in order ? [order.transferId] : [];
  try {
    await signer.discard!({ requestId: newId(), network, assignmentId: found?.id ?? null, keys }, signal);
  } catch (error) {
    if (error instanceof SignerRefusal)
      throw new CancellationRefused('signed', `${error.message} Nothing was changed.`);
    throw error;
  }
  return database.transaction(async (tx) => {
    await store.lockLeases(tx, network);
    const [key] = keys;
    // A keeper may have given it an assignment meanwhile. The signer signs nothing for it any more.
    const assigned =
      found ?? (key === undefined ? undefined : await store.findCandidate(tx, network, { key }, 'lock'));
    if (assigned !== undefined) return drop(tx, parts, assigned, keys);
    await store.failPayments(tx, keys, DETAIL, await store.timeOf(tx));
    return { assignmentId: null, cancellationId: null };
  });
}
