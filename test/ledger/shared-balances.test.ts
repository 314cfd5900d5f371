import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import type { Posting } from '../../src/ledger/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  auditLines,
  available,
  fund,
  held,
  move,
  OUTSIDE,
  startNode,
  type TestNode,
} from '../support/ledger.ts';

const WRITERS = 32;
const COMMANDS_EACH = 40;

let test: TestDatabase;
let nodes: TestNode[];
beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
});
beforeEach(() => {
  for (const { path } of nodes) path.troubles.length = 0;
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

type Tally = { accepted: number; refused: number; changes: Map<string, bigint> };

/** Both nodes at once, each with its writers. A writer sends its next command after the answer to the previous one. */
async function writeOnBoth(nextPostings: () => Posting[]): Promise<Tally> {
  const tally: Tally = { accepted: 0, refused: 0, changes: new Map() };
  const change = (ref: Posting['from'], units: bigint): void => {
    if (!('profileId' in ref)) return;
    const key = `${ref.profileId}/${ref.account}`;
    tally.changes.set(key, (tally.changes.get(key) ?? 0n) + units);
  };
  const writer = async ({ path }: TestNode): Promise<void> => {
    for (let count = 0; count < COMMANDS_EACH; count += 1) {
      const postings = nextPostings();
      try {
        await path.submit(move(postings));
        tally.accepted += 1;
        for (const { from, to, units } of postings) {
          change(from, -units);
          change(to, units);
        }
      } catch (error) {
        if (!(error instanceof Problem && error.slug === 'insufficient-funds')) throw error;
        tally.refused += 1;
      }
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: WRITERS }, () => writer(node))));
  return tally;
}

async function expectBalances(profiles: readonly string[], funded: bigint, tally: Tally): Promise<void> {
  for (const profile of profiles) {
    const [balance] = await balancesOf(test.database, profile);
    expect(balance).toEqual({
      asset: 'USD',
      available: funded + (tally.changes.get(`${profile}/available`) ?? 0n),
      held: tally.changes.get(`${profile}/held`) ?? 0n,
    });
    expect(balance!.available).toBeGreaterThanOrEqual(0n);
  }
}

function troubles(): string[] {
  return nodes.flatMap(({ path }) => path.troubles);
}

describe('two nodes with 32 writers each', () => {
  it('lose no update on ten accounts that all of them use, and never deadlock', async () => {
    const profiles = Array.from({ length: 10 }, newId);
    for (const profile of profiles) await nodes[0]!.path.submit(fund(profile, 'USD', 2_000n));
    const tally = await writeOnBoth(() => {
      // Several accounts in any order: locks taken in the order of the postings would soon deadlock.
      const start = random(10);
      const step = 1 + random(9);
      const hops = 1 + random(3);
      return Array.from({ length: hops }, (_, hop) => ({
        asset: 'USD',
        from: available(profiles[(start + hop * step) % 10]!),
        to: available(profiles[(start + (hop + 1) * step) % 10]!),
        units: BigInt(1 + random(900)),
      }));
    });
    expect(tally.accepted + tally.refused).toBe(2 * WRITERS * COMMANDS_EACH);
    expect(tally.refused).toBeGreaterThan(0);
    expect(troubles()).toEqual([]);
    await expectBalances(profiles, 2_000n, tally);
    expect(await auditLines(test.database)).toEqual([]);
  });

  it('share one hot account without overspending it', async () => {
    const hot = newId();
    await nodes[0]!.path.submit(fund(hot, 'USD', 5_000n));
    const tally = await writeOnBoth(() => {
      const units = BigInt(1 + random(200));
      const [from, to] = random(5) < 3 ? [available(hot), OUTSIDE] : [OUTSIDE, available(hot)];
      return [{ asset: 'USD', from, to, units }];
    });
    expect(tally.refused).toBeGreaterThan(0);
    expect(troubles()).toEqual([]);
    await expectBalances([hot], 5_000n, tally);
    const [entries] = await test.database.query<{ count: bigint; instants: bigint; lowest: bigint }>(
      `select count(*) as count, count(distinct at_ns) as instants, min(balance_after) as lowest
       from entries where owner_id = $1 and account = 'available'`,
      [hot],
    );
    expect(entries!.count).toBe(BigInt(tally.accepted + 1));
    expect(entries!.instants).toBe(entries!.count);
    expect(entries!.lowest).toBeGreaterThanOrEqual(0n);
    expect(await auditLines(test.database)).toEqual([]);
  });

  it('hold from one account at once, and together never hold more than its balance', async () => {
    const owner = newId();
    await nodes[0]!.path.submit(fund(owner, 'USD', 10_000n));
    const tally = await writeOnBoth(() => [
      { asset: 'USD', from: available(owner), to: held(owner), units: 7n },
    ]);
    expect(tally.accepted).toBe(1_428);
    await expectBalances([owner], 10_000n, tally);
    await nodes[1]!.path.submit(
      move([{ asset: 'USD', from: held(owner), to: available(owner), units: 9_996n }]),
    );
    expect(await auditLines(test.database)).toEqual([]);
  });

  it('create the balances of new profiles at the same time', async () => {
    const profiles = Array.from({ length: 200 }, newId);
    const both = nodes.flatMap(({ path }) =>
      profiles.toSorted(() => Math.random() - 0.5).map((profile) => path.submit(fund(profile, 'BTC', 21n))),
    );
    await Promise.all(both);
    expect(troubles()).toEqual([]);
    for (const profile of profiles) {
      expect(await balancesOf(test.database, profile)).toEqual([{ asset: 'BTC', available: 42n, held: 0n }]);
    }
    expect(await auditLines(test.database)).toEqual([]);
  });
});
