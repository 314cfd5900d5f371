import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { LIMITS } from '../../src/limits.ts';
import type { PaymentState, Rail, RailName } from '../../src/rails/rail.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** What a rail reports without being asked, and how it affects a withdrawal. */
let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
});
beforeEach(() => {
  node = world.createNode();
});
afterAll(() => world.drop());

type Outcome = Extract<PaymentState, { kind: 'completed' | 'failed' }>;
const COMPLETED: Outcome = { kind: 'completed', detail: 'Paid, says the notice.' };
const FAILED: Outcome = { kind: 'failed', reason: 'Returned, says the notice.' };

async function report(rail: RailName, key: string, state: Outcome): Promise<void> {
  const notice = { id: newId(), about: 'payment', rail, key, state } as const;
  await world.journal.plan([{ dueAtNs: world.now(), notice }]);
  world.advance(1);
}

async function withdrawn() {
  const profile = await world.createProfile({ BTC: '2' });
  const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
  return { id, profile };
}

const contradictionsOf = (id: string) =>
  world.database.query(
    'select rail, reported, recorded, detail from rail_contradictions where transfer_id = $1 order by at_ns',
    [id],
  );

async function expectHeld(id: string, profile: string): Promise<void> {
  expect((await world.transferOf(id)).status).toBe('PENDING');
  expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '1.0001' });
}

async function expectPaid(id: string, profile: string): Promise<void> {
  expect((await world.transferOf(id)).status).toBe('COMPLETED');
  expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
  expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
}

describe('a notice about a withdrawal that the rail has accepted', () => {
  it.each([
    [COMPLETED, 'COMPLETED'],
    [FAILED, 'FAILED'],
  ] as const)('ends it (%o)', async (state, status) => {
    const { id } = await withdrawn();
    await node.worker.runDue();
    await report('BITCOIN', id, state);
    expect(await node.notices.runDue()).toBe(1);
    expect((await world.transferOf(id)).status).toBe(status);
    expect(await node.notices.runDue()).toBe(0);
    expect(await contradictionsOf(id)).toEqual([]);
    expect(node.troubles).toEqual([]);
  });
});

describe('a notice of another rail', () => {
  it.each([
    [COMPLETED, 'COMPLETED', 'Paid, says the notice.'],
    [FAILED, 'FAILED', 'Returned, says the notice.'],
  ] as const)('ends nothing, and is shown to operators once (%o)', async (state, reported, detail) => {
    const { id, profile } = await withdrawn();
    await node.worker.runDue();
    for (let times = 0; times < 2; times += 1) {
      await report('LITECOIN', id, state);
      await node.notices.runDue();
    }
    await expectHeld(id, profile);
    expect(await contradictionsOf(id)).toEqual([{ rail: 'LITECOIN', reported, recorded: 'PENDING', detail }]);
    expect(node.troubles).toEqual([
      'a rail reports the end of a withdrawal that it was not asked to pay',
      'a rail reports the end of a withdrawal that it was not asked to pay',
    ]);
    expect(await node.notices.runDue()).toBe(0);
    await world.settle(node);
    await expectPaid(id, profile);
  });

  it('does not end a withdrawal of another bank network either, although both have the same type', async () => {
    const profile = await world.createProfile({ USD: '100' });
    const { id } = await world.withdrawFiat(profile, await world.createAccount('bank_network_2'));
    await node.worker.runDue();
    await report('bank_network_3', id, FAILED);
    await node.notices.runDue();
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '0', held: '100' });
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('does not hide a later contradiction by its own rail', async () => {
    const { id } = await withdrawn();
    await node.worker.runDue();
    await report('LITECOIN', id, FAILED);
    await node.notices.runDue();
    await world.settle(node);
    await report('BITCOIN', id, FAILED);
    await node.notices.runDue();
    expect(await contradictionsOf(id)).toMatchObject([
      { rail: 'LITECOIN', reported: 'FAILED', recorded: 'PENDING' },
      { rail: 'BITCOIN', reported: 'FAILED', recorded: 'COMPLETED' },
    ]);
  });
});

describe('a notice about a withdrawal that was never submitted', () => {
  it.each([
    [COMPLETED, 'COMPLETED'],
    [FAILED, 'FAILED'],
  ] as const)('contradicts that, and ends nothing: it is paid as usual (%o)', async (state, reported) => {
    const { id, profile } = await withdrawn();
    await report('BITCOIN', id, state);
    expect(await node.notices.runDue()).toBe(1);
    await expectHeld(id, profile);
    expect(await contradictionsOf(id)).toMatchObject([{ rail: 'BITCOIN', reported, recorded: 'PENDING' }]);
    expect(await node.notices.runDue()).toBe(0);
    await world.settle(node);
    await expectPaid(id, profile);
  });
});

