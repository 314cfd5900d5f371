import { afterAll, beforeAll, expect, it } from 'vitest';
import { problemOf } from '../support/ledger.ts';
import { createWorld, type LegText, type Node, type World } from './settlement-world.ts';

const DELIVER: LegText = 'deliver 10 USD';

let world: World;
let second: Node;
beforeAll(async () => {
  world = await createWorld();
  second = world.addNode();
});
afterAll(() => world.end());

const pair = async (units = 0n): Promise<[string, string]> => [
  await world.profile({ USD: units }),
  await world.profile(),
];

/** How many of the attempts succeeded; the others were refused with the status that they met. */
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

/** An affirm and a cancel on two nodes, with the end of the window that many milliseconds ahead. Returns the winner. */
async function race(round: number, endMs: number): Promise<string> {
  const [source, target] = await pair();
  const proposed = await world.propose(source, target, [DELIVER]);
  const one = await world.moveWindow(proposed, { endMs });
  const moves = [(node: Node) => world.affirm(one, node), (node: Node) => world.cancel(one, node)];
  if (round % 2 === 0) moves.reverse();
  const attempts = moves.map((move, index) => move(index === 0 ? world.node : second));
  const won = await outcomes(attempts, 'any');
  expect(won).toBeLessThanOrEqual(1);
  const [status] = await world.statuses([one]);
  // Without funds an affirmed transaction expires as well, but later.
  if (status !== 'CANCELLED') await world.until('EXPIRED', [one]);
  const events = (await world.eventsOf(one)).slice(2);
  const end = status === 'CANCELLED' ? 'cancelled' : 'expired';
  const affirmed = won === 1 && status !== 'CANCELLED' ? ['affirmed', 'affirmed'] : [];
  expect(events).toEqual([...affirmed, end, end]);
  if (won === 0) return 'EXPIRED';
  return status === 'CANCELLED' ? 'CANCELLED' : 'AFFIRMED';
}

it('of an affirm, a cancel and the end of the window exactly one wins', async () => {
  const seen = new Map<string, number>();
  // The end adapts to the machine until it is a close race: nearer after an action has won, later after it has not.
  let endMs = 20;
  for (let round = 0; round < 40 || (seen.size < 3 && round < 400); round += 1) {
    const won = await race(round, endMs);
    seen.set(won, (seen.get(won) ?? 0) + 1);
    endMs = won === 'EXPIRED' ? endMs + 5 : Math.max(0, endMs - 3);
  }
  expect([...seen.keys()].sort()).toEqual(['AFFIRMED', 'CANCELLED', 'EXPIRED']);
});
