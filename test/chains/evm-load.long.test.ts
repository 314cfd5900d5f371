import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { inParallel } from '../../src/kernel/parallel.ts';
import { createProduction, type Production } from '../support/evm-production.ts';
import type { FerryProcess } from '../support/process.ts';
import { type RpcProxy, startProxy } from '../support/rpc-proxy.ts';
import { until } from '../support/until.ts';

/** Many withdrawals over one lane, while three service processes are killed with SIGKILL at random: judged by the chain. */

const WITHDRAWALS = Number(process.env.FERRY_TEST_WITHDRAWALS ?? 60);
const AMOUNT = '0.01';
const UNITS = 10n ** 16n;
const BLOCK_MS = 250;
const KILL_MS_MIN = 2_000;
const KILL_MS_MAX = 8_000;
const CLIENTS = 4;

describe(`${WITHDRAWALS} withdrawals over one lane of three nodes`, () => {
  let production: Production;
  let proxy: RpcProxy;
  const nodes: FerryProcess[] = [];
  let kills = 0;
  const over = new AbortController();

  beforeAll(async () => {
    production = await createProduction({
      coins: 1_000n,
      rail: { in_flight_max: 64 },
      async urls(anvil) {
        proxy = await startProxy(anvil.url);
        return [proxy.url];
      },
      command: () => ({ args: [join(import.meta.dirname, 'processes/mortal-node.ts')], env: {} }),
    });
    nodes.push(production.running.node, await production.startAnother(), await production.startAnother());
  });
  afterAll(async () => {
    for (const { child } of nodes) if (child.exitCode === null) child.kill('SIGKILL');
    await production?.remove();
    await proxy?.stop();
  });

  async function mine(): Promise<void> {
    while (!over.signal.aborted) {
      await production.anvil.mine();
      await sleep(BLOCK_MS);
    }
  }

  async function kill(): Promise<void> {
    while (!over.signal.aborted) {
      await sleep(randomInt(KILL_MS_MIN, KILL_MS_MAX));
      const index = randomInt(nodes.length);
      await nodes[index]!.end('SIGKILL');
      kills += 1;
      nodes[index] = await production.startAnother();
      production.running.node = nodes[index];
    }
  }

  /** A client repeats its request with the same id until a node has answered it. */
  async function request(refId: string): Promise<{ id: string; to: string }> {
    let made: { id: string; to: string } | undefined;
    await until('a node accepts the withdrawal', async () => {
      made = await production.withdraw('ETH', AMOUNT, refId, nodes[randomInt(nodes.length)]!.url);
      return true;
    });
    return made!;
  }

  async function states(): Promise<Record<string, number>> {
    const rows = await production.query<{ status: string; count: number }>(
      `select status, count(*)::integer as count from transfers where type = 'CRYPTO_WITHDRAWAL' group by status`,
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  /** Waits as long as there is progress. */
  async function allCompleted(already = 0): Promise<void> {
    let done = already;
    await until(
      'more withdrawals are completed',
      async () => {
        done = (await states()).COMPLETED ?? 0;
        return done > already;
      },
      500,
    );
    if (done < WITHDRAWALS) await allCompleted(done);
  }

  it('are on the chain once each, the nonces have no gap, and wallet and ledger are equal to the unit', async () => {
    const { anvil, lane } = production;
    const before = proxy.calls.length;
    const startMs = performance.now();
    const background = [mine(), kill()];
    const made: { id: string; to: string }[] = [];
    const refIds = Array.from({ length: WITHDRAWALS }, newId);
    await inParallel(refIds, CLIENTS, async (refId) => void made.push(await request(refId)));
    await allCompleted();
    const elapsedMs = performance.now() - startMs;
    over.abort();
    await Promise.all(background);
    const calls = proxy.calls.length - before;

    expect(await states()).toEqual({ COMPLETED: WITHDRAWALS });
    for (const { to } of made) expect(await anvil.balance(to)).toBe(UNITS);
    const slots = await production.query<{ slot: string }>('select slot from chain_assignments');
    const nonces = slots.map(({ slot }) => Number(slot)).sort((a, b) => a - b);
    expect(nonces).toEqual(Array.from({ length: WITHDRAWALS }, (_, index) => index));
    expect(Number(await anvil.call('eth_getTransactionCount', [lane, 'latest']))).toBe(WITHDRAWALS);
    expect(kills).toBeGreaterThan(0);
    await production.expectBooked();
    await production.expectSound();
    console.info(
      `${WITHDRAWALS} withdrawals, ${kills} kills: ${(calls / WITHDRAWALS).toFixed(1)} calls to the node and ${(elapsedMs / WITHDRAWALS).toFixed(0)} ms per withdrawal`,
    );
  });
});
