import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainArray } from '../../src/database/array.ts';
import { newId } from '../../src/kernel/id.ts';
import { heldProfiles } from '../../src/profiles/store.ts';
import { AWAITING_PARTY } from '../../src/settlement/effects.ts';
import { awaitPartyCommand } from '../../src/settlement/engine/commands.ts';
import { settlements } from '../../src/settlement/store.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { problemOf } from '../support/ledger.ts';
import { rounds } from '../support/rounds.ts';
import { createWorld, engineTables, type LegText, type Node, type World } from './settlement-world.ts';

/** While a profile is disabled, none of its transactions can be affirmed or settle. */
const DELIVER: LegText = 'deliver 10 USD';

let world: World;
let second: Node;
beforeAll(async () => {
  world = await createWorld();
  second = world.addNode();
});
afterAll(() => world.end());

const pair = async (units = 1_000n): Promise<[string, string]> => [
  await world.profile({ USD: units }),
  await world.profile(),
];

const LATER = { startMs: 3_600_000 };
/** The windows of these open now. */
async function openWindows(many: readonly Settlement[]): Promise<void> {
  await world.database.query(
    'update settlement_transactions set window_start_ns = created_at_ns where id = any ($1::uuid[])',
    [plainArray(many.map(({ id }) => id))],
  );
}

/** The engine is idle, and the transactions have not settled. */
async function expectWaiting(many: readonly Settlement[]): Promise<void> {
  await world.quiet();
  expect(await world.statuses(many)).toEqual(many.map(() => 'AFFIRMED'));
  for (const one of many) {
    expect(await world.secondary(one)).toEqual({
      name: 'AWAITING_PARTY',
      detail: 'A party to the transaction cannot settle at the moment.',
    });
  }
}

describe.each(['source', 'target'] as const)('while the %s profile is disabled', (side) => {
  const choose = ([source, target]: [string, string]): string => (side === 'source' ? source : target);

  it('its transactions cannot be affirmed until it is enabled', async () => {
    const profiles = await pair();
    const one = await world.propose(...profiles, [DELIVER]);
    await world.setProfile(choose(profiles), 'disabled');
    const problem = await problemOf(world.affirm(one));
    // The owner of the target affirms: it is told about its own profile only.
    expect([problem.status, problem.slug, problem.meta]).toEqual(
      side === 'target'
        ? [403, 'forbidden', { profile_id: choose(profiles) }]
        : [409, 'invalid-state', { status: 'PENDING' }],
    );
    if (side === 'source') expect(problem.message).not.toMatch(choose(profiles));
    expect(await world.statuses([one])).toEqual(['PENDING']);
    expect(await world.eventsOf(one)).toEqual(['pending', 'pending']);
    await world.setProfile(choose(profiles), 'enabled');
    await world.affirm(one);
    await world.until('SETTLED', [one]);
  });

  it('a pending one can be cancelled', async () => {
    const profiles = await pair();
    const one = await world.propose(...profiles, [DELIVER]);
    await world.setProfile(choose(profiles), 'disabled');
    await world.cancel(one);
    expect(await world.statuses([one])).toEqual(['CANCELLED']);
  });

  it('one that waits for funds does not settle when they arrive, and settles once the profile is enabled', async () => {
    const profiles = await pair(0n);
    const one = await world.agree(...profiles, [DELIVER]);
    await world.quiet();
    expect((await world.secondary(one))!.name).toBe('AWAITING_FUNDS');
    await world.setProfile(choose(profiles), 'disabled');
    // Shown at once, before it is tried again.
    expect((await world.secondary(one))!.name).toBe('AWAITING_PARTY');
    await world.fund(profiles[0], 'USD', 1_000n);
    await expectWaiting([one]);
    expect(await world.available(profiles[0], 'USD')).toBe(1_000n);
    await world.setProfile(choose(profiles), 'enabled');
    await world.until('SETTLED', [one]);
    expect(await world.eventsOf(one)).toEqual([
      'pending',
      'pending',
      'affirmed',
      'affirmed',
      'settled',
      'settled',
    ]);
  });

  it('one whose window opens meanwhile waits, and shows afterwards what it lacks', async () => {
    const profiles = await pair(400n);
    const one = await world.agree(...profiles, [DELIVER], LATER);
    await world.setProfile(choose(profiles), 'disabled');
    await openWindows([one]);
    await expectWaiting([one]);
    await world.setProfile(choose(profiles), 'enabled');
    await world.quiet();
    expect((await world.secondary(one))!.name).toBe('AWAITING_FUNDS');
    await world.fund(profiles[0], 'USD', 600n);
    await world.until('SETTLED', [one]);
  });

  it('one expires at the end of its window, and stays expired', async () => {
    const profiles = await pair(0n);
    const one = await world.agree(...profiles, [DELIVER]);
    await world.setProfile(choose(profiles), 'disabled');
    await world.fund(profiles[0], 'USD', 1_000n);
    await world.moveWindow(one, { endMs: 1 });
    await world.until('EXPIRED', [one]);
    await world.setProfile(choose(profiles), 'enabled');
    await world.quiet();
    expect(await world.statuses([one])).toEqual(['EXPIRED']);
    expect(await world.available(profiles[0], 'USD')).toBe(1_000n);
  });

  it('one whose legs cancel each other out does not settle either', async () => {
    const profiles = await pair(0n);
    const one = await world.agree(...profiles, ['deliver 7 BTC', 'receive 7 BTC'], LATER);
    await world.setProfile(choose(profiles), 'disabled');
    await openWindows([one]);
    await expectWaiting([one]);
    await world.setProfile(choose(profiles), 'enabled');
    await world.until('SETTLED', [one]);
  });
});

