import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import { createVault } from '../../src/sealing/vault.ts';
import { unlockToRead } from '../../src/vault.ts';

/** The vault of tests that use stores or a write path without a service. All nodes of a test have the same key. */
export const testVault = createVault([{ id: 1, key: Buffer.alloc(32, 7) }]);

export function unlocked(database: Database): Database {
  database.unlock(testVault);
  return database;
}

/** With the key of the sandbox's processes, which sign the checkpoints of the audit. */
export async function unlockAsSandbox(database: Database): Promise<Database> {
  await unlockToRead({ mode: 'sandbox', secretKey: undefined, previousSecretKey: undefined }, database);
  return database;
}

/** A database as a node has it: connected and unlocked. */
export function connectUnlocked(address: DatabaseAddress, connectionsMax?: number): Database {
  // A busy machine may need longer than the few seconds that a service waits for a connection.
  return unlocked(connectDatabase(address, connectionsMax, { connectTimeoutMs: 60_000 }));
}
