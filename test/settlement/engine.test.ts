import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { LIMITS } from '../../src/limits.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { pay } from '../support/ledger.ts';
import { createWorld, type LegText, type World } from './settlement-world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end(ENTRY_CHECKS));

const DELIVER: LegText = 'deliver 10 USD';

async function ring(size: number, amount = '10'): Promise<Settlement[]> {
  const profiles = await Promise.all(Array.from({ length: size }, () => world.profile()));
  const many: Settlement[] = [];
  for (const [index, source] of profiles.entries()) {
    many.push(await world.propose(source, profiles[(index + 1) % size]!, [`deliver ${amount} USD`]));
  }
  return many;
}

const affirmAll = async (many: readonly Settlement[]): Promise<void> => {
  for (const one of many) await world.affirm(one);
};

describe('settling', () => {
  it('moves all legs at once, sends both parties an event, and writes entries that name the transaction', async () => {
    const [source, target] = [await world.profile({ USD: 1_000n }), await world.profile({ BTC: 5n })];
    const one = await world.agree(source, target, ['deliver 10 USD', 'receive 0.00000005 BTC']);
    await world.until('SETTLED', [one]);
    expect(await world.available(source, 'USD')).toBe(0n);
    expect(await world.available(target, 'USD')).toBe(1_000n);
    expect(await world.available(source, 'BTC')).toBe(5n);
    expect(await world.eventsOf(one)).toEqual([
      'pending',
      'pending',
      'affirmed',
      'affirmed',
      'settled',
      'settled',
    ]);
    const [row] = await world.database.query<{ entries: bigint; instants: bigint; at_ns: bigint }>(
      `select count(*) as entries, count(distinct at_ns) as instants, max(at_ns) as at_ns from entries where cause_id = $1`,
      [one.id],
    );
    expect(row).toMatchObject({ entries: 4n, instants: 1n });
    const [settled] = await world.database.query<{ updated_at_ns: bigint; secondary_status: unknown }>(
      'select updated_at_ns, secondary_status from settlement_transactions where id = $1',
      [one.id],
    );
    expect(settled).toEqual({ updated_at_ns: row!.at_ns, secondary_status: null });
  });

  it('settles none of the legs when one is not covered, and reports which side lacks how much of which asset', async () => {
    const [source, target] = [await world.profile({ USD: 400n }), await world.profile()];
    const one = await world.agree(source, target, ['deliver 10 USD', 'receive 0.5 BTC', 'deliver 1 ETH']);
    await world.quiet();
    expect(await world.statuses([one])).toEqual(['AFFIRMED']);
    expect(await world.available(source, 'USD')).toBe(400n);
    expect(await world.secondary(one)).toEqual({
      name: 'AWAITING_FUNDS',
      detail:
        `The source profile ${source} lacks 6 USD: it has 4 of 10 USD. ` +
        `The target profile ${target} lacks BTC. ` +
        `The source profile ${source} lacks 1 ETH: it has 0 of 1 ETH.`,
    });
    // The other party reads its own figures, and none of this one.
    expect((await world.secondary(one, one.targetCustomerId))!.detail).toBe(
      `The source profile ${source} lacks USD. ` +
        `The target profile ${target} lacks 0.5 BTC: it has 0 of 0.5 BTC. ` +
        `The source profile ${source} lacks ETH.`,
    );
    const [stored] = await world.database.query<{ detail: string }>(
      `select secondary_status ->> 'detail' as detail from settlement_transactions where id = $1`,
      [one.id],
    );
    expect(stored!.detail).not.toMatch(/ has /);
    await world.fund(source, 'USD', 600n);
    await world.fund(target, 'BTC', 50_000_000n);
    await world.quiet();
    expect((await world.secondary(one))!.detail).toBe(
      `The source profile ${source} lacks 1 ETH: it has 0 of 1 ETH.`,
    );
    // Including what was spent since it was tried.
    await world.node.path.submit(pay(source, target, 'USD', 300n));
    expect((await world.secondary(one))!.detail).toMatch(
      /^The source profile \S+ lacks 3 USD: it has 7 of 10 USD\. /,
    );
    await world.fund(source, 'USD', 300n);
    await world.fund(source, 'ETH', 10n ** 18n);
    await world.until('SETTLED', [one]);
    expect(await world.secondary(one)).toBeUndefined();
    // Waiting causes no event, however often it was tried.
    expect(new Set(await world.eventsOf(one))).toEqual(new Set(['pending', 'affirmed', 'settled']));
  });

  it('needs only the difference of legs that go both ways in one asset', async () => {
    const [source, target] = [await world.profile({ USD: 100n }), await world.profile()];
    const one = await world.agree(source, target, ['deliver 10 USD', 'receive 9 USD']);
    await world.until('SETTLED', [one]);
    expect(await world.available(target, 'USD')).toBe(100n);
    const even = await world.agree(source, target, ['deliver 7 BTC', 'receive 7 BTC']);
    await world.until('SETTLED', [even]);
  });

  it('settles many in small groups, so that other commands do not wait for all of them', async () => {
    const [source, target] = [await world.profile(), await world.profile()];
    const count = 4 * LIMITS.settlementChunkMax;
    const many = await Promise.all(
      Array.from({ length: count }, () => world.agree(source, target, ['deliver 1 USD'])),
    );
    await world.quiet();
    await world.fund(source, 'USD', BigInt(count) * 100n);
    await world.until('SETTLED', many);
    // Everything that one command settles has the same instant.
    const commands = await world.database.query<{ count: number }>(
      `select count(*)::integer as count from settlement_transactions where source_profile_id = $1
       group by updated_at_ns`,
      [source],
    );
    for (const command of commands) expect(command.count).toBeLessThanOrEqual(LIMITS.settlementChunkMax);
  });

  it('settles a hundred legs', async () => {
    const [source, target] = [await world.profile({ USD: 1_000n }), await world.profile()];
    const legs = Array.from(
      { length: 100 },
      (_, index): LegText => `${index % 2 === 0 ? 'deliver' : 'receive'} 0.1 USD`,
    );
    await world.until('SETTLED', [await world.agree(source, target, legs)]);
  });

  it('never goes below zero when transfers spend the funds meanwhile, and settles what the rest covers', async () => {
    const [source, target, other] = [
      await world.profile({ USD: 1_000n }),
      await world.profile(),
      await world.profile(),
    ];
    const many = await Promise.all(
      Array.from({ length: 20 }, () => world.propose(source, target, ['deliver 1 USD'])),
    );
    await Promise.allSettled([
      ...many.map((one) => world.affirm(one)),
      ...Array.from({ length: 10 }, () => world.node.path.submit(pay(source, other, 'USD', 60n))),
    ]);
    await world.quiet();
    const settled = (await world.statuses(many)).filter((status) => status === 'SETTLED').length;
    const left = await world.available(source, 'USD');
    expect(left).toBeGreaterThanOrEqual(0n);
    expect(left).toBeLessThan(100n);
    expect(BigInt(settled) * 100n).toBe(await world.available(target, 'USD'));
  });

  it('settles a transaction once, although many events wake the engine for it', async () => {
    const [source, target] = [await world.profile(), await world.profile()];
    const one = await world.agree(source, target, [DELIVER]);
    await Promise.all(Array.from({ length: 50 }, () => world.fund(source, 'USD', 100n)));
    await world.until('SETTLED', [one]);
    await world.quiet();
    expect(await world.available(target, 'USD')).toBe(1_000n);
    expect((await world.eventsOf(one)).filter((type) => type === 'settled')).toHaveLength(2);
  });
});

