import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { SignedRecord } from './contract.ts';

/** What the log says about the past, in the form in which decisions need it. */

export type Asked = {
  readonly atMs: number;
  readonly requestId: string;
  readonly network: CryptoNetwork;
  readonly assignmentId: string;
  readonly version: number;
  /** SHA-256 of the bytes that were to be signed. */
  readonly unsigned: string;
};

/** A line of the log, without its place in the chain. */
export type Decision = Asked &
  (
    | ({ readonly decision: 'signed' } & SignedRecord)
    | { readonly decision: 'refused'; readonly code: string; readonly reason: string }
    | { readonly decision: 'discarded'; readonly keys: readonly string[] }
  );

export type Spent = { readonly units: bigint; readonly count: number };

export type History = {
  add(decision: Decision): void;
  isKnownRequest(requestId: string): boolean;
  /** The assignment under which a payment was signed last. */
  assignmentOf(paymentKey: string): string | undefined;
  isSigned(assignmentId: string): boolean;
  /** Whether an assignment or a payment must never be signed. */
  isDiscarded(id: string): boolean;
  /** Of the transactions that were signed for an assignment. */
  hashesOf(assignmentId: string): readonly string[];
  /** What was signed for an asset since then. A payment counts once, however many versions it has. */
  paid(asset: string, sinceMs: number): Spent;
  /** The fees that were signed on a network since then. An assignment counts once, with its highest fee. */
  fees(network: CryptoNetwork, sinceMs: number): bigint;
  feeOf(assignmentId: string): bigint;
  readonly lastMs: number;
};

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

type Timed = { readonly atMs: number; readonly of: string; readonly units: bigint };

/** Amounts of the last 24 hours, oldest first. */
function createWindow() {
  let entries: Timed[] = [];
  let first = 0;
  return {
    add(entry: Timed): void {
      entries.push(entry);
      while (entries[first] !== undefined && entries[first]!.atMs <= entry.atMs - DAY_MS) first += 1;
      if (first > 1_000 && first * 2 > entries.length) {
        entries = entries.slice(first);
        first = 0;
      }
    },
    since(of: string, sinceMs: number): Spent {
      let [units, count] = [0n, 0];
      for (let index = entries.length - 1; index >= first && entries[index]!.atMs > sinceMs; index -= 1) {
        const entry = entries[index]!;
        if (entry.of !== of) continue;
        units += entry.units;
        count += 1;
      }
      return { units, count };
    },
  };
}

export function createHistory(): History {
  const requestIds = new Set<string>();
  const assignments = new Map<string, string>();
  const highestFees = new Map<string, bigint>();
  const hashes = new Map<string, readonly string[]>();
  const discarded = new Set<string>();
  const [payments, fees] = [createWindow(), createWindow()];
  let lastMs = 0;

  function remember(requestId: string): void {
    requestIds.add(requestId);
    if (requestIds.size <= LIMITS.signerRequestIdsMax) return;
    const [oldest] = requestIds;
    requestIds.delete(oldest!);
  }

  return {
    get lastMs() {
      return lastMs;
    },
    add(decision) {
      const { atMs, requestId, network, assignmentId } = decision;
      lastMs = Math.max(lastMs, atMs);
      remember(requestId);
      if (decision.decision === 'discarded')
        for (const id of [assignmentId, ...decision.keys]) if (id !== '') discarded.add(id);
      if (decision.decision !== 'signed') return;
      for (const { key, asset, units } of decision.payments) {
        if (!assignments.has(key)) payments.add({ atMs, of: asset, units: BigInt(units) });
        assignments.set(key, assignmentId);
      }
      const known = hashes.get(assignmentId) ?? [];
      if (!known.includes(decision.hash)) hashes.set(assignmentId, [...known, decision.hash]);
      const before = highestFees.get(assignmentId) ?? 0n;
      const fee = BigInt(decision.feeUnitsMax);
      if (fee > before) fees.add({ atMs, of: network, units: fee - before });
      if (fee >= before) highestFees.set(assignmentId, fee);
    },
    isKnownRequest: (requestId) => requestIds.has(requestId),
    assignmentOf: (key) => assignments.get(key),
    hashesOf: (assignmentId) => hashes.get(assignmentId) ?? [],
    isSigned: (assignmentId) => highestFees.has(assignmentId),
    isDiscarded: (id) => discarded.has(id),
    paid: (asset, sinceMs) => payments.since(asset, sinceMs),
    fees: (network, sinceMs) => fees.since(network, sinceMs).units,
    feeOf: (assignmentId) => highestFees.get(assignmentId) ?? 0n,
  };
}
