import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/database/database.ts';
import { assemble } from '../../src/main.ts';
import { localWrappingKey, type WrappingKey } from '../../src/sealing/wrapping.ts';
import { rewrap, type WrappingKeys } from '../../src/vault.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDataDir, removeDataDir, runFerry, runHere, urlOf } from '../support/process.ts';
import { PRODUCTION } from '../support/production.ts';

const [KEY, OTHER_KEY] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const logger = pino({ level: 'silent' });
const dataDir = makeDataDir();

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await removeDataDir(dataDir);
  await test.drop();
});

type Keys = { key?: string; previous?: string; wrappingKeys?: WrappingKeys };

/** Starts and stops a service in production, with its workers. */
async function start(database: Database, { key, previous, wrappingKeys }: Keys): Promise<void> {
  const { FERRY_SECRET_KEY: _, ...others } = PRODUCTION;
  const config = readConfig({
    ...others,
    PORT: '0',
    ...(key && { FERRY_SECRET_KEY: key }),
    ...(previous && { FERRY_SECRET_KEY_PREVIOUS: previous }),
  });
  const service = await assemble({ config, database, logger, ...(wrappingKeys && { wrappingKeys }) });
  await service.start();
  await service.stop();
}

describe('FERRY_SECRET_KEY in production', () => {
  const env = (): Record<string, string> => ({
    FERRY_MODE: 'production',
    FERRY_PUBLIC_URL: 'https://ferry.example',
    DATABASE_URL: urlOf(test.address),
    FERRY_DATA_DIR: dataDir,
  });

  it('is required: without it the start ends with one sentence that says how to make one', async () => {
    await expect(start(test.database, {})).rejects.toThrow(ConfigError);
    const { code, stdout, stderr } = await runHere(['serve'], env());
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^FERRY_SECRET_KEY must be set when FERRY_MODE is production: .*openssl rand -base64 32.*\.\n$/,
    );
  });

  it('ends the start with one sentence if it is another one than the database was sealed under', async () => {
    await start(test.database, { key: KEY });
    const sealed = await test.database.query('select * from signing_keys');
    const starting = start(test.database, { key: OTHER_KEY });
    await expect(starting).rejects.toThrow(ConfigError);
    await expect(starting).rejects.toThrow(/^The secrets of this database were sealed under the key local:/);
    const served = await runFerry(['serve'], { ...env(), FERRY_SECRET_KEY: OTHER_KEY });
    expect(served).toMatchObject({ code: 1, stderr: expect.stringMatching(/ferry key rewrap".\n$/) });
    expect(await test.database.query('select * from signing_keys')).toEqual(sealed);
    await start(test.database, { key: KEY });
  });

  it('ends commands that need it in the same way, and no others', async () => {
    const wrong = { ...env(), FERRY_SECRET_KEY: OTHER_KEY };
    const rotated = await runFerry(['key', 'rotate'], wrong);
    expect(rotated).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The secrets .*\.\n$/),
    });
    expect((await runFerry(['key', 'rotate'], env())).stderr).toMatch(/^FERRY_SECRET_KEY must be set/);
    expect(await runFerry(['customer', 'list'], wrong)).toMatchObject({ code: 0 });
    // The key proves the checkpoints of the audit.
    expect((await runFerry(['verify'], env())).stderr).toMatch(/^FERRY_SECRET_KEY must be set/);
    expect(await runFerry(['key', 'rotate'], { ...env(), FERRY_SECRET_KEY: KEY })).toMatchObject({ code: 0 });
  });

  it('is replaced by "ferry key rewrap" while nodes accept both', async () => {
    await start(test.database, { key: OTHER_KEY, previous: KEY });
    const both = { ...env(), FERRY_SECRET_KEY: OTHER_KEY, FERRY_SECRET_KEY_PREVIOUS: KEY };
    expect(await runFerry(['key', 'rewrap'], both)).toMatchObject({
      code: 0,
      stdout: 'Rewrapped 1 data key.\n',
    });
    expect(await runFerry(['key', 'rewrap', '--json'], both)).toMatchObject({
      stdout: '{\n  "rewrapped": 0\n}\n',
    });
    await start(test.database, { key: OTHER_KEY });
    await expect(start(test.database, { key: KEY })).rejects.toThrow(ConfigError);
  });
});

describe('a key management service', () => {
  /** Counts what it is asked. */
  function kms(id: string): WrappingKey & { readonly calls: string[] } {
    const local = localWrappingKey(randomBytes(32));
    const calls: string[] = [];
    return {
      id,
      calls,
      async wrap(dataKey) {
        calls.push('wrap');
        return local.wrap(dataKey);
      },
      async unwrap(wrapped) {
        calls.push('unwrap');
        return local.unwrap(wrapped);
      },
    };
  }

  it('takes the place of FERRY_SECRET_KEY, and is asked only when a node starts', async () => {
    const own = await createTestDatabase();
    const first = kms('kms:1');
    await start(own.database, { wrappingKeys: [first] });
    expect(first.calls).toEqual(['wrap', 'unwrap']);
    await start(own.database, { wrappingKeys: [first] });
    expect(first.calls).toEqual(['wrap', 'unwrap', 'unwrap']);
    await own.drop();
  });

  it('takes over from FERRY_SECRET_KEY, and hands over to another key, like any other key', async () => {
    const own = await createTestDatabase();
    const [first, second] = [kms('kms:1'), kms('kms:2')];
    await start(own.database, { key: KEY });
    const config = readConfig({ ...PRODUCTION, FERRY_SECRET_KEY: KEY });
    expect(await rewrap(config, own.database, [first])).toBe(1);
    await start(own.database, { wrappingKeys: [first] });
    expect(await rewrap(config, own.database, [second, first])).toBe(1);
    await start(own.database, { wrappingKeys: [second] });
    await expect(start(own.database, { wrappingKeys: [first] })).rejects.toThrow('kms:2');
    await own.drop();
  });
});
