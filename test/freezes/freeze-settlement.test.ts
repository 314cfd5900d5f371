import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freeze, lift } from '../../src/freezes/act.ts';
import { createResumeWorker } from '../../src/freezes/resume.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { resumeFrozen } from '../../src/settlement/engine-store.ts';
import { createWorld, type World } from '../settlement/settlement-world.ts';
import { problemOf } from '../support/ledger.ts';

const TESTER = cliActor('tester');

let world: World;
beforeAll(async () => {
  world = await createWorld();
  world.addNode();
});
afterAll(() => world.end());

const PLATFORM = { scope: 'PLATFORM', subjectId: null, reason: 'test', actor: TESTER } as const;
const profileOrder = (subjectId: string) => ({ ...PLATFORM, scope: 'PROFILE', subjectId }) as const;
async function liftIt({ freeze: { id } }: Awaited<ReturnType<typeof freeze>>): Promise<void> {
  await lift(world.database, id, TESTER, 'test');
  const resumer = createResumeWorker(world.database, [resumeFrozen], (error) => {
    throw error;
  });
  await resumer.runDue();
}

it.each(['source', 'target'] as const)(
  'while the %s profile is frozen, nothing is affirmed and nothing settles; lifting the freeze settles it',
  async (side) => {
    const [source, target] = [await world.profile({ USD: 5_000n }), await world.profile()];
    const proposed = await world.propose(source, target, ['deliver 10 USD']);
    const affirmed = await world.agree(source, target, ['deliver 10 USD'], { startMs: 300 });
    const frozen = await freeze(world.database, profileOrder(side === 'source' ? source : target), []);
    const problem = await problemOf(world.affirm(proposed));
    // The owner of the target learns of its own profile only.
    expect([problem.status, problem.slug]).toEqual(
      side === 'target' ? [403, 'forbidden'] : [409, 'invalid-state'],
    );
    expect(problem.message.includes('frozen')).toBe(side === 'target');
    await expect.poll(() => world.secondary(affirmed)).toMatchObject({ name: 'AWAITING_PARTY' });
    await world.quiet();
    expect(await world.statuses([affirmed])).toEqual(['AFFIRMED']);
    await liftIt(frozen);
    await world.until('SETTLED', [affirmed]);
    await world.affirm(proposed);
    await world.until('SETTLED', [proposed]);
  },
);

it('nothing settles after the answer of a freeze at a random moment of many settlements, and all settle after it', async () => {
  const [source, target] = [await world.profile({ USD: 1_000_000n }), await world.profile()];
  const agreeing = Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      await sleep((index % 20) * 15);
      for (;;) {
        const done = await world.agree(source, target, ['deliver 1 USD']).catch(() => undefined);
        if (done !== undefined) return done;
        await sleep(10);
      }
    }),
  );
  for (let round = 0; round < 3; round += 1) {
    await sleep(Math.random() * 120);
    const frozen = await freeze(world.database, round === 1 ? PLATFORM : profileOrder(target), []);
    const before = await world.available(source, 'USD');
    await sleep(100);
    expect(await world.available(source, 'USD')).toBe(before);
    await liftIt(frozen);
  }
  await world.until('SETTLED', await agreeing);
});

it('a window that ends while a party is frozen expires the transaction', async () => {
  const [source, target] = [await world.profile({ USD: 5_000n }), await world.profile()];
  const one = await world.agree(source, target, ['deliver 10 USD'], { startMs: 60_000 });
  const frozen = await freeze(world.database, profileOrder(source), []);
  await world.moveWindow(one, { startMs: -1_000, endMs: 200 });
  await world.until('EXPIRED', [one]);
  await liftIt(frozen);
});
