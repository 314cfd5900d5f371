import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { plainArray } from '../../src/database/array.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import type { Command } from '../../src/ledger/command.ts';
import { allOrNone, PartRefused } from '../../src/ledger/group.ts';
import type { Ended, WritePath } from '../../src/ledger/write-path.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { auditLines, available, fund, move, startNode, type TestNode } from '../support/ledger.ts';
import { rounds } from '../support/rounds.ts';

/** Single commands, many at once, and all or none, mixed on two nodes, beside a model of maps. */
let test: TestDatabase;
let nodes: readonly TestNode[];
beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

const PROFILES = 4;
const START_UNITS = 500;
const REFS = 40;

type Order = { readonly ref: number; readonly from: number; readonly to: number; readonly units: number };
type Act = {
  readonly kind: 'single' | 'each' | 'all';
  readonly orders: readonly Order[];
  readonly node: number;
};

const order = fc.record({
  ref: fc.nat(REFS - 1),
  from: fc.nat(PROFILES - 1),
  to: fc.nat(PROFILES - 1),
  units: fc.integer({ min: 1, max: 300 }),
});
const orders = fc.uniqueArray(
  order.filter(({ from, to }) => from !== to),
  { minLength: 1, maxLength: 8, selector: ({ ref }) => ref },
);
const act: fc.Arbitrary<Act> = fc
  .record({
    kind: fc.constantFrom('single' as const, 'each' as const, 'all' as const),
    orders,
    node: fc.nat(1),
  })
  .map((one) => (one.kind === 'single' ? { ...one, orders: one.orders.slice(0, 1) } : one));

type World = { readonly customerId: string; readonly profiles: readonly string[] };

async function createWorld(): Promise<World> {
  const profiles = Array.from({ length: PROFILES }, newId);
  for (const id of profiles) await nodes[0]!.path.submit(fund(id, 'USD', BigInt(START_UNITS)));
  return { customerId: newId(), profiles };
}

function commandOf({ customerId, profiles }: World, { ref, from, to, units }: Order): Command<string> {
  const [source, target] = [available(profiles[from]!), available(profiles[to]!)];
  const request = { from, to, units };
  const posting = { asset: 'USD', from: source, to: target, units: BigInt(units) };
  return { ...move([posting], { customerId, refId: `ref-${ref}`, request }), customerId, optimistic: true };
}

type Verdict = 'done' | 'replay' | 'differs' | 'poor' | 'undone' | 'undecided';

function verdictOf(ended: Ended<string>): Verdict {
  if ('outcome' in ended) {
    if (!ended.outcome.replayed) return 'done';
    return ended.outcome.differs.length === 0 ? 'replay' : 'differs';
  }
  const { error } = ended;
  if (error instanceof Problem && error.slug === 'insufficient-funds') return 'poor';
  if (error instanceof Problem && error.slug === 'unavailable') return 'undecided';
  throw error;
}

async function allTogether(path: WritePath, commands: readonly Command<string>[]): Promise<Verdict[]> {
  const failed = (part: number, verdict: Verdict): Verdict[] =>
    commands.map((_, index) => (index === part ? verdict : 'undone'));
  try {
    const outcome = await path.submit(allOrNone(commands));
    if (outcome.replayed) return failed(outcome.part!, 'differs');
    return outcome.answer.map((one) => verdictOf({ outcome: one }));
  } catch (error) {
    if (error instanceof PartRefused) return failed(error.part, verdictOf({ error: error.problem }));
    return commands.map(() => verdictOf({ error }));
  }
}

/** Sends it to its node. What is undecided is repeated, on the other node, until it is decided. */
async function perform(world: World, { kind, orders: asked, node }: Act): Promise<Verdict[]> {
  for (let attempt = 0; ; attempt += 1) {
    const { path } = nodes[(node + attempt) % nodes.length]!;
    const commands = asked.map((one) => commandOf(world, one));
    const verdicts =
      kind === 'all'
        ? await allTogether(path, commands)
        : await path.submitAll(commands).then(
            (ended) => ended.map(verdictOf),
            (error: unknown) => commands.map(() => verdictOf({ error })),
          );
    if (!verdicts.includes('undecided')) return verdicts;
    if (attempt > 1_000) throw new Error('still undecided');
    await new Promise((resume) => setTimeout(resume, 5));
  }
}

/** What exists afterwards: by ref, the order that was executed. */
type Model = { readonly balances: number[]; readonly made: Map<number, Order> };

const isSame = (one: Order, other: Order): boolean =>
  one.from === other.from && one.to === other.to && one.units === other.units;

function execute(model: Model, one: Order): Verdict {
  const existing = model.made.get(one.ref);
  if (existing !== undefined) return isSame(existing, one) ? 'replay' : 'differs';
  if (model.balances[one.from]! < one.units) return 'poor';
  model.balances[one.from]! -= one.units;
  model.balances[one.to]! += one.units;
  model.made.set(one.ref, one);
  return 'done';
}

