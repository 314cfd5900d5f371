import type { Database } from '../../src/database/database.ts';
import type { Vault } from '../../src/sealing/vault.ts';
import { vaultOf } from '../../src/vault.ts';

/** The vault of a sandbox that has no key configured. */
export function sandboxVault(database: Database): Promise<Vault> {
  return vaultOf({ secretKey: undefined }, database);
}