describe('a notice about a withdrawal whose outcome is unknown', () => {
  /** The request arrived, but its answer was lost. */
  async function unknown(ask: (rail: Rail, key: string) => Promise<PaymentState>) {
    const made = await withdrawn();
    const own = world.createNode({
      wrapRail: (rail): Rail => ({
        ...rail,
        async submit(payment, signal) {
          await rail.submit(payment, signal);
          throw new Error('ECONNRESET');
        },
        ask: (key) => ask(rail, key),
      }),
    });
    await own.worker.runDue();
    expect((await world.transferOf(made.id)).secondaryStatus!.name).toBe('OUTCOME_UNKNOWN');
    return { ...made, own };
  }

  it('makes the worker ask the rail at once, and that answer ends the withdrawal', async () => {
    const state = { kind: 'completed', detail: 'Paid, says the answer.' } as const;
    const { id, profile, own } = await unknown(async () => state);
    await report('BITCOIN', id, COMPLETED);
    await own.notices.runDue();
    await expectPaid(id, profile);
    expect((await world.transferOf(id)).secondaryStatus!.detail).toBe('Paid, says the answer.');
    expect(await own.notices.runDue()).toBe(0);
    expect(await contradictionsOf(id)).toEqual([]);
  });

  it('that contradicts the answer is recorded as a contradiction', async () => {
    const { id, profile, own } = await unknown(async () => ({ kind: 'completed', detail: 'Paid.' }));
    await report('BITCOIN', id, FAILED);
    await own.notices.runDue();
    await expectPaid(id, profile);
    expect(await contradictionsOf(id)).toMatchObject([{ reported: 'FAILED', recorded: 'COMPLETED' }]);
    expect(own.troubles).toEqual(['a rail contradicts how a withdrawal ended']);
    expect(await own.notices.runDue()).toBe(0);
  });

  const NO_ENDS: readonly (readonly [string, () => Promise<PaymentState>])[] = [
    ['does not know it', async () => ({ kind: 'not-found' })],
    ['says that it is pending', async () => ({ kind: 'pending', nextAskMs: 1_000 })],
    ['does not answer', () => Promise.reject(new Error('ECONNREFUSED'))],
  ];
  it.each(NO_ENDS)('is kept while the rail, when asked, %s', async (_title, answer) => {
    let asked = answer;
    const { id, profile, own } = await unknown(() => asked());
    await report('BITCOIN', id, FAILED);
    await own.notices.runDue();
    await expectHeld(id, profile);
    expect(own.errors).toHaveLength(1);
    asked = async () => ({ kind: 'completed', detail: 'Paid.' });
    world.advance(LIMITS.railBackoffFirstMs);
    await own.notices.runDue();
    await expectPaid(id, profile);
    expect(await contradictionsOf(id)).toMatchObject([{ reported: 'FAILED', recorded: 'COMPLETED' }]);
    expect(await own.notices.runDue()).toBe(0);
  });

  it('does not end it when a second request was accepted either: the notice may be about that request alone', async () => {
    const { id, profile } = await withdrawn();
    let requests = 0;
    const own = world.createNode({
      wrapRail: (rail): Rail => ({
        ...rail,
        async submit(payment, signal) {
          requests += 1;
          if (requests === 1) throw new Error('ECONNRESET');
          return rail.submit(payment, signal);
        },
      }),
    });
    await own.worker.runDue();
    world.advance(61_000);
    await own.worker.runDue();
    expect((await world.transferOf(id)).secondaryStatus!.name).toBe('SUBMITTED');
    await report('BITCOIN', id, { kind: 'failed', reason: 'duplicate reference' });
    await own.notices.runDue();
    await expectHeld(id, profile);
    for (let hour = 0; hour < 3; hour += 1) {
      world.advance(3_600_000);
      await own.worker.runDue();
      await own.notices.runDue();
    }
    await expectPaid(id, profile);
    expect(await contradictionsOf(id)).toMatchObject([{ reported: 'FAILED', recorded: 'COMPLETED' }]);
  });
});

it('a notice that is not about a withdrawal is reported once, and not delivered again', async () => {
  for (const key of [newId(), 'not an id']) await report('BITCOIN', key, COMPLETED);
  expect(await node.notices.runDue()).toBe(2);
  expect(node.troubles).toEqual(Array(2).fill('a rail reports a payment that this service never requested'));
  expect(await node.notices.runDue()).toBe(0);
});
