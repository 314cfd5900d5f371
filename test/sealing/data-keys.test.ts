import { afterAll, describe, expect, it } from 'vitest';
import { openVault, rewrapDataKeys, WrongWrappingKey } from '../../src/sealing/data-keys.ts';
import { newDataKey } from '../../src/sealing/vault.ts';
import { localWrappingKey } from '../../src/sealing/wrapping.ts';
import { createTestDatabase } from '../support/database.ts';

const { database, drop } = await createTestDatabase();
afterAll(drop);

const first = localWrappingKey(newDataKey());
const second = localWrappingKey(newDataKey());

describe('the vault of a database', () => {
  it('is the same for nodes that start together on a new database', async () => {
    const vaults = await Promise.all(Array.from({ length: 8 }, () => openVault(database, [first])));
    const sealed = vaults[0]!.seal('Ada', 'place');
    for (const vault of vaults) expect(vault.open(sealed, 'place')).toBe('Ada');
    expect(await database.query('select id from data_keys')).toEqual([{ id: 1 }]);
  });

  it('cannot be opened with another key, and the error names both', async () => {
    await expect(openVault(database, [second])).rejects.toThrow(WrongWrappingKey);
    await expect(openVault(database, [second])).rejects.toThrow(
      `${first.id}, and the configured ones are ${second.id}`,
    );
  });

  it('is opened by the old key and by the new one while the key is replaced, and by the new one alone afterwards', async () => {
    const running = await openVault(database, [first]);
    const sealed = running.seal('Ada', 'place');
    const digest = running.digester('x')('Ada');
    expect((await openVault(database, [second, first])).open(sealed, 'place')).toBe('Ada');
    expect(await rewrapDataKeys(database, [second, first])).toBe(1);
    expect(await rewrapDataKeys(database, [second, first])).toBe(0);
    const after = await openVault(database, [second]);
    expect(after.open(sealed, 'place')).toBe('Ada');
    expect(after.digester('x')('Ada')).toBe(digest);
    // A node that has not been restarted goes on with what it has in memory.
    expect(after.open(running.seal('Grace', 'place'), 'place')).toBe('Grace');
    await expect(openVault(database, [first])).rejects.toThrow(WrongWrappingKey);
  });
});
