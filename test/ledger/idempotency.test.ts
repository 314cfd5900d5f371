import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StaleRead } from '../../src/database/failure.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import type { Command, IdempotencyKey, Outcome } from '../../src/ledger/command.ts';
import { keyText } from '../../src/ledger/keys.ts';
import { useKeys } from '../../src/ledger/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { auditLines, fund, pay, problemOf, startNode, type TestNode, withKey } from '../support/ledger.ts';

let test: TestDatabase;
let nodes: [TestNode, TestNode];
beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
});
afterAll(async () => {
  expect(await auditLines(test.database)).toEqual([]);
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

/** The resource that every caller gets, the first and the later ones. */
function learned(command: Command<string>, outcome: Outcome<string>): string {
  return outcome.replayed ? outcome.resourceId : command.key!.resourceId;
}

async function keyRows(customerId: string): Promise<object[]> {
  return test.database.query(
    'select space, ref_id, resource_id from idempotency_keys where customer_id = $1 order by space, ref_id',
    [customerId],
  );
}

async function availableOf(profileId: string): Promise<bigint> {
  return (await balancesOf(test.database, profileId))[0]?.available ?? 0n;
}

describe('an idempotency key', () => {
  it.each([
    ['on one node', 1],
    ['on two nodes', 2],
  ])('that is sent 50 times at once %s posts once, and all 50 learn the same', async (_where, nodeCount) => {
    const [customerId, alice] = [newId(), newId()];
    const commands = Array.from({ length: 50 }, (_, index) =>
      withKey(fund(alice, 'USD', 5n), { customerId, refId: 'once', request: { attempt: index } }),
    );
    const outcomes = await Promise.all(
      commands.map((command, index) => nodes[index % nodeCount]!.path.submit(command)),
    );
    expect(outcomes.filter((outcome) => !outcome.replayed)).toHaveLength(1);
    const all = commands.map((command, index) => learned(command, outcomes[index]!));
    expect(new Set(all).size).toBe(1);
    const differs = outcomes.flatMap((outcome) => (outcome.replayed ? [outcome.differs] : []));
    expect(differs).toEqual(Array.from({ length: 49 }, () => ['attempt']));
    expect(await availableOf(alice)).toBe(5n);
    expect(await keyRows(customerId)).toEqual([{ space: 'test', ref_id: 'once', resource_id: all[0]! }]);
  });

  it('posts once when it is sent to two nodes at once, in every one of many rounds', async () => {
    const alice = newId();
    const customerId = newId();
    for (let round = 0; round < 50; round += 1) {
      const outcomes = await Promise.all(
        nodes.map(({ path }) =>
          path.submit(withKey(fund(alice, 'USD', 1n), { customerId, refId: `round ${round}` })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome.replayed)).toHaveLength(1);
    }
    expect(await availableOf(alice)).toBe(50n);
  });

  it('that another batch has used after this one looked for it makes this one look again', async () => {
    const key: IdempotencyKey = {
      customerId: newId(),
      space: 'test',
      refId: 'used',
      resourceId: newId(),
      request: {},
    };
    const use = (): Promise<void> =>
      test.database.transaction((tx) => useKeys(tx, new Map([[keyText(key), key]])));
    await use();
    await expect(use()).rejects.toThrow(StaleRead);
  });

  it('is claimed in the same order on all nodes: two batches with the same keys do not deadlock', async () => {
    const [customerId, alice] = [newId(), newId()];
    await nodes[0].path.submit(fund(alice, 'USD', 1n));
    for (const { path } of nodes) path.troubles.length = 0;
    for (let round = 0; round < 6; round += 1) {
      const refIds = Array.from({ length: 500 }, newId);
      const orders = [refIds, refIds.toReversed()];
      await Promise.all(
        nodes.flatMap(({ path }, index) =>
          orders[index]!.map((refId) => path.submit(withKey(fund(alice, 'USD', 1n), { customerId, refId }))),
        ),
      );
    }
    expect(nodes.flatMap(({ path }) => path.troubles)).toEqual([]);
    expect(await availableOf(alice)).toBe(3_001n);
  });

  it('belongs to the accepted command when a batch has it twice and the first one is refused', async () => {
    const [customerId, alice, bob] = [newId(), newId(), newId()];
    const { path } = nodes[0];
    const key = { customerId, refId: 'again' };
    const refused = withKey(pay(alice, bob, 'USD', 9n), { ...key, request: { n: 1 } });
    const accepted = withKey(pay(alice, bob, 'USD', 9n), { ...key, request: { n: 2 } });
    const later = withKey(pay(alice, bob, 'USD', 9n), { ...key, request: { n: 3 } });
    const batches = path.batches.length;
    const [first, , second, third] = await Promise.allSettled([
      path.submit(refused),
      path.submit(fund(alice, 'USD', 20n)),
      path.submit(accepted),
      path.submit(later),
    ]);
    expect(path.batches.slice(batches)).toEqual([4]);
    expect(first).toMatchObject({ status: 'rejected', reason: { slug: 'insufficient-funds' } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { replayed: false } });
    const { resourceId } = accepted.key!;
    expect(third).toEqual({ status: 'fulfilled', value: { replayed: true, resourceId, differs: ['n'] } });
    expect(await keyRows(customerId)).toEqual([{ space: 'test', ref_id: 'again', resource_id: resourceId }]);
    expect(await availableOf(bob)).toBe(9n);
  });

  it('is not used up by a refused command, alone or beside accepted ones', async () => {
    const [customerId, alice, bob] = [newId(), newId(), newId()];
    const { path } = nodes[0];
    const attempt = (): Command<string> =>
      withKey(pay(alice, bob, 'USD', 9n), { customerId, refId: 'patience' });
    expect((await problemOf(path.submit(attempt()))).slug).toBe('insufficient-funds');
    expect(await keyRows(customerId)).toEqual([]);
    const [refusal] = await Promise.allSettled([path.submit(attempt()), path.submit(fund(bob, 'USD', 1n))]);
    expect(refusal).toMatchObject({ status: 'rejected', reason: { slug: 'insufficient-funds' } });
    expect(await keyRows(customerId)).toEqual([]);
    await path.submit(fund(alice, 'USD', 9n));
    expect(await path.submit(attempt())).toMatchObject({ replayed: false });
    expect(await path.submit(attempt())).toMatchObject({ replayed: true });
    expect(await availableOf(bob)).toBe(10n);
  });

  it('is not used up by a command whose rule throws', async () => {
    const [customerId, alice] = [newId(), newId()];
    const { path } = nodes[0];
    const key = { customerId, refId: 'broken' };
    const broken: Command<string> = {
      actor: workerActor('test'),
      balances: [],
      decide() {
        throw new Error('a fault in a rule');
      },
    };
    const [fault, other] = await Promise.allSettled([
      path.submit(withKey(broken, key)),
      path.submit(fund(alice, 'USD', 1n)),
    ]);
    expect([fault.status, other.status]).toEqual(['rejected', 'fulfilled']);
    expect(await keyRows(customerId)).toEqual([]);
    expect(await path.submit(withKey(fund(alice, 'USD', 2n), key))).toMatchObject({ replayed: false });
    expect(await availableOf(alice)).toBe(3n);
  });

  it('replays, on another node and with another request, the resource of the first, and names what differs', async () => {
    const [customerId, alice] = [newId(), newId()];
    const request = { text: '"quoted", back\\slash, {braces}, NULL, é 漢 😀', same: 'x' };
    const refId = `"',\\ {x} NULL é 漢 😀`;
    const first = withKey(fund(alice, 'USD', 1n), { customerId, refId, request });
    await nodes[0].path.submit(first);
    const other = withKey(fund(alice, 'BTC', 2n), { customerId, refId, request: { same: 'x', more: null } });
    const expected = { replayed: true, resourceId: first.key!.resourceId, differs: ['more', 'text'] };
    expect(await nodes[1].path.submit(other)).toEqual(expected);
    expect(await nodes[0].path.submit(other)).toEqual(expected);
    // The command of the replay moved nothing.
    expect((await balancesOf(test.database, alice)).filter(({ available }) => available > 0n)).toEqual([
      { asset: 'USD', available: 1n, held: 0n },
    ]);
  });

  it('is separate for each customer and each space', async () => {
    const [customerA, customerB, alice] = [newId(), newId(), newId()];
    const { path } = nodes[0];
    const submissions = [
      { customerId: customerA, space: 'transfers' },
      { customerId: customerB, space: 'transfers' },
      { customerId: customerA, space: 'accounts' },
    ].map((key) => path.submit(withKey(fund(alice, 'USD', 1n), { ...key, refId: 'same' })));
    expect((await Promise.all(submissions)).map((outcome) => outcome.replayed)).toEqual([
      false,
      false,
      false,
    ]);
    expect(await availableOf(alice)).toBe(3n);
    expect(await keyRows(customerA)).toHaveLength(2);
  });

  it('is not confused with a key whose space and ref_id give the same text when joined', async () => {
    const [customerId, alice] = [newId(), newId()];
    const { path } = nodes[0];
    const outcomes = await Promise.all(
      [
        { space: 'a', refId: 'b/c' },
        { space: 'a/b', refId: 'c' },
      ].map((key) => path.submit(withKey(fund(alice, 'USD', 1n), { customerId, ...key }))),
    );
    expect(outcomes.map((outcome) => outcome.replayed)).toEqual([false, false]);
    expect(await availableOf(alice)).toBe(2n);
  });
});
