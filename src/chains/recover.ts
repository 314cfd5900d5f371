import type { Database, Transaction } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { acceptedAmong, releasePayments, takePayments, waitingAmong } from '../rails/payment-store.ts';
import type { SignedRecord } from '../signer/contract.ts';
import { skipAddresses } from './address-store.ts';
import { insertAssignment, insertVersion } from './assignment-store.ts';
import { type LostCoin, lostCoinsUse, takeLostCoins } from './coin-store.ts';
import type { Draft, Purpose } from './driver.ts';
import {
  databaseTime,
  giveUpSlot,
  insertDead,
  type KnownAssignment,
  knownAssignments,
  reviveAssignment,
  supersede,
  unsignedRivals,
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
   * - `superseded`: it can never be executed, and its payments wait again or have a later transaction.
   * - `coins-in-use`: an open transaction of the restored database spends its coins. Once that has ended, recover again.
   * - `unknown-payments`: a payment of it is not waiting in the database. Its slot is given up; an operator books what it paid.
   */
  readonly outcome: 'recovered' | 'superseded' | 'coins-in-use' | 'unknown-payments';
};

export type Recovery = {
  readonly recovered: readonly Recovered[];
  /** The number of the next deposit address; undefined if the network has none. */
  readonly nextAddress: bigint | undefined;
};

type Facts = { readonly network: string; readonly feeAsset: string; readonly now: Instant };

/** Those that pay nobody are followed as well: their fee is to be posted, and their coins are spent. */
const PAYING_NOBODY = ['UPKEEP', 'CANCELLATION'];

function coinsOf({ coins, coinFacts = [] }: SignedRecord): LostCoin[] {
  return coins.map((text, index) => {
    const [txHash, output] = text.split(':') as [string, string];
    return { txHash, output: Number(output), ...coinFacts[index] };
  });
}

const draftOf = ({ purpose, slot, details, payments }: SignedRecord): Draft => ({
  purpose: purpose as Purpose,
  slot,
  details,
  // Taken apart from this: a block may have spent them already.
  coins: [],
  payments: payments.map((one) => ({ ...one, units: BigInt(one.units) })),
});

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

async function areWaiting(
  tx: Transaction,
  network: string,
  { purpose, payments }: SignedRecord,
): Promise<boolean> {
  if (payments.length === 0) return PAYING_NOBODY.includes(purpose);
  const waiting = await waitingAmong(
    tx,
    network,
    payments.map(({ key }) => key),
  );
  return payments.every(({ key, asset, units }) => {
    const one = waiting.get(key);
    return one?.asset === asset && one.units === BigInt(units);
  });
}

/** The database does not know it at all. */
async function enterLost(
  tx: Transaction,
  records: readonly SignedRecord[],
  { network, feeAsset, now }: Facts,
): Promise<Recovered['outcome']> {
  const record = records[0]!;
  const { assignmentId: id, lane, slot } = record;
  if (!(await areWaiting(tx, network, record))) {
    if (slot !== null) await giveUpSlot(tx, { id, network, lane, slot }, feeAsset, now);
    return 'unknown-payments';
  }
  const coins = coinsOf(record);
  const use = await lostCoinsUse(tx, network, coins);
  if (use === 'open') return 'coins-in-use';
  await insertAssignment(tx, { id, network, lane, feeAsset }, draftOf(record), now);
  if (use === undefined) await takeLostCoins(tx, id, network, coins);
  await addVersions(tx, records, [], now);
  if (use === undefined) return 'recovered';
  await supersede(tx, id, now);
  await releasePayments(
    tx,
    record.payments.map(({ key }) => key),
    now,
  );
  return 'superseded';
}

