import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plainArray } from '../../src/database/array.ts';
import { UNITS_MAX } from '../../src/kernel/amount.ts';
import { Problem } from '../../src/kernel/problem.ts';
import type { WritePath } from '../../src/ledger/write-path.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { auditLines, available, held, startNode, type TestNode } from '../support/ledger.ts';
import { rounds } from '../support/rounds.ts';
import {
  type Act,
  accountKey,
  createModel,
  createWorld,
  differing,
  KEYS,
  MODEL_ASSETS,
  type Model,
  type Operation,
  PROFILES,
  refIdOf,
  SLOTS,
  type Submission,
  submissionOf,
  type Verdict,
  type World,
} from './ledger-model.ts';

const RUNS = rounds(15, 50);

let test: TestDatabase;
let nodes: readonly [TestNode, TestNode];
beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

const profile = fc.nat(PROFILES - 1);
const asset = fc.nat(MODEL_ASSETS.length - 1);
const slot = fc.nat(SLOTS - 1);
/** Mostly amounts of one size, so that balances run out; also the largest amounts. */
const units = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 1_000n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 21n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: UNITS_MAX / 4n, max: UNITS_MAX }) },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('fund' as const), profile, asset, units }) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('pay' as const), from: profile, to: profile, asset, units }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ring' as const),
      profiles: fc.uniqueArray(profile, { minLength: 2 }),
      asset,
      units,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('convert' as const),
      profile,
      asset,
      into: asset,
      units,
      received: units,
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('hold' as const), slot, units }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('capture' as const, 'release' as const), slot }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('broken' as const), profile }) },
);
const unwritable: fc.Arbitrary<Act> = fc.record({ kind: fc.constant('unwritable' as const), profile });

function operations(acts: fc.Arbitrary<Act>, ahead: fc.Arbitrary<boolean>): fc.Arbitrary<Operation> {
  return fc.record({ act: acts, key: fc.option(fc.nat(KEYS - 1), { nil: undefined, freq: 2 }), ahead });
}

/** Groups of commands that are submitted at once. */
function groupsOf<T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[][]> {
  const group = fc.array(item, { minLength: 1, maxLength: 40, size: 'max' });
  return fc.array(group, { minLength: 6, maxLength: 10, size: 'max' });
}

async function outcomeOf(path: WritePath, { command, causeId }: Submission): Promise<Verdict> {
  try {
    const outcome = await path.submit(command);
    if (outcome.replayed) return { kind: 'replay', resourceId: outcome.resourceId, differs: outcome.differs };
    expect(outcome.answer.causeId).toBe(causeId);
    return { kind: 'done' };
  } catch (error) {
    return error instanceof Problem ? { kind: 'refused', slugs: [error.slug] } : { kind: 'bug' };
  }
}

function expectSame(actual: Verdict, expected: Verdict): void {
  if (actual.kind === 'refused' && expected.kind === 'refused') {
    expect(expected.slugs).toContain(actual.slugs[0]);
  } else expect(actual).toEqual(expected);
}

/** The database equals the model: balances, holds, and entries of accepted commands only. */
async function expectState(
  world: World,
  model: Model,
  all: Submission[],
  done: Set<Submission>,
): Promise<void> {
  const { database } = test;
  const balances = await database.query<{
    profile_id: string;
    asset: string;
    available: bigint;
    held: bigint;
  }>('select profile_id, asset, available, held from balances where profile_id = any ($1::uuid[])', [
    plainArray(world.profiles),
  ]);
  const stored = new Map<string, bigint>();
  for (const row of balances) {
    stored.set(accountKey(row.asset, available(row.profile_id)), row.available);
    stored.set(accountKey(row.asset, held(row.profile_id)), row.held);
  }
  for (const owner of world.profiles) {
    for (const code of MODEL_ASSETS) {
      for (const key of [accountKey(code, available(owner)), accountKey(code, held(owner))]) {
        expect(stored.get(key) ?? 0n, key).toBe(model.accounts.get(key) ?? 0n);
      }
    }
  }
  const holds = await database.query<{ id: string; units: bigint; status: string }>(
    'select id, balance_units as units, status from transfers where id = any ($1::uuid[])',
    [plainArray(world.holds)],
  );
  expect(
    new Map(holds.map((hold) => [world.holds.indexOf(hold.id), { units: hold.units, status: hold.status }])),
  ).toEqual(model.holds);
  const causes = await database.query<{ cause_id: string }>(
    'select distinct cause_id from entries where cause_id = any ($1::uuid[])',
    [plainArray(all.map(({ causeId }) => causeId))],
  );
  expect(new Set(causes.map((row) => row.cause_id))).toEqual(
    new Set([...done].map(({ causeId }) => causeId)),
  );
}

async function expectKeys(world: World, keys: Model['keys']): Promise<void> {
  const rows = await test.database.query<{ ref_id: string; resource_id: string }>(
    'select ref_id, resource_id from idempotency_keys where customer_id = $1',
    [world.customerId],
  );
  expect(new Map(rows.map((row) => [row.ref_id, row.resource_id]))).toEqual(
    new Map([...keys].map(([key, { resourceId }]) => [refIdOf(key), resourceId])),
  );
}

