import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rail } from '../../src/rails/rail.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { CHECKPOINTS, type Checkpoint } from '../../src/withdrawals/steps.ts';
import { createWorld, type Node, never, type World } from '../support/payouts.ts';
import { type Adapter, openHttpRail, startPythonAdapter } from './adapters.ts';
import { type FaultyProxy, type ProxyFault, startProxy } from './proxy.ts';

/**
 * The fault matrix with an adapter that is a process of its own: requests and answers are lost, repeated and changed, and the
 * adapter and Ferry are killed between any two steps. By the adapter's own record, every payment is made once.
 */
let world: World;
let adapter: Adapter;
let proxy: FaultyProxy;
let rail: Rail & { close(): void };
const troubles: string[] = [];
beforeAll(async () => {
  world = await createWorld();
  adapter = await startPythonAdapter();
  proxy = await startProxy(() => adapter.url);
  rail = await openHttpRail(proxy.url, { timeoutMs: 3_000, troubles });
});
afterAll(async () => {
  rail.close();
  await proxy.close();
  await adapter.remove();
  await world.drop();
});

const overHttp = (one: Rail): Rail => (one.name === 'wire' ? rail : one);

async function withdraw(): Promise<Transfer> {
  const profile = await world.createProfile({ USD: '120' });
  return world.withdrawFiat(profile, await world.createAccount('wire'));
}

async function expectPaidOnce({ id, profileId }: Transfer): Promise<void> {
  await world.settle(world.createNode({ wrapRail: overHttp }));
  expect(await world.transferOf(id)).toMatchObject({ status: 'COMPLETED' });
  expect(adapter.recordOf(id)).toEqual({ accepted: 1, payments: 1 });
  expect(await world.balanceOf(profileId, 'USD')).toEqual({ available: '0', held: '0' });
  expect(await world.systemOf(id)).toEqual({ 'clearing:wire USD': '100', 'fees USD': '20' });
}

/** A node that executes nothing after that point. */
function mortalNode(checkpoint: Checkpoint): { node: Node; died: Promise<void> } {
  let die: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const node = world.createNode({
    wrapRail: overHttp,
    async checkpoint(name) {
      if (name !== checkpoint) return;
      die();
      await never;
    },
  });
  return { node, died };
}

const ON_REQUESTS: readonly ProxyFault[] = [
  'the request is lost',
  'the answer is lost',
  'the connection breaks in the middle of the answer',
  'there is no answer until the caller gives up',
  'the request arrives twice',
  'a gateway answers 502 after the request arrived',
  'a gateway redirects after the request arrived',
  'the answer is HTML',
  'the answer has another amount',
  'the answer has another key',
];
const ON_QUESTIONS: readonly ProxyFault[] = [
  'the request is lost',
  'the answer is lost',
  'the connection breaks in the middle of the answer',
  'a gateway answers 502 after the request arrived',
  'the answer is HTML',
  'the answer has another key',
];

describe('a payment is made once', () => {
  it.each(ON_REQUESTS)('although, when it is requested, %s', async (fault) => {
    const transfer = await withdraw();
    proxy.strike('PUT', fault);
    await expectPaidOnce(transfer);
  });

  it.each(ON_QUESTIONS)('although, when it is asked about, %s', async (fault) => {
    const transfer = await withdraw();
    proxy.strike('GET', fault);
    await expectPaidOnce(transfer);
  });

  it('although the adapter is killed before the request reaches it', async () => {
    const transfer = await withdraw();
    proxy.beforeNext('PUT', () => adapter.kill());
    const node = world.createNode({ wrapRail: overHttp });
    await node.worker.runDue();
    expect(adapter.recordOf(transfer.id)).toEqual({ accepted: 0, payments: 0 });
    await adapter.start();
    await expectPaidOnce(transfer);
  });

  it.each(['PUT', 'GET'] as const)(
    'although the adapter is killed after it has processed a %s, and its answer is lost',
    async (method) => {
      const transfer = await withdraw();
      proxy.strike(method, 'the answer is lost');
      proxy.afterNext(method, () => adapter.restart());
      await expectPaidOnce(transfer);
    },
  );

  it.each(CHECKPOINTS)('although Ferry is killed: %s', async (checkpoint) => {
    const transfer = await withdraw();
    const { node, died } = mortalNode(checkpoint);
    await Promise.race([died, world.settle(node)]);
    await expectPaidOnce(transfer);
  });

  it.each(CHECKPOINTS)(
    'although Ferry and the adapter are killed, and an answer is lost: %s',
    async (checkpoint) => {
      const transfer = await withdraw();
      proxy.strike('PUT', 'the answer is lost');
      const { node, died } = mortalNode(checkpoint);
      await Promise.race([died, world.settle(node)]);
      await adapter.restart();
      await expectPaidOnce(transfer);
    },
  );
});

