import { afterAll, expect, it } from 'vitest';
import { createFerry, toUnits } from '../../packages/client/src/index.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { makeDataDir, removeDataDir, sandboxOf, startFerry } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';

const dataDir = makeDataDir();
afterAll(() => removeDataDir(dataDir));

const CALLS = rounds(400, 10_000);
const CALLERS = 16;
const KILLS = 3;

it('makes one transfer per call although answers are cut off, refused and lost, and the service is killed', async () => {
  let ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
  const proxy = await startBadProxy(ferry.url);
  const [customer, counterparty] = sandboxOf(dataDir).customers;
  const client = createFerry({
    baseUrl: proxy.url,
    clientId: customer!.client_id,
    clientSecret: customer!.client_secret,
    deadlineMs: 300_000,
  });
  const from = customer!.profiles[0]!.id;
  const to = counterparty!.profiles[0]!.id;
  const before = await client.getBalance({ id: from, asset: 'USD' });

  const ids = new Set<string>();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < CALLS) {
      const call = next++;
      const transfer = await client.createPlatformTransfer({
        from_profile_id: from,
        to_profile_id: to,
        asset: 'USD',
        amount: '0.01',
        metadata: { call: String(call) },
      });
      ids.add(transfer.id);
    }
  };
  /** Each time when a part of the calls has been made. */
  const killer = async (): Promise<void> => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await expect
        .poll(() => next, { timeout: 600_000 })
        .toBeGreaterThanOrEqual((CALLS * kill) / (KILLS + 1));
      await ferry.end('SIGKILL');
      ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
      proxy.target = ferry.url;
    }
  };
  await Promise.all([killer(), ...Array.from({ length: CALLERS }, caller)]);

  expect(ids.size).toBe(CALLS);
  const made = new Map<string, number>();
  for await (const { metadata } of client.listTransfers({
    type: ['PLATFORM_TRANSFER_DEBIT'],
    limit: 1_000,
  })) {
    if (metadata?.call !== undefined) made.set(metadata.call, (made.get(metadata.call) ?? 0) + 1);
  }
  expect([...made.values()].filter((times) => times !== 1)).toEqual([]);
  expect(made.size).toBe(CALLS);
  const after = await client.getBalance({ id: from, asset: 'USD' });
  expect(toUnits(before.available, 2) - toUnits(after.available, 2)).toBe(BigInt(CALLS));
  expect(proxy.failures['cut off']).toBeGreaterThan(CALLS / 10);
  expect(proxy.failures.refused).toBeGreaterThan(CALLS / 10);
  await proxy.close();
  await ferry.end('SIGTERM');
}, 1_800_000);
