import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADVISORY_LOCKS } from '../../src/database/advisory-locks.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { pay } from '../support/ledger.ts';
import { createWorld, type LegText, type Node, type World } from './settlement-world.ts';

const DELIVER: LegText = 'deliver 10 USD';
const LATER = { startMs: 3_600_000 };

let world: World;
let second: Node;
beforeAll(async () => {
  world = await createWorld();
  second = world.addNode();
});
afterAll(() => world.end(ENTRY_CHECKS));

const pair = async (units = 0n): Promise<[string, string]> => [
  await world.profile({ USD: units }),
  await world.profile(),
];

describe('two nodes', () => {
  it('a credit on one node settles what waits for it, even if that node has not seen the transaction', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [source, target] = await pair();
      const one = await world.agree(source, target, [DELIVER]);
      await world.quiet();
      await world.fund(source, 'USD', 1_000n, second);
      await world.until('SETTLED', [one]);
    }
  });

  it('both try the same transactions at once: each settles once, without a deadlock', async () => {
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

describe('a lost wake-up', () => {
  it('an affirmation on a node that dies right after it is found by another node', async () => {
    const deaf = world.addNode({ deaf: true });
    const [source, target] = await pair(1_000n);
    const one = await world.propose(source, target, [DELIVER]);
    await world.affirm(one, deaf);
    await world.until('SETTLED', [one]);
  });

  it('a credit on a node that dies right after it is found by another node', async () => {
    const deaf = world.addNode({ deaf: true });
    const [source, target] = await pair();
    const one = await world.agree(source, target, [DELIVER]);
    await world.quiet();
    await world.fund(source, 'USD', 1_000n, deaf);
    await world.until('SETTLED', [one]);
  });
});

it('a leader whose connection is cut loses the lead, and a node takes over', async () => {
  const [source, target] = await pair(1_000n);
  const opened = await world.agree(source, target, [DELIVER], LATER);
  const ended = await world.propose(source, target, [DELIVER]);
  const held = `from pg_locks where locktype = 'advisory' and objid = $1 and granted
    and database = (select oid from pg_database where datname = current_database())`;
  const leaders = () => world.database.query(`select pid ${held}`, [ADVISORY_LOCKS.settlementLead]);
  await expect.poll(leaders).toHaveLength(1);
  await world.database.query(`select pg_terminate_backend(pid) ${held}`, [ADVISORY_LOCKS.settlementLead]);
  await world.moveWindow(opened, { startMs: 0 });
  await world.moveWindow(ended, { endMs: 1 });
  await world.until('SETTLED', [opened]);
  await world.until('EXPIRED', [ended]);
});

it('what became possible while all nodes were down happens at the next start', async () => {
  const other = await createWorld();
  const [a, b] = [await other.profile({ USD: 2_000n }), await other.profile()];
  const waiting = await other.agree(b, a, ['deliver 70 USD']);
  await other.quiet();
  await other.node.worker.stop();
  const deaf = other.addNode({ deaf: true });
  const affirmed = await other.affirm(await other.propose(a, b, [DELIVER]), deaf);
  const opened = await other.affirm(await other.propose(a, b, [DELIVER], { startMs: 50 }), deaf);
  const ended = await other.propose(a, b, [DELIVER], { endMs: 1 });
  await other.fund(b, 'USD', 7_000n, deaf);
  expect(await other.statuses([affirmed, opened, ended, waiting])).toEqual([
    'AFFIRMED',
    'AFFIRMED',
    'PENDING',
    'AFFIRMED',
  ]);
  other.addNode();
  await other.until('SETTLED', [affirmed, opened, waiting]);
  await other.until('EXPIRED', [ended]);
  await other.end(ENTRY_CHECKS);
});

it('a worker that was stopped can be started again, and leads again', async () => {
  const other = await createWorld();
  await other.node.worker.stop();
  await other.node.worker.stop();
  const [a, b] = [await other.profile({ USD: 1_000n }), await other.profile()];
  const one = await other.agree(a, b, [DELIVER]);
  other.node.worker.start();
  expect(() => other.node.worker.start()).toThrow('cannot go from RUNNING to RUNNING');
  await other.until('SETTLED', [one]);
  await other.end(ENTRY_CHECKS);
});
