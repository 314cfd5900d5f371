import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { anyFrozen } from '../rails/payment-store.ts';
import { nextSlot } from './assignment-store.ts';
import { dropAssignment, findCandidate, insertCancellation } from './cancel-store.ts';
import { type Assignment, ChainWait } from './driver.ts';
import { fenced, type Task } from './lease-store.ts';
import { type Signer, SignerRefusal } from './signer.ts';
import { beginSigning, endSigning, freeSlot } from './signing-store.ts';

/**
 * Freezes, as a keeper sees them. The check is committed before the signer is called, together with a lease on signing: a freeze
 * waits for the lease, and then for the broadcast. What is frozen before that loses its assignment: the other payments of the
 * transaction wait for the next one, and the next transaction of the lane gets the nonce.
 */

export class SignerUnreachable extends Error {}

type Parts = {
  readonly database: Database;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly task: Task & { readonly network: CryptoNetwork };
  readonly feeAsset: string;
};

/** Of the payments that customers wait for: what Ferry moves between its own wallets has none. */
export const keysOf = ({ payments }: Assignment): string[] => payments.map(({ key }) => key).filter(Boolean);

const frozen = (): ChainWait =>
  new ChainWait('frozen', 'a party to a payment that is signed and was never sent is frozen');

/** A keeper died after the signer had promised never to sign the assignment. Payments that were discarded are another matter. */
export const isDiscarded = ({ id }: Assignment, error: unknown): boolean =>
  error instanceof SignerRefusal && error.code === 'discarded' && error.message.startsWith(id);

export function createUnassigner({ database, signer, clock, task, feeAsset }: Parts) {
  const { network } = task;

  /** Only after the promise of the signer. */
  function drop({ id, lane }: Assignment): Promise<void> {
    return fenced(database, task, async (tx) => {
      const found = await findCandidate(tx, network, { id }, 'lock');
      // An operator may have cancelled it meanwhile.
      if (found?.state !== 'ASSIGNED') return;
      if (found.versions > 0)
        throw new Error(`assignment ${id} was signed although it was discarded: it is kept`);
      const now = clock.now();
      await dropAssignment(tx, found, [], '', now);
      if (found.slot === null || found.purpose === 'SWEEP') return;
      const next = await nextSlot(tx, network, lane);
      const isLast = next === undefined || found.slot === (next - 1n).toString();
      if (isLast || !/^\d+$/.test(found.slot)) await freeSlot(tx, id);
      else await insertCancellation(tx, { id: newId(), network, lane, feeAsset }, found, now);
    });
  }

  return {
    drop,

    /** True if the signer may be asked now. False if a party is frozen: then the assignment is gone. */
    async begin(assignment: Assignment, versions: number, signal: AbortSignal): Promise<boolean> {
      const keys = keysOf(assignment);
      if (keys.length === 0) return true;
      const mayBegin = await fenced(database, task, async (tx) => {
        if (await anyFrozen(tx, keys)) return false;
        await beginSigning(tx, task, LIMITS.chainSigningMs);
        return true;
      });
      if (mayBegin) return true;
      if (versions > 0) throw frozen();
      try {
        await signer.discard!({ requestId: newId(), network, assignmentId: assignment.id, keys: [] }, signal);
      } catch (error) {
        signal.throwIfAborted();
        // A keeper died between the signature and its commit. Nothing was sent, and nothing is until the freeze is lifted.
        if (error instanceof SignerRefusal) throw frozen();
        throw new SignerUnreachable((error as Error).message);
      }
      await drop(assignment);
      return false;
    },

    /** In the transaction that commits the first signature. If it took too long, a freeze has not waited for it. */
    async end(tx: Parameters<typeof endSigning>[0], assignment: Assignment): Promise<void> {
      const keys = keysOf(assignment);
      if (keys.length > 0 && !(await endSigning(tx, task)) && (await anyFrozen(tx, keys))) throw frozen();
    },

    /** Nothing was signed: a freeze need not wait. */
    async abandon(): Promise<void> {
      await endSigning(database, task);
    },
  };
}
