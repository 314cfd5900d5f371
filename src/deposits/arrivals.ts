import type { Database } from '../database/database.ts';
import { type Actor, workerActor } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { Problem } from '../kernel/problem.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { presentTransfer, type Transfer } from '../transfers/transfer.ts';
import { type Arrival, type ArrivalTables, arrivalCommand } from './arrival.ts';
import { type ArrivalRecord, differences, readArrived, referenceOf } from './identity.ts';
import { findSuspense, ownerOf } from './store.ts';
import { presentSuspense } from './suspense-deposit.ts';
import type { DepositOwner } from './target.ts';

export type Arrivals = {
  ownerOf(arrived: ArrivedDeposit): Promise<DepositOwner | undefined>;
  /**
   * Credits the deposit, or keeps it in suspense, once. Throws a problem, and posts nothing, when the deposit was reported
   * before with other values, or has invalid ones.
   */
  readonly arrive: (
    arrived: ArrivedDeposit,
    /** Who reports it, if it is not the rail. */
    actor?: Actor,
  ) => Promise<{ body: ReturnType<typeof presentArrival>; replayed?: boolean }>;
};

export function presentArrival(arrival: Arrival, assets: Assets) {
  if ('transfer' in arrival) return { transfer: presentTransfer(arrival.transfer, assets) };
  if ('suspense' in arrival) return { suspense_deposit: presentSuspense(arrival.suspense, assets) };
  return { journal_entry_id: arrival.journalEntryId };
}

/** Takes what rails report as arrived. */
const ARRIVING = workerActor('deposits');

export function createArrivals(parts: {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly tables: ArrivalTables;
  readonly transferById: (database: Database, id: string) => Promise<Transfer | undefined>;
}): Arrivals {
  const { database, writePath, tables, transferById } = parts;
  const { networks } = tables;

  async function load({ transferId, suspenseId, journalEntryId }: ArrivalRecord): Promise<Arrival> {
    const transfer = transferId === null ? undefined : await transferById(database, transferId);
    if (transfer !== undefined) return { transfer };
    const suspense = suspenseId === null ? undefined : await findSuspense(database, suspenseId);
    if (suspense !== undefined) return { suspense };
    if (journalEntryId !== null) return { journalEntryId };
    throw new Error(
      `the transfer or suspense deposit of a recorded deposit is missing: ${transferId ?? suspenseId}`,
    );
  }

  return {
    ownerOf: (reported) => ownerOf(database, readArrived(reported, networks)),
    async arrive(reported, actor = ARRIVING) {
      const arrived = readArrived(reported, networks);
      const command = arrivalCommand(actor, arrived, await ownerOf(database, arrived), tables);
      const outcome = await writePath.submit(command);
      if (outcome.replayed) throw new Error('a command without a key cannot be a replay');
      const { arrival, known } = outcome.answer;
      if (known === undefined) return { body: presentArrival(arrival, tables.assets) };
      const body = presentArrival(await load(known), tables.assets);
      const differs = differences(known, arrived);
      if (differs.length === 0) return { body, replayed: true };
      throw new Problem(
        'already-exists',
        `The deposit ${referenceOf(arrived)} on ${arrived.rail} was reported before; the reports differ in ${differs.join(', ')}.`,
        { existing: body, differs },
      );
    },
  };
}
