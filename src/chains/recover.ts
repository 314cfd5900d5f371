import type { Database, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { takePayments, waitingAmong } from '../rails/payment-store.ts';
import type { SignedRecord } from '../signer/contract.ts';
import { insertAssignment, insertVersion } from './assignment-store.ts';
import type { Coin, Purpose } from './driver.ts';
import {
  databaseTime,
  giveUpSlot,
  type KnownAssignment,
  knownAssignments,
  reviveAssignment,
} from './recover-store.ts';

/**
 * After a restore from a backup: the log of the signer knows every transaction that was signed, and the database gets those back
 * that it has lost, with their own ids. Then the chain decides about them as about all others: what it has executed ends the
 * withdrawals with their hashes, and posts the fees.
 */

export type Recovered = {
  readonly assignmentId: string;
  readonly lane: string;
  readonly slot: string | null;
  readonly hashes: readonly string[];
  readonly payments: SignedRecord['payments'];
  /**
   * - `recovered`: the database follows it now.
   * - `unknown-payments`: a payment of it is not waiting in the database. Its slot is given up; an operator books what it paid.
   */
  readonly outcome: 'recovered' | 'unknown-payments';
};

type Facts = { readonly network: string; readonly feeAsset: string; readonly now: Instant };

const coinOf = (text: string): Coin => {
  const [txHash, output] = text.split(':') as [string, string];
  // Only its place is needed to take it: the database has the rest.
  return { txHash, output: Number(output), units: 0n, address: '', path: '', height: null };
};

/** Versions whose bytes are not known: they are looked for on the chain, and never sent. */
async function addVersions(
  tx: Transaction,
  records: readonly SignedRecord[],
  known: readonly string[],
  now: Instant,
): Promise<void> {
  const missing = new Map(records.filter(({ hash }) => !known.includes(hash)).map((one) => [one.hash, one]));
  let number = known.length;
  for (const { assignmentId, hash, feeUnitsMax } of missing.values()) {
    number += 1;
    const version = { hash, bytes: '', feeUnitsMax: BigInt(feeUnitsMax), feeRate: 0n };
    await insertVersion(tx, assignmentId, number, version, now);
  }
}

async function recoverOne(
  tx: Transaction,
  records: readonly SignedRecord[],
  known: KnownAssignment | undefined,
  { network, feeAsset, now }: Facts,
): Promise<Recovered['outcome'] | undefined> {
  const { assignmentId: id, lane, slot, purpose, details, coins, payments } = records[0]!;
  if (known !== undefined) {
    const isLacking = records.some(({ hash }) => !known.hashes.includes(hash));
    if (!isLacking || known.state === 'SUCCEEDED' || known.state === 'FAILED') return undefined;
  }
  const keys = payments.map(({ key }) => key);
  if (known?.state !== 'ASSIGNED') {
    const waiting = await waitingAmong(tx, network, keys);
    const isFollowed =
      payments.length > 0 &&
      payments.every(({ key, asset, units }) => {
        const one = waiting.get(key);
        return one?.asset === asset && one.units === BigInt(units);
      });
    if (!isFollowed) {
      if (known !== undefined) return undefined;
      if (slot !== null) await giveUpSlot(tx, { id, network, lane, slot }, feeAsset, now);
      return 'unknown-payments';
    }
    if (known === undefined) {
      const draft = {
        purpose: purpose as Purpose,
        slot,
        details,
        coins: coins.map(coinOf),
        payments: payments.map((one) => ({ ...one, units: BigInt(one.units) })),
      };
      await insertAssignment(tx, { id, network, lane, feeAsset }, draft, now);
    } else {
      await reviveAssignment(tx, id, now);
      await takePayments(tx, keys, now);
    }
  }
  await addVersions(tx, records, known?.hashes ?? [], now);
  return 'recovered';
}

/** All or nothing. Returns what the database had lost. */
export function recover(
  database: Database,
  records: readonly SignedRecord[],
  rail: Omit<Facts, 'now'>,
): Promise<readonly Recovered[]> {
  const byAssignment = Map.groupBy(records, ({ assignmentId }) => assignmentId);
  return database.transaction(async (tx) => {
    const known = await knownAssignments(tx, [...byAssignment.keys()]);
    const facts = { ...rail, now: await databaseTime(tx) };
    const recovered: Recovered[] = [];
    for (const [assignmentId, versions] of byAssignment) {
      const outcome = await recoverOne(tx, versions, known.get(assignmentId), facts);
      const { lane, slot, payments } = versions[0]!;
      const hashes = [...new Set(versions.map(({ hash }) => hash))];
      if (outcome !== undefined) recovered.push({ assignmentId, lane, slot, hashes, payments, outcome });
    }
    return recovered;
  });
}
