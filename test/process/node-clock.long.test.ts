import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FerryProcess, sandboxOf, startFerry, tokenFrom } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';

/** Two nodes on one database. The wall clock of the first one, which leads settlement, is wrong. */
const PRELOAD = resolve(import.meta.dirname, '../support/wrong-clock.ts');
const FERRY = resolve(import.meta.dirname, '../../bin/ferry.js');

const CLOCKS: (readonly [string, number])[] = [
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
];

describe.each(CLOCKS.slice(0, rounds(1, 2)))('a node whose wall clock is %s', (_title, shiftMs) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'ferry-clock-'));
  let test: TestDatabase;
  let wrong: FerryProcess;
  let right: FerryProcess;
  let tokens: string[] = [];
  beforeAll(async () => {
    test = await createTestDatabase();
    const address = test.address as { socketDir: string; user: string; database: string };
    const env = {
      DATABASE_URL: `postgres:///${address.database}?host=${address.socketDir}&user=${address.user}`,
      FERRY_DATA_DIR: dataDir,
      FERRY_PUBLIC_URL: 'http://pay.example',
      FERRY_SANDBOX_SPEED: '36000',
    };
    wrong = await startFerry({ ...env, TEST_CLOCK_SHIFT_MS: String(shiftMs) }, [
      '--import',
      PRELOAD,
      FERRY,
      'serve',
    ]);
    right = await startFerry(env);
    tokens = await Promise.all([wrong, right].map((node) => tokenFrom(node.url, customer())));
  });
  afterAll(async () => {
    await Promise.all([wrong, right].map((node) => node.end('SIGTERM')));
    await test.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const customer = () => sandboxOf(dataDir).customers[0]!;

  async function call(node: FerryProcess, method: string, path: string, body?: object, token = tokens[0]!) {
    const response = await fetch(node.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  async function statusOf(path: string): Promise<string> {
    return (await call(right, 'GET', path)).body.status;
  }

  /** Started on one node, observed on the other: a window that opens, one that ends, and a withdrawal. */
  async function everythingGoesOn(node: FerryProcess): Promise<void> {
    const [source, target] = customer().profiles.map(({ id }) => id);
    const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
    const propose = async (window: object): Promise<string | undefined> => {
      const made = await call(node, 'POST', '/v2/settlement/transactions', {
        source_profile_id: source,
        target_profile_id: target,
        legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
        ...window,
      });
      return made.status === 200 ? `/v2/settlement/transactions/${made.body.id}` : undefined;
    };
    const opens = (await propose({
      settlement_window_start: inMs(500),
      settlement_window_end: inMs(600_000),
    }))!;
    expect((await call(node, 'PUT', `${opens}/affirm`)).status).toBe(200);
    // The end must still be in the future when the request arrives, however slow the machine is.
    let ends: string | undefined;
    for (let inTheEndMs = 500; ends === undefined && inTheEndMs < 100_000; inTheEndMs *= 2) {
      ends = await propose({ settlement_window_end: inMs(inTheEndMs) });
    }
    const paid = await call(node, 'POST', '/v2/transfer/crypto-withdrawals', {
      profile_id: source,
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      amount: '0.01',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    });
    expect(paid.status).toBe(200);
    await expect.poll(() => statusOf(opens)).toBe('SETTLED');
    await expect.poll(() => statusOf(ends!)).toBe('EXPIRED');
    await expect.poll(() => statusOf(`/v2/transfer/transfers/${paid.body.id}`)).toBe('COMPLETED');
  }

  it('issues tokens that are valid on all nodes, and accepts theirs', async () => {
    for (const token of tokens) {
      for (const node of [wrong, right]) {
        expect((await call(node, 'GET', '/v2/profiles', undefined, token)).status).toBe(200);
      }
    }
  });

  it('does its share of the work, before and after its clock is corrected', async () => {
    await everythingGoesOn(wrong);
    await everythingGoesOn(right);
    wrong.child.kill('SIGUSR2');
    await everythingGoesOn(wrong);
    await everythingGoesOn(right);
    for (const token of tokens) {
      expect((await call(wrong, 'GET', '/v2/profiles', undefined, token)).status).toBe(200);
    }
  });
});
