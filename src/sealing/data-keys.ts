import type { Database, Transaction } from '../database/database.ts';
import { insertDataKey, lockDataKeys, replaceWrapping, type WrappedKey, wrappedKeys } from './store.ts';
import { createVault, type DataKey, newDataKey, type Vault } from './vault.ts';
import type { WrappingKey } from './wrapping.ts';

/** The configured wrapping keys cannot open the data keys of this database. */
export class WrongWrappingKey extends Error {
  constructor(needed: string, given: readonly WrappingKey[]) {
    const ids = given.map(({ id }) => id).join(', ');
    super(
      `The secrets of this database were sealed under the key ${needed}, and the configured ones are ${ids}. ` +
        'Set FERRY_SECRET_KEY to the old key, or FERRY_SECRET_KEY_PREVIOUS to the old key and run "ferry key rewrap".',
    );
    this.name = 'WrongWrappingKey';
  }
}

async function unwrap(row: WrappedKey, wrappingKeys: readonly WrappingKey[]): Promise<DataKey> {
  const wrappingKey = wrappingKeys.find(({ id }) => id === row.wrappingKey);
  if (wrappingKey === undefined) throw new WrongWrappingKey(row.wrappingKey, wrappingKeys);
  return { id: row.id, key: await wrappingKey.unwrap(row.wrapped) };
}

/** Nodes that start together on a new database create one key. */
async function createFirstKey(database: Database, wrappingKey: WrappingKey): Promise<void> {
  const wrapped = await wrappingKey.wrap(newDataKey());
  await database.transaction(async (tx) => {
    await lockDataKeys(tx);
    if ((await wrappedKeys(tx)).length > 0) return;
    await insertDataKey(tx, { id: 1, wrappingKey: wrappingKey.id, wrapped });
  });
}

/**
 * The vault of this database. The first of the wrapping keys is the current one; the others are accepted while data keys that
 * they wrapped are still there, so that a key can be replaced without stopping anything.
 */
export async function openVault(
  database: Database,
  wrappingKeys: readonly [WrappingKey, ...WrappingKey[]],
): Promise<Vault> {
  let rows = await wrappedKeys(database);
  if (rows.length === 0) {
    await createFirstKey(database, wrappingKeys[0]);
    rows = await wrappedKeys(database);
  }
  return createVault(await Promise.all(rows.map((row) => unwrap(row, wrappingKeys))));
}

/** Wraps every data key with the current wrapping key; returns how many were wrapped with another one before. */
export async function rewrapDataKeys(
  database: Database,
  wrappingKeys: readonly [WrappingKey, ...WrappingKey[]],
  /** In the same transaction: records who did it. */
  done: (tx: Transaction, ids: readonly string[]) => Promise<void> = async () => {},
): Promise<number> {
  const [current] = wrappingKeys;
  return database.transaction(async (tx) => {
    await lockDataKeys(tx);
    const others = (await wrappedKeys(tx)).filter(({ wrappingKey }) => wrappingKey !== current.id);
    for (const row of others) {
      const { id, key } = await unwrap(row, wrappingKeys);
      await replaceWrapping(tx, { id, wrappingKey: current.id, wrapped: await current.wrap(key) });
    }
    await done(
      tx,
      others.map(({ id }) => String(id)),
    );
    return others.length;
  });
}
