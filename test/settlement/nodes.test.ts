import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/database/advisory-locks.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { pay, problemOf } from '../support/ledger.ts';
import { createWorld, type LegText, type Node, type World } from './support.ts';

const DELIVER: LegText = 'deliver 10 USD';

let world: World;
let second: Node;
beforeAll(async () => {
  world = await createWorld();
  // The first node has the lead before the second one starts.
  await world.quiet();
  second = world.addNode();
});
afterAll(() => world.end());

const pair = async (units = 0n): Promise<[string, string]> => [
  await world.profile({ USD: units }),
  await world.profile(),
];

describe('two nodes', () => {
  it('a credit on another node settles within half a second, also where that node knows nothing of it', async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const [source, target] = await pair();
      const one = await world.agree(source, target, [DELIVER]);
      await world.quiet();
      await world.fund(source, 'USD', 1_000n, second);
      times.push(await world.until('SETTLED', [one]));
    }
    console.log(`credits on another node: settled after ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    expect(times.toSorted((a, b) => a - b)[2]).toBeLessThan(500);
  });

  it('an affirmation on the node that does not lead settles at once, also where its window opens a little later', async () => {
    const [source, target] = await pair(5_000n);
    const proposed = await world.propose(source, target, [DELIVER]);
    await world.affirm(proposed, second);
    expect(await world.until('SETTLED', [proposed])).toBeLessThan(2_000);
    const later = await world.propose(source, target, [DELIVER], { startMs: 150 });
    await world.affirm(later, second);
    await sleep(Number(later.windowStartNs / NS_PER_MS) - Date.now());
    expect(await world.until('SETTLED', [later])).toBeLessThan(2_000);
  });

  it('both try the same transactions at once: each settles once, and nobody waits crosswise', async () => {
    const profiles = await Promise.all(Array.from({ length: 8 }, () => world.profile({ USD: 2_000n })));
    const proposed = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        world.propose(
          profiles[index % 8]!,
          profiles[(index * 3 + 1) % 8 === index % 8 ? (index + 1) % 8 : (index * 3 + 1) % 8]!,
          [`deliver ${1 + (index % 5)} USD`],
        ),
      ),
    );
    const nodes = [world.node, second];
    await Promise.allSettled([
      ...proposed.flatMap(async (one, index) => {
        const affirmed = await world.affirm(one, nodes[index % 2]);
        for (const node of nodes) node.worker.affirmed(affirmed);
      }),
      ...proposed.map((_, index) =>
        nodes[index % 2]!.path.submit(pay(profiles[(index + 3) % 8]!, profiles[index % 8]!, 'USD', 10n)),
      ),
    ]);
    await world.until('SETTLED', proposed);
    for (const one of proposed) {
      expect((await world.eventsOf(one)).filter((type) => type === 'settled')).toHaveLength(2);
    }
    let total = 0n;
    for (const profile of profiles) total += await world.available(profile, 'USD');
    expect(total).toBe(16_000n);
  });
});

describe('wake-ups that are lost', () => {
  it('an affirmation on a node that dies right after it is found by another one', async () => {
    const deaf = world.addNode({ deaf: true });
    const [source, target] = await pair(1_000n);
    const one = await world.propose(source, target, [DELIVER]);
    await world.affirm(one, deaf);
    expect(await world.until('SETTLED', [one])).toBeLessThan(3_000);
  });

  it('a credit on a node that dies right after it is found by another one', async () => {
    const deaf = world.addNode({ deaf: true });
    const [source, target] = await pair();
    const one = await world.agree(source, target, [DELIVER]);
    await world.quiet();
    await world.fund(source, 'USD', 1_000n, deaf);
    expect(await world.until('SETTLED', [one])).toBeLessThan(3_000);
  });

  it('a node whose lead is cut off loses it, and one of them takes it up within two seconds', async () => {
    const [source, target] = await pair(1_000n);
    const one = await world.agree(source, target, [DELIVER], { startMs: 300 });
    const ended = await world.propose(source, target, [DELIVER], { endMs: 300 });
    const cut = await world.database.query(
      `select pg_terminate_backend(pid) from pg_locks
       where locktype = 'advisory' and objid = $1 and database = (select oid from pg_database where datname = current_database())`,
      [ADVISORY_LOCKS.settlementLead],
    );
    expect(cut).toHaveLength(1);
    await world.until('SETTLED', [one], 3_000);
    await world.until('EXPIRED', [ended], 3_000);
  });
});

describe('after all nodes were down', () => {
  it('what became possible meanwhile is done at the next start: affirmations, windows, credits, ends', async () => {
    const other = await createWorld();
    const [a, b] = [await other.profile({ USD: 2_000n }), await other.profile()];
    const waiting = await other.agree(b, a, ['deliver 70 USD']);
    await other.quiet();
    await other.node.worker.stop();
    const deaf = other.addNode({ deaf: true });
    const affirmed = await other.affirm(await other.propose(a, b, [DELIVER]), deaf);
    const opened = await other.affirm(await other.propose(a, b, [DELIVER], { startMs: 50 }), deaf);
    const ended = await other.propose(a, b, [DELIVER], { endMs: 60 });
    await other.fund(b, 'USD', 7_000n, deaf);
    await sleep(200);
    expect(await other.statuses([affirmed, opened, ended, waiting])).toEqual([
      'AFFIRMED',
      'AFFIRMED',
      'PENDING',
      'AFFIRMED',
    ]);
    other.addNode();
    await other.until('SETTLED', [affirmed, opened, waiting]);
    await other.until('EXPIRED', [ended]);
    // What waits is known again at once: the next credit needs no poll.
    const poor = await other.profile();
    const next = await other.agree(poor, a, ['deliver 5 USD']);
    await other.quiet();
    const last = other.addNode();
    await sleep(100);
    await other.fund(poor, 'USD', 500n, last);
    expect(await other.until('SETTLED', [next])).toBeLessThan(3_000);
    await other.end();
  });
});

describe('races', () => {
  const outcomes = async (attempts: readonly Promise<unknown>[], status: string): Promise<number> => {
    const results = await Promise.allSettled(attempts);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      const problem = await problemOf(Promise.reject(result.reason));
      expect(problem.slug).toBe('invalid-state');
      expect(problem.status).toBe(409);
      expect(['AFFIRMED', 'SETTLED', 'CANCELLED', 'EXPIRED']).toContain(problem.meta.status);
      if (status === 'CANCELLED') expect(problem.meta.status).toBe(status);
    }
    return results.filter((result) => result.status === 'fulfilled').length;
  };

  it('of ten affirms at once on two nodes one wins, and the transaction settles once', async () => {
    const [source, target] = await pair(10_000n);
    for (let round = 0; round < 10; round += 1) {
      const one = await world.propose(source, target, [DELIVER]);
      const attempts = Array.from({ length: 10 }, (_, index) =>
        world.affirm(one, index % 2 === 0 ? world.node : second),
      );
      expect(await outcomes(attempts, 'AFFIRMED')).toBe(1);
      await world.until('SETTLED', [one]);
      expect(await world.eventsOf(one)).toEqual([
        'pending',
        'pending',
        'affirmed',
        'affirmed',
        'settled',
        'settled',
      ]);
    }
    expect(await world.available(target, 'USD')).toBe(10_000n);
  });

  it('of an affirm, a cancel and the end of the window exactly one wins', async () => {
    const seen = new Map<string, number>();
    const many: { one: Settlement; attempts: Promise<unknown>[] }[] = [];
    for (let round = 0; round < 45; round += 1) {
      const [source, target] = await pair();
      const one = await world.propose(source, target, [DELIVER], { endMs: 60 });
      const inMs =
        Number(one.windowEndNs / NS_PER_MS) - Date.now() + (round % 3 === 0 ? 3 : -15) + (round % 5);
      await sleep(Math.max(0, inMs));
      const moves = [(node: Node) => world.affirm(one, node), (node: Node) => world.cancel(one, node)];
      if (round % 2 === 0) moves.reverse();
      const attempts = moves.map((move, index) => move(index === 0 ? world.node : second));
      await Promise.allSettled(attempts);
      many.push({ one, attempts });
    }
    await sleep(100);
    await world.quiet();
    for (const { one, attempts } of many) {
      const [status] = await world.statuses([one]);
      const won = await outcomes(attempts, status!);
      const events = (await world.eventsOf(one)).slice(2);
      const ends = events.filter((type) => type !== 'affirmed');
      // Without funds an affirmed transaction expires later; then the affirm won, and the cancel never.
      if (status === 'CANCELLED') expect([won, ends]).toEqual([1, ['cancelled', 'cancelled']]);
      else expect(ends).toEqual(['expired', 'expired']);
      if (won === 0) expect(events).toEqual(['expired', 'expired']);
      expect(won).toBeLessThanOrEqual(1);
      const outcome = won === 0 ? 'EXPIRED' : status === 'CANCELLED' ? 'CANCELLED' : 'AFFIRMED';
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
    expect([...seen.keys()].sort()).toEqual(['AFFIRMED', 'CANCELLED', 'EXPIRED']);
  });

  it('an id that nobody has does not hold up the others', async () => {
    const [source, target] = await pair(1_000n);
    const one = await world.propose(source, target, [DELIVER]);
    world.node.worker.affirmed({ ...one, id: newId() });
    await world.affirm(one);
    await world.until('SETTLED', [one]);
  });
});

describe('what cannot be tried', () => {
  it('a balance that somebody holds on to does not hold up transactions on others for long, and is tried again', async () => {
    const other = await createWorld();
    const [a, b, c, d] = [
      await other.profile({ USD: 1_000n }),
      await other.profile(),
      await other.profile({ USD: 1_000n }),
      await other.profile(),
    ];
    const holder = await other.database.reserve();
    await holder.query('begin');
    await holder.query(`select from balances where profile_id = $1 for update`, [a]);
    const held = await other.agree(a, b, [DELIVER]);
    await sleep(50);
    const free = await other.agree(c, d, [DELIVER]);
    await other.until('SETTLED', [free], 6_000);
    expect(await other.statuses([held])).toEqual(['AFFIRMED']);
    await holder.query('rollback');
    holder.release();
    await other.until('SETTLED', [held], 15_000);
    expect(other.node.failures.join()).toContain(held.id);
    other.node.troubles.length = 0;
    await other.end();
  });

  it('a transaction in an asset that is no longer configured does not hold up others, and neither does its end', async () => {
    const other = await createWorld();
    const [a, b] = [await other.profile({ USD: 5_000n }), await other.profile()];
    const gone = await other.propose(a, b, [DELIVER]);
    const over = await other.propose(a, b, [DELIVER]);
    await other.database.query(
      `update settlement_transactions set legs = jsonb_set(legs, '{0,asset}', '"GONE"'), status = 'AFFIRMED',
         window_start_ns = created_at_ns - 200000000000, window_end_ns = window_end_ns - case when id = $2 then 86500000000000 else 0 end
       where id = any (array[$1, $2]::uuid[])`,
      [gone.id, over.id],
    );
    await sleep(300);
    const good = await other.agree(a, b, [DELIVER]);
    const ends = await other.propose(a, b, [DELIVER], { endMs: 100 });
    await other.until('SETTLED', [good]);
    await other.until('EXPIRED', [ends]);
    expect(await other.statuses([gone, over])).toEqual(['AFFIRMED', 'AFFIRMED']);
    other.node.troubles.length = 0;
    await other.end();
  });
});
