import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { type Instant, NS_PER_SECOND } from '../../src/kernel/instant.ts';
import {
  type AssetBalance,
  balancesAt,
  balancesOf,
  rollUpSystemBalances,
  systemBalances,
} from '../../src/ledger/balances.ts';
import type { Command, Posting } from '../../src/ledger/command.ts';
import { createTestDatabase, liftGuards, type TestDatabase } from '../support/database.ts';
import {
  auditLines,
  available,
  fund,
  held,
  move,
  OUTSIDE,
  pay,
  startNode,
  type TestNode,
} from '../support/ledger.ts';

let test: TestDatabase;
let node: TestNode;
beforeAll(async () => {
  test = await createTestDatabase();
  node = startNode(test.address);
});
afterAll(async () => {
  expect(await auditLines(test.database)).toEqual([]);
  await node.stop();
  await test.drop();
});

/** The instant of the entries of the command. */
async function instantOf(command: Command<string>, on = node): Promise<Instant> {
  const outcome = await on.path.submit(command);
  if (outcome.replayed) throw new Error('a replay happens at no instant');
  const [entry] = await test.database.query<{ at_ns: Instant }>(
    'select at_ns from entries where cause_id = $1 limit 1',
    [outcome.answer],
  );
  return entry!.at_ns;
}

describe('balances at a past instant', () => {
  it('equal the balances of a model after each step, also when many entries share an instant', async () => {
    const [a, b, c] = [newId(), newId(), newId()];
    const usd = (from: Posting['from'], to: Posting['to'], units: bigint): Posting => ({
      asset: 'USD',
      from,
      to,
      units,
    });
    const steps: Posting[][] = [
      [usd(OUTSIDE, available(a), 1_000n)],
      [usd(available(a), available(b), 300n), usd(available(a), { account: 'fees' }, 3n)],
      [usd(available(b), held(b), 200n)],
      // The same account is credited and debited several times at one instant.
      [
        usd(available(a), available(b), 50n),
        usd(available(b), available(c), 60n),
        usd(available(c), available(a), 55n),
        usd(available(a), available(b), 1n),
      ],
      [usd(held(b), { account: 'clearing:wire' }, 150n), usd(held(b), available(b), 50n)],
      [{ asset: 'ETH', from: OUTSIDE, to: available(c), units: 10n ** 37n + 1n }],
      [
        usd(available(a), { account: 'conversion' }, 698n),
        { asset: 'ETH', from: { account: 'conversion' }, to: available(a), units: 7n },
      ],
      [usd(available(c), held(c), 5n)],
      [usd(held(c), available(c), 5n)],
    ];
    const had = new Map<string, bigint>();
    const expected = (profile: string): AssetBalance[] =>
      ['ETH', 'USD']
        .filter((asset) => had.has(`${profile}/available/${asset}`) || had.has(`${profile}/held/${asset}`))
        .map((asset) => ({
          asset,
          available: had.get(`${profile}/available/${asset}`) ?? 0n,
          held: had.get(`${profile}/held/${asset}`) ?? 0n,
        }));
    const history: { at: Instant; of: Map<string, AssetBalance[]> }[] = [];
    for (const postings of steps) {
      const at = await instantOf(move(postings));
      for (const { asset, from, to, units } of postings) {
        for (const [ref, delta] of [
          [from, -units],
          [to, units],
        ] as const) {
          if (!('profileId' in ref)) continue;
          const key = `${ref.profileId}/${ref.account}/${asset}`;
          had.set(key, (had.get(key) ?? 0n) + delta);
        }
      }
      history.push({ at, of: new Map([a, b, c].map((profile) => [profile, expected(profile)])) });
    }
    // A row that was created later reads as zero before. A row of zeros means the same as no row.
    const nonZero = (rows: AssetBalance[] | undefined): AssetBalance[] =>
      (rows ?? []).filter((row) => row.available !== 0n || row.held !== 0n);
    for (const profile of [a, b, c]) {
      for (const [index, { at, of }] of history.entries()) {
        expect(nonZero(await balancesAt(test.database, profile, at))).toEqual(nonZero(of.get(profile)));
        expect(nonZero(await balancesAt(test.database, profile, at - 1n))).toEqual(
          nonZero(history[index - 1]?.of.get(profile)),
        );
      }
      expect(await balancesAt(test.database, profile, history.at(-1)!.at)).toEqual(
        await balancesOf(test.database, profile),
      );
      expect(nonZero(await balancesAt(test.database, profile, 0n))).toEqual([]);
    }
  });

  it('distinguish the commands of one batch', async () => {
    const alice = newId();
    const instants = await Promise.all([1n, 2n, 4n, 8n].map((units) => instantOf(fund(alice, 'USD', units))));
    expect(new Set(instants).size).toBe(4);
    const seen = [];
    for (const at of instants) seen.push((await balancesAt(test.database, alice, at))[0]!.available);
    expect(seen).toEqual([1n, 3n, 7n, 15n]);
  });
});

