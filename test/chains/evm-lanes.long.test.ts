import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolve } from '../../src/chains/resolve.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Anvil, hex, LANE } from '../support/anvil.ts';
import {
  createEvmWorld,
  type EvmNode,
  type EvmWorld,
  type NodeOptions,
  startAnvil,
} from '../support/evm-world.ts';
import { type RpcProxy, startProxy } from '../support/rpc-proxy.ts';

let anvil: Anvil;
let world: EvmWorld;
let proxy: RpcProxy;
const ETHER = 10n ** 18n;
const payee = (): string => `0x${newId().replaceAll('-', '')}00000001`;
const stopOf = async (task = LANE) =>
  (
    await world.database.query<{ code: string; reason: string }>(
      'select code, reason from chain_stops where task = $1',
      [task],
    )
  )[0];

const opened: EvmNode[] = [];
/** The only node that works on the lane. */
async function only(options: NodeOptions = {}): Promise<EvmNode> {
  for (const node of opened.splice(0))
    await Promise.all([...node.keepers, node.scanner].map(async (one) => one.stop()));
  const node = await world.createNode(options);
  opened.push(node);
  return node;
}

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  proxy = await startProxy(anvil.url);
  await anvil.mine(5);
});
beforeEach(() => {
  proxy.answer = () => undefined;
});
afterAll(async () => {
  await only();
  await world?.drop();
  await anvil?.stop();
  await proxy?.stop();
});

const profile = () => world.createProfile({ ETH: '100', USDC: '100' });

