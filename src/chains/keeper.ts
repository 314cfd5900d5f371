import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/id.ts';
import { inParallel } from '../kernel/parallel.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { notePayments, PaymentsTaken, waitingPayments } from '../rails/payment-store.ts';
import type { Payment } from '../rails/rail.ts';
import * as store from './assignment-store.ts';
import {
  type Assignment,
  ChainWait,
  type Draft,
  type Driver,
  type LaneState,
  type Observation,
  type Outgoing,
  reached,
  type Version,
} from './driver.ts';
import { type Ending, endCommand } from './ending.ts';
import { endStop, fenced, findStop, LeaseLost, recordStop, type StopCode, type Task } from './lease-store.ts';
import { type Signer, SignerRefusal, type SignRequest } from './signer.ts';
import { createUnassigner, isDiscarded, keysOf, SignerUnreachable } from './unassign.ts';

/**
 * Keeps one lane: gives waiting payments an assignment, has it signed, sends it, and records what the chain says. Only the holder
 * of the lease does so. Every step starts from what is committed, so a keeper can be killed anywhere, and the next one goes on.
 */

/** Points at which a test can stop a keeper for good: before and after every commit and every call that has an effect. */
export const CHECKPOINTS = [
  'before the assignment is committed',
  'after the assignment is committed, before it is signed',
  'after it is signed, before the signature is committed',
  'after the signature is committed, before the broadcast',
  'after the broadcast',
  'before the outcome is committed',
  'after the outcome is committed',
] as const;
export type Checkpoint = (typeof CHECKPOINTS)[number];

export type KeeperParts = {
  readonly driver: Driver;
  readonly signer: Signer;
  readonly database: Database;
  readonly writePath: WritePath;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly task: Task & { readonly network: CryptoNetwork };
  readonly facts: {
    readonly networkName: string;
    readonly feeAsset: string;
    readonly confirmations: number;
    readonly blockMs: number;
  };
  readonly checkpoint?: ((name: Checkpoint, id: string) => Promise<void>) | undefined;
  /** Moves between our own wallets, when no payment can be made. */
  readonly moves?: { next(lane: LaneState, signal: AbortSignal): Promise<Draft | undefined> } | undefined;
  /** Instead of a lane: sweeps that deposit addresses send themselves. */
  readonly sweeps?: Sweeps | undefined;
  /** How often moves and sweeps are looked for. */
  readonly movesMs?: number | undefined;
};

type Sweeps = {
  open(): Promise<readonly store.Open[]>;
  next(signal: AbortSignal): Promise<Planned | undefined>;
};

/** A draft, and the address that sends it. */
export type Planned = { readonly lane: string; readonly draft: Draft };

/** Stops that do not end by themselves: going on could pay twice, or would be refused again. */
const NEEDS_OPERATOR: readonly StopCode[] = ['foreign-slot', 'signer-refused', 'deep-reorg'];

/** Of a version that was recovered from the log of the signer, only the hash is known: it is looked for, and not sent. */
const isWhole = ({ bytes }: Version): boolean => bytes !== '';

/** An address is all that chains need to know about a destination. */
export function outgoingOf({ key, asset, amountUnits: units, destination }: Payment): Outgoing {
  if (!('address' in destination)) throw new Error(`payment ${key} has no address`);
  return { key, asset, units, address: destination.address };
}

/** Whether another assignment spends the change of one of the versions: a new version would make that one impossible. */
function isBuiltUpon(versions: readonly Version[], open: readonly store.Open[]): boolean {
  const hashes = new Set(versions.map(({ hash }) => hash));
  return open.some(({ assignment }) => assignment.coins.some(({ txHash }) => hashes.has(txHash)));
}

