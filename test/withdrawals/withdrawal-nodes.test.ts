import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { DatabaseUnavailable } from '../../src/database/failure.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { allEvents } from '../support/events.ts';
import { createWorld, type Node, never, type World } from '../support/payouts.ts';
import { rounds } from '../support/rounds.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.drop());

const WITHDRAWALS = rounds(120, 1_000);
const KILLS_MIN = rounds(8, 30);
const MEMOS = [
  '',
  '',
  '',
  '',
  'sandbox:refuse',
  'sandbox:fail',
  'sandbox:lost',
  'sandbox:timeout',
  'sandbox:twice',
  'sandbox:down',
];
const CHAINS: readonly (readonly [CryptoNetwork, string])[] = [
  ['BITCOIN', 'BTC'],
  ['ETHEREUM', 'ETH'],
  ['BASE', 'ETH'],
  ['SOLANA', 'SOL'],
];

/** Requests in flight to a rail. They arrive within its horizon or never, so the clock stands still until they have. */
const onTheirWay = new Set<Promise<unknown>>();

async function arriving<Answer>(call: Promise<Answer>): Promise<Answer> {
  const ended = call.catch(() => undefined).finally(() => onTheirWay.delete(ended));
  onTheirWay.add(ended);
  return call;
}

/** A node that works until it is killed; after that it does nothing more. */
function startNode(databases: Database[]): { kill(): void; stop(): Promise<void>; node: Node } {
  const database = world.connect();
  databases.push(database);
  const life = { isDead: false, isStopped: false };
  const alive = async (): Promise<void> => {
    if (life.isDead) await never;
  };
  const node = world.createNode({
    database,
    checkpoint: alive,
    wrapRail: (rail): Rail => ({
      ...rail,
      async submit(payment, signal) {
        await alive();
        const result = await arriving(rail.submit(payment, signal));
        await alive();
        return result;
      },
      async ask(key, signal) {
        await alive();
        const state = await rail.ask(key, signal);
        await alive();
        return state;
      },
    }),
  });
  const running = (async () => {
    while (!life.isDead && !life.isStopped) {
      const done = await Promise.race([node.worker.runDue(), sleep(150).then(() => 0)]).catch(nextTime);
      await node.notices.runDue().catch(nextTime);
      if (done === 0) await sleep(5);
    }
  })();
  return {
    node,
    kill() {
      life.isDead = true;
    },
    async stop() {
      life.isStopped = true;
      await running;
    },
  };
}

/** As the loops of a node do it: what could not get a connection is tried again. */
function nextTime(error: unknown): number {
  if (error instanceof DatabaseUnavailable) return 0;
  throw error;
}

async function createWithdrawals(profile: string): Promise<void> {
  const accounts = [await world.createAccount('wire'), await world.createAccount('cubix')];
  await Promise.all(
    Array.from({ length: WITHDRAWALS }, async (_, index) => {
      const memo = MEMOS[index % MEMOS.length]!;
      const amount = `0.${String(index + 1).padStart(4, '0')}1`;
      // Spread over some seconds, so that some are new while others are in flight.
      await sleep((index % 50) * 60);
      if (index % 3 === 0) {
        const whole = { amount: `1${index}.5`, memo };
        return world.withdrawFiat(profile, accounts[index % 2]!, whole);
      }
      const [network, asset] = CHAINS[index % CHAINS.length]!;
      return world.withdrawCrypto(profile, { asset, crypto_network: network, amount, memo });
    }),
  );
}

it('hundreds of withdrawals on three nodes that are killed at random: the rail’s record and the ledger agree', async () => {
  const profile = await world.createProfile({ USD: '10000000', BTC: '10000', ETH: '10000', SOL: '10000' });
  const databases: Database[] = [];
  const nodes = [startNode(databases), startNode(databases), startNode(databases)];
  let kills = 0;
  const creating = { isOver: false };
  const created = createWithdrawals(profile).finally(() => {
    creating.isOver = true;
  });
  // Awaited below; until then a failure must not end the whole run.
  created.catch(() => undefined);
  while (!creating.isOver || kills < KILLS_MIN) {
    await sleep(100 + Math.random() * 200);
    // A lease lasts for three of these steps, and the horizon of a rail for five.
    await Promise.all(onTheirWay);
    world.advance(12_000);
    const victim = Math.floor(Math.random() * nodes.length);
    nodes[victim]!.kill();
    nodes[victim] = startNode(databases);
    kills += 1;
  }
  await created;
  await Promise.all(nodes.map((node) => node.stop()));
  world.advance(61_000);
  await world.settle(world.createNode(), 2_000);
  await Promise.all(databases.map((database) => database.close()));

  const ended = await world.database.query<{ status: string; count: number }>(
    'select status, count(*)::integer as count from transfers group by status order by status',
  );
  expect(ended).toEqual([
    { status: 'COMPLETED', count: 0.8 * WITHDRAWALS },
    { status: 'FAILED', count: 0.2 * WITHDRAWALS },
  ]);
  // Each was requested once, and exactly those that were paid are completed, with that amount.
  const disagreements = await world.database.query(
    `select t.id, t.status, p.behaviour, p.requests, p.amount_units
     from transfers t full join sandbox_payments p on p.key = t.id::text
     where t.id is null or p.key is null or p.requests <> 1 or p.amount_units <> t.amount_units
        or (t.status = 'COMPLETED') = (p.behaviour in ('refuse', 'fail'))`,
  );
  expect(disagreements).toEqual([]);
  const sums = await world.database.query(
    `select paid.account, paid.asset, paid.units, booked.units as booked
     from (select 'clearing:' || lower(rail) as account, asset, sum(amount_units) as units from sandbox_payments
           where behaviour not in ('refuse', 'fail') group by rail, asset) as paid
     full join (select account, asset, sum(delta) as units from entries
                where account like 'clearing:%' and account <> 'clearing:test' group by account, asset) as booked
       using (account, asset)
     where paid.units is distinct from booked.units`,
  );
  expect(sums).toEqual([]);
  const told = new Map<string, number>();
  for (const { resource_id: id } of await allEvents(world.database)) told.set(id, (told.get(id) ?? 0) + 1);
  expect([...told].filter(([, count]) => count !== 2)).toEqual([]);
  await world.expectSound();
});
