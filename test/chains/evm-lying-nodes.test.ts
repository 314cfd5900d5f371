import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Anvil, transferCall } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld, startAnvil } from '../support/evm-world.ts';
import { type RpcProxy, startProxy } from '../support/rpc-proxy.ts';

/** One of two nodes hides deposits, or invents them. */

let anvil: Anvil;
let world: EvmWorld;
let liar: RpcProxy;
let node: EvmNode;
let profileId: string;
let address: string;
const ETHER = 10n ** 18n;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const topic = (text: string): string => `0x${text.slice(2).toLowerCase().padStart(64, '0')}`;

beforeAll(async () => {
  anvil = await startAnvil();
  world = await createEvmWorld(anvil);
  liar = await startProxy(anvil.url);
  await anvil.mine(5);
  await world.node.scanner.stop();
  node = await world.createNode({ settings: { nodes: [liar.url, anvil.url] } });
  await world.turn(node);
});
afterAll(async () => {
  await world?.drop();
  await liar?.stop();
  await anvil?.stop();
});
beforeEach(async () => {
  profileId = await world.createProfile();
  address = await world.depositAddress(node, profileId);
});

const stop = async () =>
  (
    await world.database.query<{ code: string; reason: string }>(
      `select code, reason from chain_stops where task = 'scanner'`,
    )
  )[0];

async function turns(): Promise<void> {
  await anvil.mine(3);
  for (let count = 0; count < 3; count += 1) await world.turn(node);
}

async function expectStopped(asset: string): Promise<void> {
  await turns();
  expect(await stop()).toMatchObject({
    code: 'nodes-disagree',
    reason: expect.stringContaining('disagrees about'),
  });
  expect(await world.available(profileId, asset)).toBe('0');
}

async function expectCredited(asset: string, amount: string): Promise<void> {
  liar.answer = () => undefined;
  await turns();
  await turns();
  expect(await world.available(profileId, asset)).toBe(amount);
  expect(await stop()).toBeUndefined();
  await world.expectBooked();
}

describe('a node that lies about deposits', () => {
  it('and hides a token does not hide it: the scanner waits until the nodes agree', async () => {
    liar.answer = (method, result) =>
      method === 'eth_getBlockReceipts' ? result.map((one: object) => ({ ...one, logs: [] })) : undefined;
    await anvil.send({ to: world.contracts.USDC, data: transferCall(address, 5_000_000n) });
    await expectStopped('USDC');
    await expectCredited('USDC', '5');
  });

  it('and hides a coin does not hide it', async () => {
    liar.answer = (method, result) =>
      method.startsWith('eth_getBlockBy') && result !== null
        ? {
            ...result,
            transactions: result.transactions.map((one: any) =>
              typeof one === 'string' ? one : { ...one, value: '0x0' },
            ),
          }
        : undefined;
    await anvil.send({ to: address, value: ETHER });
    await expectStopped('ETH');
    await expectCredited('ETH', '1');
  });

  it('and invents a token credits nobody', async () => {
    liar.answer = (method, result) =>
      method === 'eth_getBlockReceipts'
        ? result.map((one: object) => ({
            ...one,
            logs: [
              {
                address: world.contracts.USDC.toLowerCase(),
                topics: [TRANSFER, topic('0x1'), topic(address)],
                data: topic('0xf4240'),
              },
            ],
          }))
        : undefined;
    await anvil.send({ to: world.contracts.till, value: 1n });
    await expectStopped('USDC');
    await expectCredited('USDC', '0');
  });

  it('that is down while the other one answers does not delay a deposit', async () => {
    liar.answer = () => Promise.reject(new Error('down'));
    await anvil.send({ to: address, value: ETHER });
    await turns();
    expect(await world.available(profileId, 'ETH')).toBe('1');
    await world.expectBooked();
  });
});