function executeAll(model: Model, asked: readonly Order[]): Verdict[] {
  const [balances, made] = [[...model.balances], new Map(model.made)];
  const trial = { balances, made };
  for (const [part, one] of asked.entries()) {
    const verdict = execute(trial, one);
    if (verdict === 'done' || verdict === 'replay') continue;
    return asked.map((_, index) => (index === part ? verdict : 'undone'));
  }
  return asked.map((one) => execute(model, one));
}

/** Commands that are submitted together may be executed in any order, so the model follows what the service did. */
function follow(model: Model, asked: readonly Order[], verdicts: readonly Verdict[]): void {
  const before = [...model.balances];
  const spent = (from: number): number =>
    asked.reduce((sum, one) => sum + (one.from === from ? one.units : 0), 0);
  for (const [index, one] of asked.entries()) {
    const existing = model.made.get(one.ref);
    const verdict = verdicts[index]!;
    if (existing !== undefined) expect(verdict).toBe(isSame(existing, one) ? 'replay' : 'differs');
    else if (verdict === 'poor') expect(before[one.from]! - spent(one.from)).toBeLessThan(0);
    else expect(verdict).toBe('done');
  }
  for (const [index, one] of asked.entries()) {
    if (verdicts[index] !== 'done') continue;
    model.balances[one.from]! -= one.units;
    model.balances[one.to]! += one.units;
    model.made.set(one.ref, one);
  }
  expect(model.balances.every((units) => units >= 0)).toBe(true);
}

async function storedBalances({ profiles }: World): Promise<number[]> {
  const rows = await test.database.query<{ id: string; available: bigint }>(
    `select profile_id as id, available from balances where asset = 'USD' and profile_id = any ($1::uuid[])`,
    [plainArray(profiles)],
  );
  return profiles.map((id) => Number(rows.find((row) => row.id === id)!.available));
}

async function storedRefs({ customerId }: World): Promise<Set<number>> {
  const rows = await test.database.query<{ ref: string }>(
    'select ref_id as ref from idempotency_keys where customer_id = $1',
    [customerId],
  );
  return new Set(rows.map(({ ref }) => Number(ref.slice('ref-'.length))));
}

it('one after the other, they do what the model does', async () => {
  const scripts = fc.array(act, { minLength: 10, maxLength: 25, size: 'max' });
  await fc.assert(
    fc.asyncProperty(scripts, async (acts) => {
      const world = await createWorld();
      const model: Model = { balances: Array<number>(PROFILES).fill(START_UNITS), made: new Map() };
      for (const one of acts) {
        const verdicts = await perform(world, one);
        if (one.kind === 'all') expect(verdicts).toEqual(executeAll(model, one.orders));
        else follow(model, one.orders, verdicts);
      }
      expect(await storedBalances(world)).toEqual(model.balances);
      expect(await storedRefs(world)).toEqual(new Set(model.made.keys()));
    }),
    { numRuns: rounds(15, 100) },
  );
  expect(await auditLines(test.database)).toEqual([]);
}, 600_000);

/** Ends a random connection of the nodes a few times, as a failover does. */
async function endConnections(): Promise<void> {
  for (let count = 0; count < 8; count += 1) {
    await test.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`,
    );
    await new Promise((resume) => setTimeout(resume, 20));
  }
}

it('at the same time on two nodes whose connections are lost, each is executed once, and all or none', async () => {
  const scripts = fc.array(act, { minLength: 40, maxLength: 80, size: 'max' });
  await fc.assert(
    fc.asyncProperty(scripts, async (acts) => {
      const world = await createWorld();
      // Refs of their own, so that it can be told by which act one was made.
      const own = acts.map((one, index) => ({
        ...one,
        orders: one.orders.map((asked) => ({ ...asked, ref: asked.ref + REFS * index })),
      }));
      const [verdicts] = await Promise.all([
        Promise.all(own.map((one) => perform(world, one))),
        endConnections(),
      ]);
      const made = await storedRefs(world);
      const balances = Array<number>(PROFILES).fill(START_UNITS);
      for (const [index, { kind, orders: asked }] of own.entries()) {
        // Those that were repeated after a lost answer are replays of themselves.
        const isMade = (verdict: Verdict): boolean => verdict === 'done' || verdict === 'replay';
        const told = asked.filter((_, at) => isMade(verdicts[index]![at]!));
        const found = asked.filter(({ ref }) => made.has(ref));
        expect(found).toEqual(told);
        if (kind === 'all') expect([0, asked.length]).toContain(found.length);
        for (const { from, to, units } of found) {
          balances[from]! -= units;
          balances[to]! += units;
        }
      }
      expect(await storedBalances(world)).toEqual(balances);
    }),
    { numRuns: rounds(4, 30) },
  );
  expect(await auditLines(test.database)).toEqual([]);
}, 600_000);
