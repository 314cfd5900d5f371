import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { createLease, type Lease } from '../../src/nodes/lease.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

type TestNode = { readonly lease: Lease; readonly id: string; readonly found: (string | undefined)[] };
const nodes: TestNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map(({ lease }) => lease.stop()));
  await test.database.query('delete from deciding_node');
});

function startNode(): TestNode {
  const id = newId();
  const found: (string | undefined)[] = [];
  const lease = createLease({
    database: test.database,
    log: { info: () => undefined, warn: () => undefined },
    self: () => ({ nodeId: id, address: `127.0.0.1:${nodes.length}` }),
    found: (other) => found.push(other?.nodeId),
    changed: () => undefined,
  });
  lease.start();
  const node = { lease, id, found };
  nodes.push(node);
  return node;
}

const holders = (): TestNode[] => nodes.filter(({ lease }) => lease.isHeld());

it('of several nodes that start together one decides, and the others find it', async () => {
  const started = [startNode(), startNode(), startNode()];
  await until('one decides, the others know it', () => {
    const [holder] = holders();
    return holder !== undefined && started.every((one) => one === holder || one.found.at(-1) === holder.id);
  });
  expect(holders()).toHaveLength(1);
});

it('a node that stops gives the lease to another one', async () => {
  const first = startNode();
  await until('the first one decides', () => first.lease.isHeld());
  const second = startNode();
  await until('the second one follows', () => second.found.at(-1) === first.id);
  await first.lease.stop();
  expect(first.lease.isHeld()).toBe(false);
  await until('the second one decides', () => second.lease.isHeld());
});

const insertLease = (untilNs: string): Promise<unknown> =>
  test.database.query(
    `insert into deciding_node (node_id, address, until_ns)
     values ($1, '127.0.0.1:1', (extract(epoch from clock_timestamp()) * 1e9)::bigint + ${untilNs})`,
    [newId()],
  );

it('the lease of a node that was killed is taken when it has ended', async () => {
  await insertLease('600000000');
  const node = startNode();
  await until('the node has looked', () => node.found.length > 0);
  expect(node.found[0]).toBeDefined();
  await until('it decides', () => node.lease.isHeld());
});

it('a lease that a wrong clock has made to last for days is taken at once', async () => {
  await insertLease('1000000000000000');
  const node = startNode();
  await until('it decides', () => node.lease.isHeld());
  expect(node.found).not.toContainEqual(expect.any(String));
});
