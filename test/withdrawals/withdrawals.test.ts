import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { createWorld, type Node, type NodeOptions, never, type World } from '../support/payouts.ts';

let world: World;
let node: Node;
beforeAll(async () => {
  world = await createWorld();
  node = world.createNode();
});
afterAll(() => world.drop());

describe('a withdrawal that is paid', () => {
  it('moves the amount to the rail and the fee to the fees', async () => {
    const profile = await world.createProfile({ USD: '500' });
    const transfer = await world.withdrawFiat(profile, await world.createAccount('wire'));
    await world.settle(node);
    expect(await world.transferOf(transfer.id)).toMatchObject({
      status: 'COMPLETED',
      secondaryStatus: { name: 'PAID' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '380', held: '0' });
    expect(await world.systemOf(transfer.id)).toEqual({ 'clearing:wire USD': '100', 'fees USD': '20' });
    expect(await world.eventsOf(transfer.id)).toEqual([
      'transfer.wire_withdrawal.pending',
      'transfer.wire_withdrawal.completed',
    ]);
    const work = await world.database.query('select 1 from withdrawal_work');
    expect(work).toEqual([]);
  });

  it('in the stablecoin against USD shows the exchange', async () => {
    const profile = await world.createProfile({ USD: '500' });
    const fields = {
      asset: 'PUSD',
      crypto_network: 'ETHEREUM',
      balance_asset: 'USD',
      amount: '100',
    } as const;
    const transfer = await world.withdrawCrypto(profile, fields);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '398', held: '102' });
    await world.settle(node);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '398', held: '0' });
    expect(await world.systemOf(transfer.id)).toEqual({
      'conversion USD': '102',
      'conversion PUSD': '-102',
      'clearing:ethereum PUSD': '100',
      'fees PUSD': '2',
    });
  });

  const chains: [CryptoNetwork, string, number, RegExp, RegExp][] = [
    ['BITCOIN', 'BTC', 3, /^[0-9a-f]{64}$/, /^[01]$/],
    ['BITCOIN_CASH', 'BCH', 15, /^[0-9a-f]{64}$/, /^[01]$/],
    ['LITECOIN', 'LTC', 20, /^[0-9a-f]{64}$/, /^[01]$/],
    ['ETHEREUM', 'ETH', 12, /^0x[0-9a-f]{64}$/, /^0x/],
    ['POLYGON_POS', 'POL', 256, /^0x[0-9a-f]{64}$/, /^0x/],
    ['BASE', 'ETH', 84, /^0x[0-9a-f]{64}$/, /^0x/],
    ['ARBITRUM_ONE', 'ETH', 40, /^0x[0-9a-f]{64}$/, /^0x/],
    ['SOLANA', 'SOL', 32, /^[1-9A-HJ-NP-Za-km-z]{86,88}$/, /^[1-9A-HJ-NP-Za-km-z]{43,44}$/],
    ['INK', 'ETH', 84, /^0x[0-9a-f]{64}$/, /^0x/],
  ];
  it.each(chains)(
    'over %s in %s is paid after %i confirmations',
    async (network, asset, needs, hash, index) => {
      const profile = await world.createProfile({ [asset]: '10' });
      const { id } = await world.withdrawCrypto(profile, { asset, crypto_network: network });
      const words: string[] = [];
      for (let round = 0; round < 40; round += 1) {
        await world.settle(node, 1).catch(() => undefined);
        const { secondaryStatus, status } = await world.transferOf(id);
        words.push(`${secondaryStatus!.name}: ${secondaryStatus!.detail}`);
        if (status !== 'PENDING') break;
      }
      const paid = await world.transferOf(id);
      expect(paid.status).toBe('COMPLETED');
      expect(paid.cryptoTxHash).toMatch(hash);
      expect(paid.cryptoTxIndex).toMatch(index);
      expect(words.some((one) => /^CONFIRMING: [0-9]+ of [0-9]+ confirmations on /.test(one))).toBe(true);
      expect(words.some((one) => one.endsWith(` of ${needs} confirmations on ${network}.`))).toBe(true);
      expect(paid.secondaryStatus!.detail).toBe(`${needs} confirmations on ${network}.`);
      expect(await world.eventsOf(id)).toHaveLength(2);
    },
  );
});

