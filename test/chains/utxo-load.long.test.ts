import { randomInt } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transactionFrom } from '../../src/chains/utxo/transaction.ts';
import {
  createUtxoWorld,
  hasLitecoind,
  payee,
  type UtxoNode,
  type UtxoWorld,
} from '../support/utxo-world.ts';

/** Many withdrawals from one wallet, while keepers on three nodes die at random checkpoints: judged by the chain. */

const isLong = process.env.FERRY_TEST_LONG !== undefined;
const WITHDRAWALS = Number(process.env.FERRY_TEST_WITHDRAWALS ?? (isLong ? 300 : 30));
/** They arrive in groups, so that there are many transactions. */
const PER_ROUND = Math.ceil(WITHDRAWALS / (isLong ? 50 : 10));
const LEASE_MS = 100;
/** A keeper dies at one of the next checkpoints of all of them. */
const CHECKPOINTS_BETWEEN_KILLS = 40;

/** Calls to the node while it is switched on: those of the service, not those of the test. */
function createCounter(port: string) {
  let calls = 0;
  let isOn = false;
  const count = (message: unknown): void => {
    const { origin } = (message as { request: { origin: string } }).request;
    if (isOn && origin.endsWith(`:${port}`)) calls += 1;
  };
  subscribe('undici:request:create', count);
  return {
    calls: () => calls,
    async during<Value>(work: () => Promise<Value>): Promise<Value> {
      isOn = true;
      return work().finally(() => {
        isOn = false;
      });
    },
    stop: () => unsubscribe('undici:request:create', count),
  };
}

describe.runIf(hasLitecoind)(`${WITHDRAWALS} withdrawals from one wallet`, () => {
  let world: UtxoWorld;
  let kills = 0;
  let untilKill = 1;

  beforeAll(async () => {
    world = await createUtxoWorld(30);
    await Promise.all([...world.node.keepers, world.node.scanner].map(async (one) => one.stop()));
  });
  afterAll(() => world?.drop());

  type Mortal = { readonly node: UtxoNode; isDead: boolean };

  async function createMortal(): Promise<Mortal> {
    const mortal: { node?: UtxoNode; isDead: boolean } = { isDead: false };
    mortal.node = await world.createNode({
      leaseMs: LEASE_MS,
      async checkpoint() {
        if (!mortal.isDead) untilKill -= 1;
        if (untilKill === 0) {
          untilKill = randomInt(1, CHECKPOINTS_BETWEEN_KILLS);
          mortal.isDead = true;
          kills += 1;
        }
        if (mortal.isDead) throw new Error('killed');
      },
    });
    return mortal as Mortal;
  }

  /** The chain changes its mind now and then, and the node forgets what waits for a block. */
  async function nextBlock(round: number): Promise<void> {
    await world.chain.mine(1);
    if (round % 9 === 4) {
      await world.takeBack(1);
      await world.mineEmpty();
      await world.chain.mine(1);
    }
    if (round % 25 === 12) await world.chain.restart();
  }

  const pending = async (): Promise<number> => {
    const [row] = await world.database.query<{ count: number }>(
      `select count(*)::integer as count from transfers where status = 'PENDING'`,
    );
    return row!.count;
  };

  /** Which assignments have signed for a coin, of those that are not proven dead. */
  async function spenders(): Promise<Map<string, Set<string>>> {
    const rows = await world.database.query<{ id: string; bytes: string }>(
      `select a.id, v.bytes from chain_assignments a join chain_versions v on v.assignment_id = a.id
       where a.state <> 'SUPERSEDED'`,
    );
    const found = new Map<string, Set<string>>();
    for (const { id, bytes } of rows)
      for (const { txHash, output } of transactionFrom(bytes).inputs) {
        const coin = `${txHash}:${output}`;
        found.set(coin, (found.get(coin) ?? new Set()).add(id));
      }
    return found;
  }

  it('are on the chain once each, no coin is spent twice, and the books agree to the unit', async () => {
    const counter = createCounter(new URL(world.chain.settings.url).port);
    const profileId = await world.createProfile({ LTC: '500' });
    const to = Array.from({ length: WITHDRAWALS }, (_, index) => payee(index));
    const nodes = await Promise.all([createMortal(), createMortal(), createMortal()]);
    const startMs = performance.now();
    let made = 0;
    for (let round = 0; made < WITHDRAWALS || (await pending()) > 0; round += 1) {
      const group = to.slice(made, made + PER_ROUND);
      for (const { address } of group) await world.withdraw(profileId, 'LTC', '0.1', address);
      made += group.length;
      await counter.during(() => Promise.allSettled(nodes.map(({ node }) => world.turn(node))));
      for (const [index, { isDead }] of nodes.entries()) if (isDead) nodes[index] = await createMortal();
      await nextBlock(round);
      if (round > 1_000) throw new Error(`${await pending()} withdrawals do not end`);
    }
    const perWithdrawalMs = (performance.now() - startMs) / WITHDRAWALS;
    counter.stop();
    const paid = await world.paid(to.map(({ local }) => local));
    expect([...paid.values()].filter((units) => units.length !== 1 || units[0] !== 10_000_000n)).toEqual([]);
    expect([...(await spenders())].filter(([, ids]) => ids.size > 1)).toEqual([]);
    const outcomes = await world.database.query<{ status: string; count: number }>(
      `select status, count(*)::integer as count from transfers group by status`,
    );
    expect(outcomes).toEqual([{ status: 'COMPLETED', count: WITHDRAWALS }]);
    expect(kills).toBeGreaterThan(0);
    await world.expectBooked();
    console.info(
      `${WITHDRAWALS} withdrawals, ${kills} kills: ${(counter.calls() / WITHDRAWALS).toFixed(1)} calls to the node and ${perWithdrawalMs.toFixed(0)} ms per withdrawal`,
    );
  });
});