describe('a payment that the adapter refuses', () => {
  let strict: Adapter;
  let other: FaultyProxy;
  let refusing: Rail & { close(): void };
  beforeAll(async () => {
    strict = await startPythonAdapter({ ADAPTER_ASSETS: 'EUR' });
    other = await startProxy(() => strict.url);
    refusing = await openHttpRail(other.url, { timeoutMs: 3_000 });
  });
  afterAll(async () => {
    refusing.close();
    await other.close();
    await strict.remove();
  });

  it.each([undefined, 'the answer is lost', 'the request arrives twice', 'the answer is HTML'] as const)(
    'returns all of the money, although: %s',
    async (fault) => {
      const transfer = await withdraw();
      if (fault !== undefined) other.strike('PUT', fault);
      await world.settle(world.createNode({ wrapRail: (one) => (one.name === 'wire' ? refusing : one) }));
      expect(await world.transferOf(transfer.id)).toMatchObject({
        status: 'FAILED',
        secondaryStatus: { name: 'FAILED_BY_RAIL' },
      });
      expect(strict.recordOf(transfer.id)).toEqual({ accepted: 1, payments: 0 });
      expect(await world.balanceOf(transfer.profileId, 'USD')).toEqual({ available: '120', held: '0' });
    },
  );
});

it('an adapter that has another payment under the key does not end the withdrawal, and an operator is told', async () => {
  const transfer = await withdraw();
  const order = {
    key: transfer.id,
    asset: 'USD',
    amountUnits: 1n,
    amount: '0.01',
    memo: null,
    destination: { address: 'elsewhere' },
  };
  expect(await rail.submit(order, new AbortController().signal)).toMatchObject({ kind: 'accepted' });
  await expect.poll(() => adapter.recordOf(transfer.id)).toEqual({ accepted: 1, payments: 1 });
  troubles.length = 0;
  const node = world.createNode({ wrapRail: overHttp });
  for (let round = 0; round < 3; round += 1) {
    await node.worker.runDue();
    world.advance(600_000);
  }
  expect(troubles.length).toBeGreaterThan(1);
  expect(new Set(troubles)).toEqual(
    new Set(['an adapter has another payment under the key of a withdrawal']),
  );
  // Ferry holds the money until the operator has found out what was paid.
  expect(await world.transferOf(transfer.id)).toMatchObject({
    status: 'PENDING',
    secondaryStatus: { name: 'OUTCOME_UNKNOWN' },
  });
  expect(await world.balanceOf(transfer.profileId, 'USD')).toEqual({ available: '0', held: '120' });
  await node.operate('resolveWithdrawal', {
    params: { id: transfer.id },
    body: {
      outcome: 'NOT_PAID',
      ref_id: transfer.id,
      reason: 'The bank paid something else.',
      reference: 'CASE-1',
    },
  });
  expect(await world.balanceOf(transfer.profileId, 'USD')).toEqual({ available: '120', held: '0' });
});