describe('a withdrawal that the rail does not pay', () => {
  it.each(['refuse', 'fail'])('(%s) returns its whole total, including the fee', async (behaviour) => {
    const profile = await world.createProfile({ USD: '500' });
    const account = await world.createAccount('wire');
    const { id } = await world.withdrawFiat(profile, account, { memo: `sandbox:${behaviour}` });
    await world.settle(node);
    expect(await world.transferOf(id)).toMatchObject({
      status: 'FAILED',
      secondaryStatus: { name: 'FAILED_BY_RAIL' },
    });
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '500', held: '0' });
    expect(await world.systemOf(id)).toEqual({});
    expect(await world.eventsOf(id)).toEqual([
      'transfer.wire_withdrawal.pending',
      'transfer.wire_withdrawal.failed',
    ]);
  });

  it('in the stablecoin against USD returns the USD', async () => {
    const profile = await world.createProfile({ USD: '102' });
    const fields = {
      asset: 'PUSD',
      crypto_network: 'ETHEREUM',
      balance_asset: 'USD',
      amount: '100',
    } as const;
    const { id } = await world.withdrawCrypto(profile, { ...fields, memo: 'sandbox:fail' });
    await world.settle(node);
    expect(await world.balanceOf(profile, 'USD')).toEqual({ available: '102', held: '0' });
    expect(await world.systemOf(id)).toEqual({});
  });
});