describe('windows', () => {
  it('settles nothing before the start, and everything after it', async () => {
    const [source, target] = [await world.profile({ USD: 1_000n }), await world.profile()];
    const later = await world.agree(source, target, [DELIVER], { startMs: 3_600_000 });
    await world.quiet();
    await sleep(300);
    expect(await world.statuses([later])).toEqual(['AFFIRMED']);
    const one = await world.moveWindow(later, { startMs: 200 });
    await world.until('SETTLED', [one]);
    const [entry] = await world.database.query<{ at_ns: bigint }>(
      'select at_ns from entries where cause_id = $1',
      [one.id],
    );
    expect(entry!.at_ns).toBeGreaterThanOrEqual(one.windowStartNs);
  });

  it('expires what is not settled by the end, affirmed or not, with an event to each party', async () => {
    const [source, target] = [await world.profile(), await world.profile()];
    const pending = await world.propose(source, target, [DELIVER], { endMs: 250 });
    const affirmed = await world.agree(source, target, [DELIVER], { endMs: 250 });
    await world.until('EXPIRED', [pending, affirmed]);
    await world.fund(source, 'USD', 5_000n);
    await sleep(100);
    expect(await world.statuses([pending, affirmed])).toEqual(['EXPIRED', 'EXPIRED']);
    expect(await world.eventsOf(pending)).toEqual(['pending', 'pending', 'expired', 'expired']);
    expect((await world.eventsOf(affirmed)).slice(-2)).toEqual(['expired', 'expired']);
    expect(await world.secondary(affirmed)).toBeUndefined();
    expect(await world.available(source, 'USD')).toBe(5_000n);
  });

  it('never settles at or after the end, however close to it the funds arrive', async () => {
    const many: Settlement[] = [];
    const funding: Promise<void>[] = [];
    for (let index = 0; index < 20; index += 1) {
      const [source, target] = [await world.profile(), await world.profile()];
      const one = await world.agree(source, target, [DELIVER], { endMs: 500 });
      many.push(one);
      const inMs = Number(one.windowEndNs / NS_PER_MS) - Date.now() + (index - 10);
      funding.push(sleep(Math.max(0, inMs)).then(() => world.fund(source, 'USD', 1_000n)));
    }
    await Promise.all(funding);
    await sleep(50);
    await world.quiet();
    for (const [index, status] of (await world.statuses(many)).entries()) {
      const one = many[index]!;
      const entries = await world.database.query<{ at_ns: bigint }>(
        'select at_ns from entries where cause_id = $1',
        [one.id],
      );
      expect(entries.length > 0).toBe(status === 'SETTLED');
      for (const { at_ns } of entries) expect(at_ns).toBeLessThan(one.windowEndNs);
      expect(['SETTLED', 'EXPIRED']).toContain(status);
    }
  });
});

