import { administratorOf } from './auth/changes.ts';
import { type Config, ConfigError } from './config/config.ts';
import type { Database, Queryable } from './database/database.ts';
import { recordChange } from './events/append.ts';
import { newId } from './kernel/id.ts';
import type { Vault } from './kernel/vault.ts';
import { sandboxSecretKey } from './sandbox/secret-key.ts';
import { openVault, rewrapDataKeys, WrongWrappingKey } from './sealing/data-keys.ts';
import { localWrappingKey, type WrappingKey } from './sealing/wrapping.ts';
import { canOpenOldSecrets, sealOldSecrets } from './webhooks/old-secret-store.ts';

/** The first one wraps new data keys; the others are accepted while data keys that they wrapped are there. */
export type WrappingKeys = readonly [WrappingKey, ...WrappingKey[]];

type KeyConfig = Pick<Config, 'mode' | 'secretKey' | 'previousSecretKey'>;

/** Checked before the database is opened. An operator's own wrapping keys, of a key management service, need no variable. */
export function checkSecretKey({ mode, secretKey }: KeyConfig, own?: WrappingKeys): void {
  if (mode === 'sandbox' || secretKey !== undefined || own !== undefined) return;
  throw new ConfigError(
    'FERRY_SECRET_KEY must be set when FERRY_MODE is production: create a key with "openssl rand -base64 32", and keep it outside the database.',
  );
}

/** The keys of the configuration, the current one first; the sandbox's own key comes last, and is created when it is needed. */
async function localKeys(config: KeyConfig, database: Queryable): Promise<Buffer[]> {
  const { mode, secretKey, previousSecretKey } = config;
  const given = [secretKey, previousSecretKey].filter((key) => key !== undefined);
  return mode === 'sandbox' ? [...given, await sandboxSecretKey(database)] : given;
}

function wrappingKeys(local: readonly Buffer[], own: readonly WrappingKey[] = []): WrappingKeys {
  const [first, ...others] = [...own, ...local.map(localWrappingKey)];
  return [first!, ...others];
}

/** Turns the error of a wrong key into the sentence that ends the start. */
async function orConfigError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof WrongWrappingKey ? new ConfigError(error.message) : error;
  }
}

/** For a command that only reads, on a standby as well: what an older release left is not sealed. */
export async function unlockToRead(config: KeyConfig, database: Database): Promise<void> {
  checkSecretKey(config);
  const local = await localKeys(config, database);
  database.unlock(await orConfigError(openVault(database, wrappingKeys(local))));
}

/** Opens the vault of the database, and unlocks the database with it. */
export async function vaultOf(config: KeyConfig, database: Database, own?: WrappingKeys): Promise<Vault> {
  checkSecretKey(config, own);
  const local = await localKeys(config, database);
  // Before the first data key is created: a wrong key must not become the one that wraps it.
  if (!(await canOpenOldSecrets(database, local))) {
    throw new ConfigError(
      'FERRY_SECRET_KEY did not encrypt the webhook secrets of this database: set FERRY_SECRET_KEY, or FERRY_SECRET_KEY_PREVIOUS, to the key that the service ran with before.',
    );
  }
  const vault = await orConfigError(openVault(database, wrappingKeys(local, own)));
  database.unlock(vault);
  await sealOldSecrets(database, local);
  return vault;
}

/** Wraps the data keys with the current key; returns how many another key had wrapped. */
export async function rewrap(config: KeyConfig, database: Database, own?: WrappingKeys): Promise<number> {
  checkSecretKey(config, own);
  const local = await localKeys(config, database);
  return orConfigError(
    rewrapDataKeys(database, wrappingKeys(local, own), (tx, ids) =>
      recordChange(tx, administratorOf(database), {
        action: 'data_keys.rewrapped',
        customerId: null,
        resourceId: newId(),
        after: { data_key_ids: [...ids] },
      }),
    ),
  );
}
