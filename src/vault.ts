import type { Config } from './config/config.ts';
import type { Database } from './database/database.ts';
import { sandboxSecretKey } from './sandbox/secret-key.ts';
import { openVault } from './sealing/data-keys.ts';
import type { Vault } from './sealing/vault.ts';
import { localWrappingKey } from './sealing/wrapping.ts';

/** The vault of a database, for the service and for the command line. */
export async function vaultOf({ secretKey }: Pick<Config, 'secretKey'>, database: Database): Promise<Vault> {
  return openVault(database, [localWrappingKey(secretKey ?? (await sandboxSecretKey(database)))]);
}