describe('a lane', () => {
  it('is kept by one node, and what the other one has planned meanwhile is not committed', async () => {
    const awake = Promise.withResolvers<void>();
    const late = await only({
      leaseMs: 100,
      checkpoint: (name) =>
        name === 'before the assignment is committed' ? awake.promise : Promise.resolve(),
    });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    await late.worker.runDue();
    const turn = late.keepers[0]!.run();
    turn.catch(() => undefined);
    await expect
      .poll(
        async () => (await world.database.query('select from chain_leases where task = $1', [LANE])).length,
      )
      .toBe(1);
    // As if the process had been suspended for longer than its lease.
    await world.database.query('update chain_leases set holder = $1, leased_until_ns = 0 where task = $2', [
      newId(),
      LANE,
    ]);
    const other = await world.createNode({ leaseMs: 100 });
    await world.settle(other, [id]);
    awake.resolve();
    await expect(turn).rejects.toThrow(/another node works on|aborted/);
    await world.settle(other, [id]);
    expect(await anvil.balance(to)).toBe(ETHER);
    await Promise.all([other.keepers[0]!.stop(), other.scanner.stop()]);
    await world.expectBooked();
  });

  it('raises the fee of a transaction that no block takes, by at least an eighth, with the same nonce', async () => {
    const node = await only({ settings: { bumpAfterMs: 0 } });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    for (let round = 0; round < 3; round += 1) await world.turn(node);
    const versions = await world.database.query<{ rate: bigint; hash: string }>(
      `select v.fee_rate as rate, v.hash from chain_versions v join chain_assignment_payments p using (assignment_id)
       where p.key = $1 order by v.number`,
      [id],
    );
    expect(versions.length).toBeGreaterThan(2);
    for (const [index, { rate }] of versions.entries())
      if (index > 0) expect(rate * 8n).toBeGreaterThanOrEqual(versions[index - 1]!.rate * 9n);
    const [ended] = await world.settle(node, [id]);
    expect(ended!.status).toBe('COMPLETED');
    expect(await anvil.balance(to)).toBe(ETHER);
    await world.expectBooked();
  });

  it('waits while the network asks for more than the bound, and says so', async () => {
    const node = await only({ settings: { fees: { maxFeeMax: 2n, tipMin: 1n, tipMax: 1n } } });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    await world.turn(node);
    expect(await stopOf()).toMatchObject({ code: 'fee-too-high' });
    await world.settle(await only(), [id]);
    expect(await stopOf()).toBeUndefined();
    expect(await anvil.balance(to)).toBe(ETHER);
  });

  it('pays small amounts while a large one waits for a refill', async () => {
    const node = await only();
    const balance = await anvil.balance(LANE);
    await anvil.call('anvil_setBalance', [LANE, hex(3n * ETHER)]);
    const [large, small] = [payee(), payee()];
    const waiting = await world.withdraw(await profile(), 'ETH', '50', large);
    const paid = await world.withdraw(await profile(), 'ETH', '1', small);
    await world.settle(node, [paid.id]);
    expect(await anvil.balance(small)).toBe(ETHER);
    await world.turn(node);
    expect(await stopOf()).toMatchObject({ code: 'low-funds' });
    const spent = 3n * ETHER - (await anvil.balance(LANE));
    await anvil.call('anvil_setBalance', [LANE, hex(balance - spent)]);
    await world.settle(node, [waiting.id]);
    expect(await anvil.balance(large)).toBe(50n * ETHER);
    await world.expectBooked();
  });

  it('goes on over another node if one is down or silent, and finds it when it is back', async () => {
    proxy.answer = () => Promise.reject(new Error('down'));
    const node = await only({ settings: { nodes: [proxy.url, anvil.url] } });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'USDC', '1', to);
    await world.settle(node, [id]);
    expect(await anvil.tokens(world.contracts.USDC, to)).toBe(1_000_000n);
  });

  it('does not believe one node that its payment has reverted, if another one says that it has not', async () => {
    proxy.answer = (method, result) =>
      method === 'eth_getTransactionReceipt' && result !== null
        ? { ...result, status: '0x0', logs: [] }
        : undefined;
    const node = await only({ settings: { nodes: [proxy.url, anvil.url] } });
    const to = payee();
    const profileId = await profile();
    const { id } = await world.withdraw(profileId, 'USDC', '1', to);
    for (let round = 0; round < 6; round += 1) {
      await world.turn(node);
      await anvil.mine();
    }
    expect((await world.transferOf(id)).status).toBe('PENDING');
    expect(await stopOf()).toMatchObject({ code: 'nodes-disagree' });
    proxy.answer = () => undefined;
    const [ended] = await world.settle(node, [id]);
    expect(ended!.status).toBe('COMPLETED');
    expect(await stopOf()).toBeUndefined();
    await world.expectBooked();
  });

  it('is not misled by a node that is a hundred blocks behind', async () => {
    const past = await anvil.height();
    await anvil.mine(100);
    proxy.answer = async (method, _, params) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
        return anvil.call(method, [hex(past), params[1]]);
      if (method === 'eth_getTransactionCount') return anvil.call(method, [params[0], hex(past)]);
      if (method === 'eth_getTransactionReceipt') return null;
      return undefined;
    };
    const node = await only({ settings: { nodes: [proxy.url, anvil.url], blockMs: 1_000, bumpAfterMs: 0 } });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    const deadline = performance.now() + 60_000;
    while ((await world.transferOf(id)).status === 'PENDING' && performance.now() < deadline) {
      await world.turn(node);
      await anvil.mine();
    }
    expect(await world.transferOf(id)).toMatchObject({ status: 'COMPLETED' });
    expect(await anvil.balance(to)).toBe(ETHER);
    await world.expectBooked();
  });

  it('finds its payment if the answer to the broadcast was lost', async () => {
    proxy.answer = (method) =>
      method === 'eth_sendRawTransaction' ? Promise.reject(new Error('lost')) : undefined;
    const node = await only({ settings: { nodes: [proxy.url] } });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    const [ended] = await world.settle(node, [id]);
    expect(ended!.status).toBe('COMPLETED');
    expect(await anvil.balance(to)).toBe(ETHER);
    await world.expectBooked();
  });

  it('stops for an operator when somebody else has used its key, pays nobody until then, and goes on where the operator says', async () => {
    const node = await only();
    await anvil.send({ from: LANE, to: LANE });
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    for (let round = 0; round < 3; round += 1) {
      await world.turn(node);
      await anvil.mine();
    }
    expect(await stopOf()).toMatchObject({ code: 'foreign-slot' });
    expect(await anvil.balance(to)).toBe(0n);
    expect((await world.transferOf(id)).status).toBe('PENDING');
    // The operator has looked at the transaction, and tells where to go on.
    const nextSlot = BigInt(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));
    const resolution = {
      network: 'ETHEREUM',
      task: LANE,
      feeAsset: 'ETH',
      nextSlot,
      actor: cliActor('tester'),
    };
    expect(await resolve(world.database, resolution)).toBeUndefined();
    await world.settle(node, [id]);
    expect(await anvil.balance(to)).toBe(ETHER);
    expect(await resolve(world.database, resolution)).toMatch(/is not stopped/);
  });

  it('gives up a transaction whose nonce somebody else has used, and makes its payment once, after an operator has looked', async () => {
    const node = await only();
    const to = payee();
    const { id } = await world.withdraw(await profile(), 'ETH', '1', to);
    await world.turn(node);
    await anvil.call('anvil_dropAllTransactions');
    await anvil.send({ from: LANE, to: LANE });
    for (let round = 0; round < 6; round += 1) {
      await world.turn(node);
      await anvil.mine();
    }
    expect(await stopOf()).toMatchObject({ code: 'foreign-slot' });
    expect(await anvil.balance(to)).toBe(0n);
    expect((await world.transferOf(id)).status).toBe('PENDING');
    expect(
      await resolve(world.database, {
        network: 'ETHEREUM',
        task: LANE,
        feeAsset: 'ETH',
        actor: cliActor('tester'),
      }),
    ).toBeUndefined();
    const [ended] = await world.settle(node, [id]);
    expect(ended!.status).toBe('COMPLETED');
    expect(await anvil.balance(to)).toBe(ETHER);
  });
});
