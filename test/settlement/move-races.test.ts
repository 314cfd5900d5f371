import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { profileTable } from '../../src/profiles/store.ts';
import { createSettlementCommand, moveSettlementCommand } from '../../src/settlement/commands.ts';
import { findSettlement, newSettlements, settlements } from '../../src/settlement/store.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventsOf } from '../support/events.ts';
import { assets, problemOf, startNode, type TestNode } from '../support/ledger.ts';

// Two nodes on one database, each with its own pool and write path.
let test: TestDatabase;
let nodes: readonly [TestNode, TestNode];
const tables = { assets, profiles: profileTable, newSettlements, settlements };
const callerOf = (customerId: string): Caller => ({
  customerId,
  clientId: 'test',
  scopes: new Set(),
  integration: 'FIRST_PARTY',
});
const source = { caller: callerOf(newId()), profileId: newId() };
const target = { caller: callerOf(newId()), profileId: newId() };

beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
  for (const { caller, profileId } of [source, target]) {
    await test.database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, 'one', 'NORMAL', 0)`,
      [profileId, caller.customerId],
    );
  }
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

async function propose(count: number): Promise<Settlement[]> {
  const request = {
    source_profile_id: source.profileId,
    target_profile_id: target.profileId,
    legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
  } as const;
  const outcomes = await Promise.all(
    Array.from({ length: count }, () =>
      nodes[0].path.submit(
        createSettlementCommand(source.caller, { ...request, legs: [...request.legs] }, tables),
      ),
    ),
  );
  return outcomes.map((outcome) => (outcome as { answer: Settlement }).answer);
}

type Move = 'affirm' | 'cancel';
const submit = (node: TestNode, move: Move, seen: Settlement): Promise<unknown> =>
  node.path.submit(
    moveSettlementCommand(move === 'affirm' ? target.caller : source.caller, move, seen, tables),
  );

async function typesOf(id: string): Promise<string[]> {
  return (await eventsOf(test.database, id)).map((one) => one.type).sort();
}

/** One attempt succeeds, all others are refused with the new state, and each party gets one event. */
async function expectOneWinner(one: Settlement, attempts: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(attempts);
  const { status } = (await findSettlement(test.database, source.caller.customerId, one.id))!;
  expect(['AFFIRMED', 'CANCELLED']).toContain(status);
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    const problem = await problemOf(Promise.reject(result.reason));
    expect([problem.slug, problem.meta]).toEqual(['invalid-state', { status }]);
  }
  const type = `settlement.transaction.${status.toLowerCase()}`;
  const pending = 'settlement.transaction.pending';
  expect(await typesOf(one.id)).toEqual([type, type, pending, pending].sort());
}

it.each<[string, readonly Move[]]>([
  ['two affirms', ['affirm', 'affirm']],
  ['two cancels', ['cancel', 'cancel']],
  ['an affirm and a cancel', ['affirm', 'cancel']],
])('of %s of one transaction in one batch of one node exactly one wins', async (_title, moves) => {
  for (const one of await propose(20)) {
    await expectOneWinner(
      one,
      moves.map((move) => submit(nodes[0], move, one)),
    );
  }
});

it('of affirms and cancels of one transaction on two nodes exactly one wins', async () => {
  for (const [index, one] of (await propose(40)).entries()) {
    const order: readonly Move[] = index % 2 === 0 ? ['affirm', 'cancel'] : ['cancel', 'affirm'];
    await expectOneWinner(
      one,
      nodes.flatMap((node, nodeIndex) =>
        (nodeIndex === 0 ? order : order.toReversed()).map((move) => submit(node, move, one)),
      ),
    );
  }
});

it('batches of two nodes that name the same transactions in opposite order do not deadlock', async () => {
  for (let round = 0; round < 10; round += 1) {
    const many = await propose(60);
    const [first, second] = nodes;
    const attempts = new Map(many.map((one) => [one.id, [] as Promise<unknown>[]]));
    for (const one of many) attempts.get(one.id)!.push(submit(first, 'affirm', one));
    for (const one of many.toReversed()) attempts.get(one.id)!.push(submit(second, 'cancel', one));
    const settled = [...attempts.values()].flat();
    await Promise.allSettled(settled);
    for (const one of many) await expectOneWinner(one, attempts.get(one.id)!);
  }
  expect(nodes.flatMap((node) => node.path.troubles)).toEqual([]);
});

it('an action waits for a row that another session has locked, and then sees its new state', async () => {
  const [one] = await propose(1);
  const holder = await test.database.reserve();
  await holder.query('begin');
  await holder.query('select from settlement_transactions where id = $1 for update', [one!.id]);
  const refused = problemOf(submit(nodes[1], 'affirm', one!));
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(() => test.database.query(blocked), { interval: 5 }).toHaveLength(1);
  await holder.query(`update settlement_transactions set status = 'CANCELLED' where id = $1`, [one!.id]);
  await holder.commit();
  holder.release();
  expect(await refused).toMatchObject({ slug: 'invalid-state', meta: { status: 'CANCELLED' } });
});