it('when both are disabled, both have to be enabled', async () => {
  const [source, target] = await pair(0n);
  const one = await world.agree(source, target, [DELIVER]);
  await world.setProfile(source, 'disabled');
  await world.setProfile(target, 'disabled');
  await world.fund(source, 'USD', 1_000n);
  await expectWaiting([one]);
  await world.setProfile(source, 'enabled');
  await expectWaiting([one]);
  await world.setProfile(target, 'enabled');
  await world.until('SETTLED', [one]);
});

describe('sets that only net together', () => {
  it('wait for a member whose profile is disabled, and settle once it is enabled', async () => {
    const profiles = await Promise.all(Array.from({ length: 4 }, () => world.profile()));
    const ring: Settlement[] = [];
    for (const [index, source] of profiles.entries()) {
      ring.push(await world.propose(source, profiles[(index + 1) % 4]!, [DELIVER]));
    }
    for (const one of ring.slice(0, 3)) await world.affirm(one);
    await world.quiet();
    await world.setProfile(profiles[1]!, 'disabled');
    await world.affirm(ring[3]!);
    await world.quiet();
    expect(await world.statuses(ring)).toEqual(Array(4).fill('AFFIRMED'));
    await world.setProfile(profiles[1]!, 'enabled');
    await world.until('SETTLED', ring);
  });

  it('settle without it if they net without it', async () => {
    const [a, b, c] = [await world.profile(), await world.profile(), await world.profile()];
    const blocked = await world.agree(a, c, ['deliver 5 USD']);
    const there = await world.propose(a, b, [DELIVER]);
    const back = await world.propose(b, a, [DELIVER]);
    await world.setProfile(c, 'disabled');
    await world.affirm(there);
    await world.affirm(back);
    await world.until('SETTLED', [there, back]);
    expect(await world.statuses([blocked])).toEqual(['AFFIRMED']);
    await world.setProfile(c, 'enabled');
  });
});

it('hundreds that wait for a disabled profile cause no work, and do not keep others from settling', async () => {
  const hub = await world.profile();
  const [rich, poor] = [await world.profile({ USD: 100_000n }), await world.profile()];
  const blocked: Settlement[] = [];
  const later = Array.from({ length: 300 }, () => world.propose(rich, hub, ['deliver 1 USD'], LATER));
  for (const one of await Promise.all(later)) blocked.push(await world.affirm(one));
  await world.setProfile(hub, 'disabled');
  await openWindows(blocked);
  await world.quiet();
  const updates = async (): Promise<bigint> => {
    const [row] = await world.database.query<{ count: bigint }>(
      `select sum(updated_at_ns) as count from settlement_transactions where target_profile_id = $1`,
      [hub],
    );
    return row!.count;
  };
  const before = await updates();
  // In gridlock with each other, around a profile with hundreds that are older.
  const there = await world.agree(poor, rich, ['deliver 2000 USD']);
  const back = await world.agree(rich, poor, ['deliver 1999 USD']);
  await world.fund(poor, 'USD', 100n);
  await world.until('SETTLED', [there, back]);
  await sleep(300);
  expect(await updates()).toBe(before);
  await world.setProfile(hub, 'enabled');
  await world.until('SETTLED', blocked);
});

