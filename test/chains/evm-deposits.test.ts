import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, thriceCall, transferCall } from '../support/anvil.ts';
import { createEvmWorld, type EvmNode, type EvmWorld, startAnvil } from '../support/evm-world.ts';

let anvil: Anvil;
let world: EvmWorld;
let node: EvmNode;
const ETHER = 10n ** 18n;
const DEPTH = 3;

beforeAll(async () => {
  anvil = await startAnvil('--slots-in-an-epoch', '2');
  world = await createEvmWorld(anvil);
  node = await world.createNode({ settings: { traces: true } });
  await anvil.mine(12);
  await world.turn(node);
});
afterAll(async () => {
  await world?.drop();
  await anvil?.stop();
});

async function account() {
  const profileId = await world.createProfile();
  return { profileId, address: await world.depositAddress(node, profileId) };
}

async function confirm(blocks = DEPTH): Promise<void> {
  await anvil.mine(blocks);
  await world.turn(node);
  await world.turn(node);
}

describe('a deposit on an EVM network', () => {
  it('has the same address for the same id, and another one for every other id', async () => {
    const one = await account();
    const two = await account();
    expect(one.address).not.toBe(two.address);
    const id = '0198f0e0-0000-7000-8000-000000000001';
    const signal = AbortSignal.timeout(60_000);
    const all = await Promise.all(Array.from({ length: 5 }, () => node.rail.depositAddress!(id, signal)));
    expect(new Set(all).size).toBe(1);
  });

  it('of a coin is credited at the depth of the policy, and not one block before', async () => {
    const { profileId, address } = await account();
    await anvil.send({ to: address, value: 2n * ETHER });
    for (let depth = 1; depth < DEPTH; depth += 1) {
      await world.turn(node);
      expect(await world.available(profileId, 'ETH')).toBe('0');
      await anvil.mine();
    }
    await world.turn(node);
    await world.turn(node);
    expect(await world.available(profileId, 'ETH')).toBe('2');
  });

  it('of a token is credited once for each transfer, by its place within the transaction', async () => {
    const { profileId, address } = await account();
    const other = await account();
    const { hash, receipt } = await anvil.send({
      to: world.contracts.USDC,
      data: thriceCall(other.address, address, 1_000_000n),
    });
    expect(receipt.status).toBe('0x1');
    await confirm();
    expect(await world.available(profileId, 'USDC')).toBe('2');
    expect(await world.available(other.profileId, 'USDC')).toBe('1');
    const rows = await world.database.query<{ index: string }>(
      'select crypto_tx_index as index from transfers where crypto_tx_hash = $1 order by 1',
      [hash],
    );
    expect(rows.map(({ index }) => index)).toEqual(['0', '1', '2']);
  });

  it('by a contract is found in the traces: all that the transaction paid to the address, without calls that were undone', async () => {
    const { profileId, address } = await account();
    const data = `0x3e58c58c${address.slice(2).toLowerCase().padStart(64, '0')}`;
    const { receipt } = await anvil.send({ to: world.contracts.sender, value: 8n * ETHER, data });
    expect(receipt.status).toBe('0x1');
    await confirm();
    expect(await world.available(profileId, 'ETH')).toBe('6');
  });

  it('of a token that is not configured goes to suspense, and nothing is posted', async () => {
    const { address } = await account();
    await anvil.send({ to: world.contracts.unknown, data: transferCall(address, 5n) });
    await confirm();
    const rows = await world.database.query<{ asset: string; booked: boolean }>(
      'select lower(asset) as asset, booked from suspense_deposits',
    );
    expect(rows).toEqual([{ asset: world.contracts.unknown.toLowerCase(), booked: false }]);
  });

  it('whose transaction reverted is none', async () => {
    const { profileId, address } = await account();
    const { receipt } = await anvil.send({
      to: world.contracts.USDC,
      data: thriceCall(address, address, 10n ** 30n),
    });
    expect(receipt.status).toBe('0x0');
    await confirm();
    expect(await world.available(profileId, 'USDC')).toBe('0');
  });

  it.each([1, 10])(
    'survives a reorganisation of %i blocks: credited once, where it ends up',
    async (depth) => {
      const deep = await world.createNode({
        settings: { policy: { depth: 12, tag: 'latest' }, traces: true },
      });
      // One scanner has the lease at a time.
      await node.scanner.stop();
      const { profileId, address } = await account();
      const kept = await anvil.send({ to: address, value: ETHER });
      const raw = await anvil.call<string>('eth_getRawTransactionByHash', [kept.hash]).catch(() => undefined);
      if (depth > 1) await anvil.mine(depth - 1);
      await world.turn(deep);
      await anvil.call('anvil_reorg', [depth, []]);
      await world.turn(deep);
      expect(await world.available(profileId, 'ETH')).toBe('0');
      // The transaction is mined again, in another block.
      if (raw !== undefined) await anvil.call('eth_sendRawTransaction', [raw]).catch(() => undefined);
      else await anvil.send({ to: address, value: ETHER });
      await anvil.mine(13);
      await world.turn(deep);
      await world.turn(deep);
      expect(await world.available(profileId, 'ETH')).toBe('1');
      await anvil.mine(3);
      await world.turn(deep);
      expect(await world.available(profileId, 'ETH')).toBe('1');
      await deep.scanner.stop();
    },
  );

  it('waits for the block tag as well as for the depth, whichever is later', async () => {
    const tagged = await world.createNode({ settings: { policy: { depth: 1, tag: 'finalized' } } });
    const { profileId, address } = await account();
    await anvil.send({ to: address, value: ETHER });
    await world.turn(tagged);
    await world.turn(tagged);
    expect(await world.available(profileId, 'ETH')).toBe('0');
    await anvil.mine(6);
    await world.turn(tagged);
    await world.turn(tagged);
    expect(await world.available(profileId, 'ETH')).toBe('1');
    await tagged.scanner.stop();
  });

  it('leaves wallet and ledger equal to the unit', async () => {
    await world.expectBooked();
  });
});