describe('gridlock', () => {
  it('two that offset each other settle without any funds', async () => {
    const [a, b] = [await world.profile(), await world.profile()];
    const there = await world.agree(a, b, [DELIVER]);
    await world.quiet();
    expect(await world.statuses([there])).toEqual(['AFFIRMED']);
    const back = await world.agree(b, a, [DELIVER]);
    await world.until('SETTLED', [there, back]);
    const rows = await world.database.query<{ at_ns: bigint }>(
      'select distinct at_ns from entries where cause_id = any (array[$1, $2]::uuid[])',
      [there.id, back.id],
    );
    expect(rows).toHaveLength(1);
  });

  it.each([5, 50])('a ring of %i settles when the last one is affirmed', async (size) => {
    const many = await ring(size);
    await affirmAll(many.slice(1));
    await world.quiet();
    expect(new Set(await world.statuses(many.slice(1)))).toEqual(new Set(['AFFIRMED']));
    await world.affirm(many[0]!);
    await world.until('SETTLED', many);
  });

  it('a ring settles when all windows open at one instant', async () => {
    const profiles = await Promise.all(Array.from({ length: 10 }, () => world.profile()));
    const many: Settlement[] = [];
    for (const [index, source] of profiles.entries()) {
      many.push(await world.agree(source, profiles[(index + 1) % 10]!, [DELIVER], { startMs: 500 }));
    }
    await world.until('SETTLED', many);
  });

  it('a ring settles, and a transaction outside it that lacks funds waits', async () => {
    const many = await ring(5);
    const outsider = await world.agree(many[2]!.sourceProfileId, await world.profile(), ['deliver 1 USD']);
    await affirmAll(many);
    await world.until('SETTLED', many);
    await world.quiet();
    expect(await world.statuses([outsider])).toEqual(['AFFIRMED']);
  });

  it('the newest is left out if the rest can settle without it', async () => {
    const [a, b, c] = [await world.profile(), await world.profile(), await world.profile()];
    const many = [
      await world.propose(a, b, [DELIVER]),
      await world.propose(b, c, [DELIVER]),
      await world.propose(c, a, [DELIVER]),
    ];
    const newest = await world.propose(a, c, [DELIVER]);
    await affirmAll([newest, ...many]);
    await world.until('SETTLED', many);
    await world.quiet();
    expect(await world.statuses([newest])).toEqual(['AFFIRMED']);
  });

  it('a credit below the whole sum settles a set that needs only the difference', async () => {
    const [a, b] = [await world.profile(), await world.profile()];
    const many = [await world.agree(a, b, ['deliver 100 USD']), await world.agree(b, a, ['deliver 97 USD'])];
    await world.fund(a, 'USD', 299n);
    await world.quiet();
    expect(await world.statuses(many)).toEqual(['AFFIRMED', 'AFFIRMED']);
    await world.fund(a, 'USD', 1n);
    await world.until('SETTLED', many);
  });

  it('the proceeds of one transaction let the next one settle, along a chain of thirty', async () => {
    const profiles = await Promise.all(Array.from({ length: 31 }, () => world.profile()));
    const many: Settlement[] = [];
    for (let index = 29; index >= 0; index -= 1) {
      many.push(await world.agree(profiles[index]!, profiles[index + 1]!, [DELIVER]));
    }
    await world.fund(profiles[0]!, 'USD', 1_000n);
    await world.until('SETTLED', many);
    expect(await world.available(profiles[30]!, 'USD')).toBe(1_000n);
  });
});

describe('without polling', () => {
  it('an affirmation, a credit on either profile and a window that opens soon make a transaction settle', async () => {
    const other = await createWorld({ leaderless: true });
    const [rich, poor, third] = [
      await other.profile({ USD: 2_000n }),
      await other.profile(),
      await other.profile(),
    ];
    await other.until('SETTLED', [await other.agree(rich, third, [DELIVER])]);
    const source = await other.agree(poor, third, [DELIVER]);
    await other.quiet();
    await other.fund(poor, 'USD', 1_000n);
    await other.until('SETTLED', [source]);
    const target = await other.agree(poor, rich, ['receive 1 BTC']);
    await other.quiet();
    await other.fund(rich, 'BTC', 10n ** 8n);
    await other.until('SETTLED', [target]);
    await other.until('SETTLED', [await other.agree(rich, third, [DELIVER], { startMs: 150 })]);
    await other.end(ENTRY_CHECKS);
  });

  it('an affirmation on a second node makes a transaction settle there', async () => {
    const other = await createWorld({ leaderless: true });
    const second = other.addNode();
    const [source, target] = [await other.profile({ USD: 2_000n }), await other.profile()];
    for (const window of [{}, { startMs: 150 }]) {
      const one = await other.propose(source, target, [DELIVER], window);
      await other.affirm(one, second);
      await other.until('SETTLED', [one]);
    }
    await other.end(ENTRY_CHECKS);
  });
});
