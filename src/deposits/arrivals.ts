import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { presentTransfer, type Transfer } from '../transfers/transfer.ts';
import { type Arrival, type ArrivalTables, arrivalCommand, presentSuspense } from './arrival.ts';
import { findSuspense, ownerOf } from './store.ts';
import type { DepositOwner } from './way.ts';

export type Arrivals = {
  ownerOf(arrived: ArrivedDeposit): Promise<DepositOwner | undefined>;
  /**
   * Credits or keeps what arrived, once. The same output or reference reported otherwise is a problem that names what
   * differs; nothing is posted for it.
   */
  readonly arrive: (
    arrived: ArrivedDeposit,
  ) => Promise<{ body: ReturnType<typeof presentArrival>; replayed?: boolean }>;
};

export function presentArrival(arrival: Arrival, assets: Assets) {
  return arrival.transfer === undefined
    ? { suspense_deposit: presentSuspense(arrival.suspense, assets) }
    : { transfer: presentTransfer(arrival.transfer, assets) };
}

export function createArrivals(parts: {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly tables: ArrivalTables;
  readonly transferById: (database: Database, id: string) => Promise<Transfer | undefined>;
}): Arrivals {
  const { database, writePath, tables, transferById } = parts;
  return {
    ownerOf: (arrived) => ownerOf(database, arrived),
    async arrive(arrived) {
      return createOnce(writePath, {
        command: arrivalCommand(arrived, await ownerOf(database, arrived), tables),
        async load(id): Promise<Arrival | undefined> {
          const transfer = await transferById(database, id);
          if (transfer !== undefined) return { transfer };
          const suspense = await findSuspense(database, id);
          return suspense && { suspense };
        },
        present: (arrival) => presentArrival(arrival, tables.assets),
      });
    },
  };
}