describe('a clock that went back', () => {
  /** Stamps the last entries of the profile as a clock that is ahead would have. */
  async function shiftToFuture(profileId: string, at: Instant): Promise<void> {
    await test.database.transaction(async (tx) => {
      await liftGuards(tx);
      await tx.query(
        `update entries set at_ns = $2 where cause_id in (select cause_id from entries where owner_id = $1)`,
        [profileId, at],
      );
      await tx.query('update balances set moved_at_ns = $2 where profile_id = $1', [profileId, at]);
    });
  }

  it('leaves the entries of an account strictly ordered, on the same node and on a new one', async () => {
    const [alice, bob] = [newId(), newId()];
    const posted = await instantOf(fund(alice, 'USD', 100n));
    const future = posted + 3_600n * NS_PER_SECOND;
    await shiftToFuture(alice, future);
    const fresh = startNode(test.address);
    const instants = [
      await instantOf(pay(alice, bob, 'USD', 1n)),
      await instantOf(pay(bob, alice, 'USD', 1n), fresh),
      ...(await Promise.all([instantOf(pay(alice, bob, 'USD', 2n)), instantOf(pay(alice, bob, 'USD', 3n))])),
    ];
    await fresh.stop();
    for (const [index, at] of instants.entries()) expect(at).toBeGreaterThan(instants[index - 1] ?? future);
    const seen = [];
    for (const at of [future, ...instants])
      seen.push((await balancesAt(test.database, alice, at))[0]?.available);
    expect(seen).toEqual([100n, 99n, 100n, 98n, 95n]);
    expect(await auditLines(test.database)).toEqual([]);
  });

  it('does not move the commands of other profiles into the future', async () => {
    const own = startNode(test.address);
    const [alice, carol] = [newId(), newId()];
    const posted = await instantOf(fund(alice, 'USD', 100n), own);
    await shiftToFuture(alice, posted + 3_600n * NS_PER_SECOND);
    expect(await instantOf(fund(alice, 'USD', 1n), own)).toBeGreaterThan(posted + 3_600n * NS_PER_SECOND);
    const unrelated = await instantOf(fund(carol, 'USD', 1n), own);
    await own.stop();
    expect(unrelated).toBeLessThan(posted + 60n * NS_PER_SECOND);
  });
});

describe('the balances of the service', () => {
  it('are exact at every read while four callers roll them up and commands post', async () => {
    const alice = newId();
    await node.path.submit(fund(alice, 'USD', 1_000_000n));
    const before = new Map(
      (await systemBalances(test.database)).map((row) => [`${row.account}/${row.asset}`, row.balance]),
    );
    const done = new AbortController();
    let [accepted, folded, reads] = [0n, 0, 0];
    // Each command moves one unit into each of two accounts: a reader sees both or neither.
    const writer = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const postings: Posting[] = (['fees', 'suspense'] as const).map((account) => ({
          asset: 'USD',
          from: available(alice),
          to: { account },
          units: 1n,
        }));
        await node.path.submit(move(postings));
        accepted += 1n;
      }
    };
    const roller = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const count = await rollUpSystemBalances(test.database, 3);
        folded += count;
        await sleep(1);
      }
    };
    const grown = async (): Promise<bigint[]> => {
      const now = await systemBalances(test.database);
      return ['fees', 'suspense'].map(
        (account) =>
          (now.find((row) => row.account === account && row.asset === 'USD')?.balance ?? 0n) -
          (before.get(`${account}/USD`) ?? 0n),
      );
    };
    const reader = async (): Promise<void> => {
      let last = 0n;
      while (!done.signal.aborted) {
        const least = accepted;
        const [fees, suspense] = await grown();
        expect(suspense).toBe(fees);
        expect(fees).toBeGreaterThanOrEqual(least);
        expect(fees).toBeGreaterThanOrEqual(last);
        last = fees!;
        reads += 1;
      }
    };
    const work = Promise.all([
      ...Array.from({ length: 8 }, writer),
      ...Array.from({ length: 4 }, roller),
      reader(),
      reader(),
    ]);
    const isEnough = (): boolean => accepted > 200n && folded > 100 && reads > 50;
    for (let waited = 0; waited < 4_000 && !isEnough(); waited += 1) await Promise.race([work, sleep(25)]);
    done.abort();
    await work;
    expect(await grown()).toEqual([accepted, accepted]);
    expect(isEnough()).toBe(true);
    expect(await auditLines(test.database)).toEqual([]);
    while ((await rollUpSystemBalances(test.database, 1_000)) > 0);
    expect(await test.database.query('select * from system_deltas')).toEqual([]);
    expect(await grown()).toEqual([accepted, accepted]);
    expect(await auditLines(test.database)).toEqual([]);
    expect((await balancesOf(test.database, alice))[0]!.available).toBe(1_000_000n - 2n * accepted);
  });
});