describe('races', () => {
  /** No engine runs until a node is added. */
  async function withoutEngine(): Promise<World> {
    const other = await createWorld();
    await other.node.worker.stop();
    return other;
  }
  const secondaryOf = async (other: World, { id }: Settlement): Promise<string | undefined> => {
    const [row] = await other.database.query<{ name: string | null }>(
      `select secondary_status ->> 'name' as name from settlement_transactions where id = $1`,
      [id],
    );
    return row!.name ?? undefined;
  };

  it('enabling a profile waits for a transaction that is being recorded as waiting for it, and then wakes it', async () => {
    const other = await withoutEngine();
    const [source, target] = [await other.profile({ USD: 1_000n }), await other.profile()];
    const one = await other.agree(source, target, [DELIVER]);
    await other.setProfile(source, 'disabled');
    const recording = await other.database.reserve();
    await recording.query('begin');
    const seen = await heldProfiles.load!(recording, [source, target]);
    expect(seen.get(source)!.status).toBe('DISABLED');
    const enabling = other.setProfile(source, 'enabled');
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => other.database.query(waiting), { interval: 5 }).toHaveLength(1);
    await settlements.write!(recording, [{ ...one, secondaryStatus: AWAITING_PARTY }], newId());
    await recording.query('commit');
    recording.release();
    await enabling;
    expect(await secondaryOf(other, one)).toBeUndefined();
    other.addNode();
    await other.until('SETTLED', [one]);
    await other.end();
  });

  it('one that is no longer blocked when it is recorded as waiting is tried again', async () => {
    const other = await withoutEngine();
    const [source, target] = [await other.profile(), await other.profile()];
    const one = await other.agree(source, target, [DELIVER]);
    const submit = () => other.node.path.submit(awaitPartyCommand([one], engineTables));
    await other.setProfile(target, 'disabled');
    await submit();
    expect(await secondaryOf(other, one)).toBe('AWAITING_PARTY');
    expect(await submit()).toMatchObject({ answer: [] });
    // Enabled without a wake-up.
    await other.database.query(`update profiles set status = 'ACTIVE' where id = $1`, [target]);
    await submit();
    expect(await secondaryOf(other, one)).toBeUndefined();
    await other.end();
  });

  it('nothing of a profile settles once it is reported as disabled, however busy the nodes are', async () => {
    const [source, target] = await pair(1_000_000n);
    const proposed = await Promise.all(
      Array.from({ length: 60 }, () => world.propose(source, target, ['deliver 1 USD'])),
    );
    const affirmed = Promise.allSettled(
      proposed.map((one, index) => world.affirm(one, index % 2 === 0 ? world.node : second)),
    );
    await sleep(20);
    await world.setProfile(target, 'disabled');
    const atOnce = await world.available(target, 'USD');
    await affirmed;
    await world.quiet();
    await sleep(300);
    expect(await world.available(target, 'USD')).toBe(atOnce);
    await world.setProfile(target, 'enabled');
    const open = (await world.statuses(proposed)).map((status, index) => [status, proposed[index]!] as const);
    for (const [status, one] of open) if (status === 'PENDING') await world.affirm(one);
    await world.until('SETTLED', proposed);
    expect(await world.available(target, 'USD')).toBe(6_000n);
  });

  it('no transaction is forgotten when a profile is disabled and enabled repeatedly while funds arrive', async () => {
    for (let round = 0; round < rounds(5, 15); round += 1) {
      const [source, target] = await pair(0n);
      const many = [
        await world.agree(source, target, [DELIVER]),
        await world.agree(source, target, ['deliver 3 USD', 'receive 3 USD'], { startMs: 20 }),
        await world.agree(source, target, ['deliver 5 USD']),
      ];
      const party = round % 2 === 0 ? source : target;
      const flip = (async () => {
        for (let turn = 0; turn < 6; turn += 1) {
          await world.setProfile(party, turn % 2 === 0 ? 'disabled' : 'enabled');
          await sleep(Math.random() * 15);
        }
      })();
      for (let part = 0; part < 6; part += 1) {
        await world.fund(source, 'USD', 250n, part % 2 === 0 ? world.node : second);
        await sleep(Math.random() * 15);
      }
      await flip;
      await world.until('SETTLED', many);
    }
  });
});