/** When each open assignment is looked at again. Pacing only: a keeper that has just started looks at all of them. */
function createPacing(blockMs: number, movesMs: number) {
  const dueAt = new Map<string, number>();
  const sentAt = new Map<string, number>();
  let [upkeepAt, movesAt] = [0, 0];
  return {
    isMoveDue: (): boolean => movesAt <= performance.now(),
    noMoves: (): void => {
      movesAt = performance.now() + movesMs;
    },
    /** At most once in a while: it pays nobody. */
    isUpkeepDue(): boolean {
      if (upkeepAt > performance.now()) return false;
      upkeepAt = performance.now() + LIMITS.chainUpkeepMs;
      return true;
    },
    isDue: (id: string): boolean => (dueAt.get(id) ?? 0) <= performance.now(),
    seen(id: string, observation: Observation): void {
      const left = observation.kind === 'mined' ? observation.need - observation.have : 0;
      // Most of what is left has to pass before anything can change.
      const delayMs = Math.min((left * blockMs) / 2, LIMITS.chainLookMsMax);
      dueAt.set(id, performance.now() + delayMs);
    },
    isToBeSent: (id: string): boolean =>
      (sentAt.get(id) ?? Number.NEGATIVE_INFINITY) + LIMITS.chainRebroadcastMs <= performance.now(),
    sent: (id: string) => void sentAt.set(id, performance.now()),
    forget(ids: ReadonlySet<string>): void {
      for (const map of [dueAt, sentAt]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    },
  };
}

export type Keeper = {
  /** One round over everything that is open and waiting. Needs the lease. True if something was done. */
  turn(signal: AbortSignal): Promise<boolean>;
};

export function createKeeper(parts: KeeperParts): Keeper {
  const { driver, signer, database, writePath, clock, log, task, facts, checkpoint } = parts;
  const { network, task: lane } = task;
  const { moves, sweeps, movesMs = LIMITS.chainMovesMs } = parts;
  const pacing = createPacing(facts.blockMs, movesMs);
  const unassigner = createUnassigner({ database, signer, clock, task, feeAsset: facts.feeAsset });
  /** The last refusal because of the signer's limits on amounts, and until when the signer is not asked again. */
  let overVelocity: { readonly refusal: SignerRefusal; readonly untilMs: number } | undefined;
  /** The signer must not sign, and asking again does not help: an operator ends that. */
  let isRefused = false;
  /** What the signer has refused last. */
  let refusedId = '';

  const stop = (code: StopCode, reason: string): Promise<void> =>
    fenced(database, task, async (tx) => {
      // An operator may have cancelled it meanwhile.
      if (code === 'signer-refused' && !(await store.isOpen(tx, refusedId))) return;
      await recordStop(tx, task, { code, reason, needsOperator: NEEDS_OPERATOR.includes(code) });
    });

  async function send(assignment: Assignment, version: Version, signal: AbortSignal): Promise<void> {
    pacing.sent(assignment.id);
    try {
      await driver.broadcast(version, signal);
      await store.noteBroadcast(database, assignment.id, version.number, clock.now());
    } catch (error) {
      signal.throwIfAborted();
      // Decides nothing: the chain is asked, and the same bytes are sent again.
      log.warn(
        { err: error, network, lane, assignmentId: assignment.id },
        'no node has accepted a transaction',
      );
    }
    await checkpoint?.('after the broadcast', assignment.id);
  }

  async function signaturesFor(request: SignRequest, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await signer.sign(request, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SignerRefusal)) throw new SignerUnreachable((error as Error).message);
      refusedId = request.assignmentId;
      if (error.code === 'over-velocity')
        overVelocity = { refusal: error, untilMs: performance.now() + LIMITS.chainVelocityRetryMs };
      throw error;
    }
  }

  /** Undefined if the signer had promised not to sign the assignment, which is gone then. */
  async function firstSignatures(assignment: Assignment, request: SignRequest, signal: AbortSignal) {
    try {
      return await signaturesFor(request, signal);
    } catch (error) {
      await unassigner.abandon();
      if (!isDiscarded(assignment, error)) throw error;
      await unassigner.drop(assignment);
      return undefined;
    }
  }

  /** Has the next version signed and committed, and only then sends it. True if something was done. */
  async function sign(
    assignment: Assignment,
    versions: readonly Version[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const number = versions.length + 1;
    if (isRefused) return false;
    const unsigned = await reached(driver.build(assignment, versions.filter(isWhole), signal), signal);
    if (unsigned === undefined) return false;
    if (overVelocity !== undefined && overVelocity.untilMs > performance.now()) throw overVelocity.refusal;
    const request = {
      requestId: newId(),
      network,
      assignmentId: assignment.id,
      version: number,
      unsigned: unsigned.bytes,
    };
    await checkpoint?.('after the assignment is committed, before it is signed', assignment.id);
    // What was sent before a freeze may be replaced with a higher fee.
    const isFirst = !versions.some(isWhole);
    if (isFirst && !(await unassigner.begin(assignment, versions.length, signal))) return true;
    const signatures = await (isFirst
      ? firstSignatures(assignment, request, signal)
      : signaturesFor(request, signal));
    if (signatures === undefined) return true;
    const signed = await driver.complete(unsigned, signatures, assignment.lane);
    await checkpoint?.('after it is signed, before the signature is committed', assignment.id);
    const version = { ...signed, feeUnitsMax: unsigned.feeUnitsMax, feeRate: unsigned.feeRate };
    await fenced(database, task, async (tx) => {
      if (isFirst) await unassigner.end(tx, assignment);
      await store.insertVersion(tx, assignment.id, number, version, clock.now());
    });
    await checkpoint?.('after the signature is committed, before the broadcast', assignment.id);
    await send(assignment, { ...version, number, signedAtMs: clock.nowMs() }, signal);
    return true;
  }

  async function end(assignment: Assignment, ending: Ending, versions: number): Promise<void> {
    // Before its payments wait again: a keeper that dies in between must not make them over this lane.
    // What one of our own transactions has used is no place of somebody else: its payments are made from other coins.
    // Whatever has swept an address of ours: nobody waits for that.
    const isForeign =
      ending.kind === 'superseded' &&
      assignment.purpose !== 'SWEEP' &&
      (ending.by === undefined || !(await store.isOwnVersion(database, network, ending.by)));
    if (isForeign)
      await stop(
        'foreign-slot',
        `a transaction that is none of ours has used the place of assignment ${assignment.id}`,
      );
    await checkpoint?.('before the outcome is committed', assignment.id);
    await writePath.submit(endCommand(assignment, ending, { network, ...facts, versions }));
    await checkpoint?.('after the outcome is committed', assignment.id);
  }

  async function note(assignment: Assignment, progress: Parameters<typeof notePayments>[2]): Promise<void> {
    const keys = keysOf(assignment);
    if (keys.length > 0) await notePayments(database, keys, progress, clock.now());
  }

  async function follow(
    { assignment, versions }: store.Open,
    open: readonly store.Open[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (versions.length === 0) {
      if ((await sign(assignment, versions, signal)) || isRefused) return !isRefused;
      throw new ChainWait('fee-too-high', 'the fee that the network asks for is above the bound');
    }
    const observation = await reached(driver.observe(assignment, versions, signal), signal);
    pacing.seen(assignment.id, observation);
    switch (observation.kind) {
      case 'final':
      case 'superseded':
        await end(assignment, observation, versions.length);
        return true;
      case 'mined':
        await note(assignment, observation);
        return false;
      case 'undecided':
        throw new ChainWait('nodes-disagree', observation.reason);
      default: {
        await note(assignment, { have: null, need: null });
        if (!isBuiltUpon(versions, open) && (await sign(assignment, versions, signal))) return true;
        // Every version: a node may have forgotten any of them, and only one can be executed.
        if (pacing.isToBeSent(assignment.id))
          for (const version of versions.filter(isWhole)) await send(assignment, version, signal);
        return false;
      }
    }
  }

  const openNow = async (): Promise<readonly store.Open[]> =>
    sweeps === undefined
      ? store.openAssignments(database, network, lane, LIMITS.chainOpenMax)
      : sweeps.open();

  /** A sweep, or a move of the lane. */
  async function planMove(state: LaneState | undefined, signal: AbortSignal): Promise<Planned | undefined> {
    if ((moves === undefined && sweeps === undefined) || !pacing.isMoveDue()) return undefined;
    const draft = state && (await reached(moves!.next(state, signal), signal));
    const planned =
      state === undefined ? await reached(sweeps!.next(signal), signal) : draft && { lane, draft };
    if (planned === undefined) pacing.noMoves();
    return planned;
  }

  /** Undefined if nothing waits. */
  async function planNext(open: readonly store.Open[], signal: AbortSignal): Promise<Planned | undefined> {
    if (sweeps !== undefined) return planMove(undefined, signal);
    const payments = await waitingPayments(database, network, LIMITS.chainPlanPaymentsMax);
    const isUpkeep = payments.length === 0 && driver.hasUpkeep === true && pacing.isUpkeepDue();
    const isMove = moves !== undefined && pacing.isMoveDue();
    if (payments.length === 0 && !isUpkeep && !isMove) return undefined;
    const state = await store.laneState(database, network, lane, open, LIMITS.chainCoinsMax);
    const plan =
      payments.length > 0 || isUpkeep
        ? await reached(driver.plan(state, payments.map(outgoingOf), signal), signal)
        : undefined;
    if (plan?.kind === 'assign') return { lane, draft: plan.draft };
    // A wallet that cannot pay may be waiting for what is swept into it.
    const isIdle = plan === undefined || isUpkeep || plan.code === 'low-funds';
    const move = isIdle && isMove ? await planMove(state, signal) : undefined;
    if (move !== undefined || plan === undefined || (isUpkeep && plan.code === 'busy')) return move;
    throw new ChainWait(plan.code, plan.reason);
  }

  /** Gives waiting payments their assignments. Undefined if nothing waits. */
  async function assign(open: readonly store.Open[], signal: AbortSignal): Promise<store.Open | undefined> {
    if (open.length >= LIMITS.chainOpenMax)
      throw new ChainWait('busy', `${open.length} transactions wait for confirmations`);
    const planned = await planNext(open, signal);
    if (planned === undefined) return undefined;
    const { draft, lane: sender } = planned;
    const id = newId();
    await checkpoint?.('before the assignment is committed', id);
    const at = clock.now();
    const created = { id, network, lane: sender, feeAsset: facts.feeAsset };
    await fenced(database, task, (tx) => store.insertAssignment(tx, created, draft, at));
    return { assignment: { ...draft, id, lane: sender, assignedAtMs: clock.nowMs() }, versions: [] };
  }

  async function assignAll(open: readonly store.Open[], signal: AbortSignal): Promise<boolean> {
    const all = [...open];
    for (let count = 0; count < LIMITS.chainAssignMax; count += 1) {
      const next = await assign(all, signal);
      if (next === undefined) return count > 0;
      all.push(next);
      await follow(next, all, signal);
    }
    return true;
  }

  /** Every open assignment, whatever happens to the others; then the first reason why one could not be followed is thrown. */
  async function followAll(open: readonly store.Open[], signal: AbortSignal): Promise<boolean> {
    let hasActed = false;
    let first: unknown;
    const due = open.filter(
      ({ assignment, versions }) => versions.length === 0 || pacing.isDue(assignment.id),
    );
    await inParallel(due, LIMITS.chainObserveMax, async (one) => {
      try {
        if (await follow(one, open, signal)) hasActed = true;
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        first ??= error;
      }
    });
    if (first !== undefined) throw first;
    return hasActed;
  }

  /** What operators see of an error; undefined if it is none of these. */
  function stopOf(error: unknown): { readonly code: StopCode; readonly reason: string } | undefined {
    if (error instanceof ChainWait) return { code: error.code, reason: error.message };
    // Another lane was faster.
    if (error instanceof PaymentsTaken) return { code: 'busy', reason: error.message };
    if (error instanceof SignerRefusal)
      return error.code === 'over-velocity'
        ? { code: 'over-velocity', reason: error.message }
        : { code: 'signer-refused', reason: `${error.code}: ${error.message}` };
    if (error instanceof SignerUnreachable) return { code: 'signer-unreachable', reason: error.message };
    return undefined;
  }

  return {
    async turn(signal) {
      const stopped = await findStop(database, task);
      isRefused = stopped?.code === 'signer-refused';
      const open = await openNow();
      pacing.forget(new Set(open.map(({ assignment }) => assignment.id)));
      try {
        const hasActed = await followAll(open, signal);
        // What is signed is followed to its end, but nothing new is assigned. A stop may have come up in this turn.
        if ((await findStop(database, task))?.needsOperator === true) return hasActed;
        const hasAssigned = await assignAll(hasActed ? await openNow() : open, signal);
        if (stopped !== undefined) await endStop(database, task);
        return hasActed || hasAssigned;
      } catch (error) {
        const found = stopOf(error);
        if (found === undefined) throw error;
        if (found.code !== 'busy') await stop(found.code, found.reason);
        return false;
      }
    },
  };
}