describe('a rail that misbehaves', () => {
  async function withdrawn(memo: string) {
    const profile = await world.createProfile({ BTC: '2' });
    const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN', memo });
    return { id, profile };
  }

  it.each(['lost', 'timeout', 'twice', 'late', 'down'])(
    '(%s) is asked to pay once, and pays',
    async (behaviour) => {
      const { id, profile } = await withdrawn(`sandbox:${behaviour}`);
      await world.settle(node);
      expect((await world.transferOf(id)).status).toBe('COMPLETED');
      expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
      expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
      expect(await world.eventsOf(id)).toHaveLength(2);
    },
  );

  it('that refuses the second request may still have the first: nothing returns before it was asked', async () => {
    const profile = await world.createProfile({ USD: '120' });
    const account = await world.createAccount('wire');
    const { id } = await world.withdrawFiat(profile, account);
    let requests = 0;
    let first: (() => Promise<unknown>) | undefined;
    const options: NodeOptions = {
      wrapRail: (rail): Rail => ({
        ...rail,
        async submit(payment, signal) {
          requests += 1;
          if (requests > 2) return rail.submit(payment, signal);
          if (requests === 2) return { kind: 'failed', meaning: 'retry', reason: 'busy' };
          // In flight for longer than the horizon of the rail.
          first = () => rail.submit(payment, signal);
          return never;
        },
      }),
    };
    const own = world.createNode(options);
    world.advance(70_000);
    await world.createNode({ ...options, callTimeoutMs: 500 }).worker.runDue();
    world.advance(70_000);
    await own.worker.runDue();
    expect(requests).toBe(2);
    await world.database.query(`update fiat_accounts set status = 'REJECTED' where id = $1`, [account]);
    await first!();
    await world.settle(own);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
    expect(requests).toBe(2);
  });

  it('and does not know a payment gets it again under the same key, after its horizon and not before', async () => {
    const { id, profile } = await withdrawn('ordinary');
    const sent: string[] = [];
    let asked = 0;
    const minuteMs = 60_000;
    const own = world.createNode({
      wrapRail: (rail): Rail => ({
        ...rail,
        horizonMs: 60 * minuteMs,
        async submit(payment, signal) {
          sent.push(payment.key);
          // The first one never arrives.
          if (sent.length === 1) throw new Error('ECONNRESET');
          return rail.submit(payment, signal);
        },
        ask(key, signal) {
          asked += 1;
          return rail.ask(key, signal);
        },
      }),
    });
    await own.worker.runDue();
    world.advance(minuteMs);
    await own.worker.runDue();
    expect({ asked, sent }).toEqual({ asked: 1, sent: [id] });
    // Nothing is sent before the horizon.
    world.advance(58 * minuteMs);
    await own.worker.runDue();
    expect({ asked, sent }).toEqual({ asked: 1, sent: [id] });
    expect(await world.transferOf(id)).toMatchObject({
      status: 'PENDING',
      secondaryStatus: { name: 'OUTCOME_UNKNOWN' },
    });
    world.advance(2 * minuteMs);
    await own.worker.runDue();
    expect({ asked, sent }).toEqual({ asked: 2, sent: [id, id] });
    await world.settle(own);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1 }]);
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
  });

  /** The first request is paid, but its answer is lost; the rail refuses the second request as a duplicate. */
  function createForgetful(askedSince: 'not-found' | 'failed' | 'truth') {
    let requests = 0;
    let refused = false;
    const own = world.createNode({
      wrapRail: (rail): Rail => ({
        ...rail,
        async submit(payment, signal) {
          requests += 1;
          if (requests === 1) {
            await rail.submit(payment, signal);
            throw new Error('ECONNRESET');
          }
          refused = true;
          return { kind: 'failed', meaning: 'final', reason: 'duplicate reference' };
        },
        async ask(key, signal) {
          if (!refused || askedSince === 'not-found') return { kind: 'not-found' };
          if (askedSince === 'failed') return { kind: 'failed', reason: 'The account is closed.' };
          return rail.ask(key, signal);
        },
      }),
    });
    return { own, requests: () => requests };
  }

  async function letMinutesPass(own: Node, rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      world.advance(61_000);
      await own.worker.runDue();
    }
  }

  it('and refuses a second request after an unknown outcome does not end the withdrawal: its answer to a question does', async () => {
    const { id, profile } = await withdrawn('ordinary');
    const { own, requests } = createForgetful('truth');
    await own.worker.runDue();
    await letMinutesPass(own, 1);
    expect(requests()).toBe(2);
    expect(await world.transferOf(id)).toMatchObject({
      status: 'PENDING',
      secondaryStatus: {
        name: 'OUTCOME_UNKNOWN',
        detail: expect.stringContaining('rejected a repeated request'),
      },
    });
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '1.0001' });
    expect(own.troubles).toEqual(['a rail rejected a repeated request after an unknown outcome']);
    await world.settle(own);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
    expect(requests()).toBe(2);
  });

  it('and refuses a second request, and reports a failure when it is asked, fails the withdrawal', async () => {
    const { id, profile } = await withdrawn('ordinary');
    const { own } = createForgetful('failed');
    await own.worker.runDue();
    await letMinutesPass(own, 2);
    expect(await world.transferOf(id)).toMatchObject({
      status: 'FAILED',
      secondaryStatus: { detail: expect.stringContaining('The account is closed.') },
    });
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '2', held: '0' });
  });

  it('and refuses every request after an unknown outcome and never knows the payment causes no return', async () => {
    const { id, profile } = await withdrawn('ordinary');
    const { own } = createForgetful('not-found');
    await own.worker.runDue();
    await letMinutesPass(own, 10);
    expect((await world.transferOf(id)).status).toBe('PENDING');
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '1.0001' });
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('and refuses a request that was made after a crash causes no return before it was asked', async () => {
    const { id, profile } = await withdrawn('ordinary');
    const dying = Promise.withResolvers<void>();
    const killed = world.createNode({
      checkpoint: async (name) => {
        if (name !== 'after the rail answered, before its answer is committed') return;
        dying.resolve();
        await never;
      },
    });
    void killed.worker.runDue();
    await dying.promise;
    let isKnown = false;
    const next = world.createNode({
      wrapRail: (rail): Rail => ({
        ...rail,
        async submit() {
          isKnown = true;
          return { kind: 'failed', meaning: 'final', reason: 'duplicate reference' };
        },
        ask: async (key, signal) => (isKnown ? rail.ask(key, signal) : { kind: 'not-found' }),
      }),
    });
    await world.settle(next);
    expect(isKnown).toBe(true);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
  });

  it('is named in the status detail of the withdrawals that wait for it', async () => {
    const { id } = await withdrawn('sandbox:lost');
    await node.worker.runDue();
    expect((await world.transferOf(id)).secondaryStatus!.name).toBe('OUTCOME_UNKNOWN');
    const down = await withdrawn('sandbox:down');
    await node.worker.runDue();
    expect((await world.transferOf(down.id)).secondaryStatus!.name).toBe('RAIL_UNAVAILABLE');
    await world.settle(node);
  });

  it('and contradicts itself later is reported to operators, and nothing is posted again', async () => {
    const { id, profile } = await withdrawn('sandbox:returned');
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '0.9999', held: '0' });
    const rows = await world.database.query(
      'select transfer_id, rail, reported, recorded, detail from rail_contradictions',
    );
    const detail = 'The payment was returned.';
    expect(rows).toEqual([
      { transfer_id: id, rail: 'BITCOIN', reported: 'FAILED', recorded: 'COMPLETED', detail },
    ]);
    expect(node.troubles).toEqual(['a rail contradicts how a withdrawal ended']);
    expect(await world.eventsOf(id)).toHaveLength(2);
  });

  it('and forgets a payment that it accepted never gets it again', async () => {
    const { id } = await withdrawn('ordinary');
    await node.worker.runDue();
    expect((await world.transferOf(id)).secondaryStatus!.name).toBe('SUBMITTED');
    const [row] = await world.database.query<{ requests: number }>(
      `delete from sandbox_payments where key = $1 returning requests`,
      [id],
    );
    expect(row!.requests).toBe(1);
    for (let day = 0; day < 3; day += 1) {
      world.advance(86_400_000);
      await node.worker.runDue();
    }
    expect(await world.paymentsOf(id)).toEqual([]);
    expect(await world.transferOf(id)).toMatchObject({
      status: 'PENDING',
      secondaryStatus: {
        name: 'OUTCOME_UNKNOWN',
        detail: expect.stringContaining('an operator has to investigate'),
      },
    });
  });
});
