import type { CustomerReads, Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import type { Answer } from '../kernel/route.ts';
import type { Command } from '../ledger/command.ts';
import { createOnce } from '../ledger/create.ts';
import type { HandOver } from '../ledger/hand-over.ts';
import type { WritePath } from '../ledger/write-path.ts';
import type { Networks } from '../networks/register.ts';
import {
  batchesOfAnyTransfers,
  batchesOfTransfers,
  findTransfer,
  type TransferCause,
  transferCauses,
  transfersById,
} from './store.ts';
import { type Transfer, transferText } from './transfer.ts';

/** Transfers as other capabilities create and read them. */
export type TransferAccess = {
  /** Creates a transfer once, however many equal requests there are, and answers with it as users see it. */
  create(customerId: string, command: Command<Transfer>): Promise<Answer<never>>;
  /** A transfer of that customer; undefined for a transfer of another one. */
  find(customerId: string, id: string): Promise<Transfer | undefined>;
  /** A transfer of any customer, for workers. */
  byId(id: string): Promise<Transfer | undefined>;
  byIds(ids: readonly string[]): Promise<ReadonlyMap<string, Transfer>>;
  /** The transfers that caused entries, of any customer. */
  causes(causeIds: readonly string[]): Promise<readonly TransferCause[]>;
  /** The batches with the events of these transfers, if they are inside the service; other transfers have none here. */
  batchesOf(own: CustomerReads, ids: readonly string[]): Promise<readonly string[]>;
  /** The same for operators, of all customers. */
  batchesOfAny(ids: readonly string[]): Promise<readonly string[]>;
};

export type TransferConnections = {
  readonly database: Database;
  readonly writePath: WritePath;
  readonly assets: Assets;
  readonly networks: Networks;
  /** To the node that decides; absent: this one does. */
  readonly handOver?: HandOver;
};

export function createTransferAccess({ database, writePath, assets }: TransferConnections): TransferAccess {
  return {
    create: (customerId, command) =>
      createOnce(writePath, {
        command,
        load: (id) => findTransfer(database.of(customerId), customerId, id),
        present: (transfer) => transferText(transfer, assets),
      }),
    find: (customerId, id) => findTransfer(database.of(customerId), customerId, id),
    byId: async (id) => (await transfersById(database, [id])).get(id),
    byIds: (ids) => transfersById(database, ids),
    causes: (causeIds) => transferCauses(database, causeIds),
    batchesOf: batchesOfTransfers,
    batchesOfAny: (ids) => batchesOfAnyTransfers(database, ids),
  };
}