/** The signer has signed one of its payments again since then, so the chain had proven that it is dead. */
async function enterDead(
  tx: Transaction,
  records: readonly SignedRecord[],
  { network, feeAsset, now }: Facts,
): Promise<Recovered['outcome'] | undefined> {
  const record = records[0]!;
  const { assignmentId: id, lane, payments } = record;
  const keys = payments.map(({ key }) => key);
  if ((await acceptedAmong(tx, network, keys)) < keys.length) return undefined;
  await insertDead(tx, { id, network, lane, feeAsset }, draftOf(record), now);
  const hashes = new Set(records.map(({ hash }) => hash));
  for (const [index, hash] of [...hashes].entries()) {
    const version = { hash, bytes: '', feeUnitsMax: BigInt(record.feeUnitsMax), feeRate: 0n };
    await insertVersion(tx, id, index + 1, version, now);
  }
  await supersede(tx, id, now);
  return 'superseded';
}

/** The database knows the assignment, and has lost versions of it. */
async function complete(
  tx: Transaction,
  records: readonly SignedRecord[],
  known: KnownAssignment,
  { network, now }: Facts,
): Promise<Recovered['outcome'] | undefined> {
  const record = records[0]!;
  const isLacking = records.some(({ hash }) => !known.hashes.includes(hash));
  if (!isLacking || known.state === 'SUCCEEDED' || known.state === 'FAILED') return undefined;
  if (known.state === 'SUPERSEDED') {
    if (!(await areWaiting(tx, network, record))) return undefined;
    const coins = coinsOf(record);
    if ((await lostCoinsUse(tx, network, coins)) !== undefined) return 'coins-in-use';
    await reviveAssignment(tx, known.id, now);
    await takeLostCoins(tx, known.id, network, coins);
    await takePayments(
      tx,
      record.payments.map(({ key }) => key),
      now,
    );
  }
  await addVersions(tx, records, known.hashes, now);
  return 'recovered';
}

/** The last assignment that was signed for each payment. */
function lastOf(records: readonly SignedRecord[]): ReadonlyMap<string, string> {
  return new Map(
    records.flatMap(({ assignmentId, payments }) => payments.map(({ key }) => [key, assignmentId] as const)),
  );
}

/**
 * Assignments that the restored database has made and the signer has refused, because it had signed the payments before. They were
 * never signed, so nothing of them can be on the chain: what they hold is free again.
 */
async function dropRivals(
  tx: Transaction,
  network: string,
  last: ReadonlyMap<string, string>,
  signed: readonly string[],
  now: Instant,
): Promise<void> {
  for (const { id, keys } of await unsignedRivals(tx, network, [...last.keys()], signed)) {
    await supersede(tx, id, now, { releasesSlot: true });
    await releasePayments(tx, keys, now);
  }
}

/** All or nothing. Returns what the database had lost. */
export function recover(
  database: Database,
  records: readonly SignedRecord[],
  rail: Omit<Facts, 'now'>,
  addressesSkipped: number,
): Promise<Recovery> {
  const byAssignment = Map.groupBy(records, ({ assignmentId }) => assignmentId);
  const last = lastOf(records);
  return database.transaction(async (tx) => {
    const known = await knownAssignments(tx, [...byAssignment.keys()]);
    const facts = { ...rail, now: await databaseTime(tx) };
    await dropRivals(tx, rail.network, last, [...byAssignment.keys()], facts.now);
    const recovered: Recovered[] = [];
    for (const [assignmentId, versions] of byAssignment) {
      const { lane, slot, payments } = versions[0]!;
      const one = known.get(assignmentId);
      const isDead = payments.some(({ key }) => last.get(key) !== assignmentId);
      const enter = isDead ? enterDead : enterLost;
      const outcome =
        one === undefined ? await enter(tx, versions, facts) : await complete(tx, versions, one, facts);
      const hashes = [...new Set(versions.map(({ hash }) => hash))];
      if (outcome !== undefined) recovered.push({ assignmentId, lane, slot, hashes, payments, outcome });
    }
    return { recovered, nextAddress: await skipAddresses(tx, rail.network, addressesSkipped) };
  });
}