it('one node decides every command like an in-memory ledger that executes them one by one', async () => {
  const counts = { commands: 0, done: 0, replay: 0, refused: 0, bug: 0 };
  await fc.assert(
    fc.asyncProperty(
      groupsOf(
        operations(
          fc.oneof({ weight: 40, arbitrary: act }, { weight: 1, arbitrary: unwritable }),
          fc.constant(false),
        ),
      ),
      async (groups) => {
        const world = createWorld();
        const model = createModel(world);
        const all: Submission[] = [];
        const done = new Set<Submission>();
        for (const group of groups) {
          const submissions = group.map((operation) => submissionOf(world, operation));
          const outcomes = await Promise.all(submissions.map((one) => outcomeOf(nodes[0].path, one)));
          for (const [index, submission] of submissions.entries()) {
            expectSame(outcomes[index]!, model.submit(submission, true));
            if (outcomes[index]!.kind === 'done') done.add(submission);
            counts[outcomes[index]!.kind] += 1;
            counts.commands += 1;
          }
          all.push(...submissions);
        }
        await expectState(world, model, all, done);
        await expectKeys(world, model.keys);
        expect(await auditLines(test.database)).toEqual([]);
      },
    ),
    { numRuns: RUNS },
  );
  // The test is only useful if each kind of answer is common.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS);
});

/** Every key was accepted at most once, and later callers got that acceptance as their answer. */
function expectKeysOnce(decided: readonly { submission: Submission; outcome: Verdict }[]): Model['keys'] {
  const firsts = new Map<number, { resourceId: string; request: Submission['request'] }>();
  for (const { submission, outcome } of decided) {
    const { key } = submission.operation;
    if (key === undefined || outcome.kind !== 'done') continue;
    expect(firsts.has(key)).toBe(false);
    firsts.set(key, { resourceId: submission.causeId, request: submission.request });
  }
  for (const { submission, outcome } of decided) {
    if (outcome.kind !== 'replay') continue;
    const first = firsts.get(submission.operation.key!)!;
    expect(outcome.resourceId).toBe(first.resourceId);
    expect(outcome.differs).toEqual(differing(first.request, submission.request));
  }
  return firsts;
}

type Decided = { readonly submission: Submission; readonly outcome: Verdict };

/**
 * Entries of one balance are strictly ordered in time, so the instants of concurrent commands are an order in
 * which the accepted ones could have happened. A refused command writes nothing; it was refused because of a state that was
 * committed by then, so that state must exist at some point of that order.
 */
function expectInSomeOrder(model: Model, together: readonly Decided[]): void {
  const done = together
    .filter(({ outcome }) => outcome.kind === 'done')
    .sort((a, b) => (a.submission.decidedAt()! < b.submission.decidedAt()! ? -1 : 1));
  const unexplained = new Set(
    together.filter(({ outcome: { kind } }) => kind === 'refused' || kind === 'bug'),
  );
  const explain = (): void => {
    for (const one of unexplained) {
      const { outcome } = one;
      const expected = model.consider(one.submission);
      const isSame =
        outcome.kind === 'refused' && expected.kind === 'refused'
          ? expected.slugs.includes(outcome.slugs[0]!)
          : outcome.kind === expected.kind;
      if (isSame) unexplained.delete(one);
    }
  };
  explain();
  for (const { submission, outcome } of done) {
    expectSame(outcome, model.submit(submission, false));
    explain();
  }
  expect([...unexplained].map(({ submission, outcome }) => [submission.operation, outcome])).toEqual([]);
}

it('two nodes together decide like one node that executes the commands one by one', async () => {
  // Most take the optimistic lane and often fail there, since both nodes use the same balances.
  const ahead = fc.integer({ min: 0, max: 3 }).map((value) => value > 0);
  const onEither = fc.record({ operation: operations(act, ahead), node: fc.nat(1) });
  const counts = { commands: 0, done: 0, replay: 0, refused: 0, bug: 0 };
  await fc.assert(
    fc.asyncProperty(groupsOf(onEither), async (groups) => {
      const world = createWorld();
      const model = createModel(world);
      const decided: Decided[] = [];
      for (const group of groups) {
        const together = await Promise.all(
          group.map(async ({ operation, node }) => {
            const submission = submissionOf(world, operation);
            return { submission, outcome: await outcomeOf(nodes[node]!.path, submission) };
          }),
        );
        expectInSomeOrder(model, together);
        decided.push(...together);
      }
      const keys = expectKeysOnce(decided);
      for (const { outcome } of decided) counts[outcome.kind] += 1;
      counts.commands += decided.length;
      const done = decided
        .filter(({ outcome }) => outcome.kind === 'done')
        .map(({ submission }) => submission);
      await expectState(
        world,
        model,
        decided.map(({ submission }) => submission),
        new Set(done),
      );
      await expectKeys(world, keys);
      expect(await auditLines(test.database)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(RUNS);
});
