import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { depositAddressOn } from '../../src/rails/call.ts';
import { lamportsOf, mintTo, send, signal } from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { createSolanaWorld, type SolanaWorld } from '../support/solana-world.ts';
import { until } from '../support/until.ts';

let chain: TestChain;
let world: SolanaWorld;

beforeAll(async () => {
  // Slow enough that the scanner keeps up with it on a busy machine.
  chain = await startSolana(40);
  world = await createSolanaWorld(chain);
  await world.turn(world.node);
}, 120_000);
afterAll(async () => {
  await world?.drop();
  await chain?.stop();
});

async function account() {
  const profileId = await world.createProfile();
  return { profileId, address: await world.depositAddress(world.node, profileId) };
}

/** Coins from a stranger. */
async function pay(to: string, lamports: bigint): Promise<string> {
  const { kit, system } = chain.library;
  const source = await chain.wallet(lamports + 1_000_000_000n);
  const destination = kit.address(to);
  return send(chain, source, [system.getTransferSolInstruction({ source, destination, amount: lamports })]);
}

/** Scans until everything that is on the chain now was reported. */
async function scanned(): Promise<void> {
  const slot = await chain.call<number>('getSlot', { commitment: 'finalized' });
  await until('the scanner has come so far', async () => {
    await world.turn(world.node);
    const [row] = await world.database.query<{ height: number }>(
      'select max(height)::integer as height from chain_blocks',
    );
    return row!.height >= slot;
  });
  await until('everything is reported and processed', async () => {
    await world.turn(world.node);
    const [row] = await world.database.query<{ count: number }>(
      `select (select count(*) from chain_deposits where not reported and height <= $1)::integer
              + (select count(*) from rail_notices)::integer as count`,
      [slot],
    );
    return row!.count === 0;
  });
}

const suspense = () =>
  world.database.query<{ asset: string; units: bigint; booked: boolean }>(
    'select asset, amount_units as units, booked from suspense_deposits order by asset',
  );

describe('a deposit on Solana', () => {
  it.each(['SOL', 'USDC', 'PUSD'] as const)('of %s is credited once, with its address', async (asset) => {
    const { profileId, address } = await account();
    const hash =
      asset === 'SOL'
        ? await pay(address, 2_000_000_000n)
        : await mintTo(chain, world.mints[asset], address, 2_000_000n);
    await scanned();
    await scanned();
    expect(await world.available(profileId, asset)).toBe('2');
    const rows = await world.database.query<{ index: string | null }>(
      'select crypto_tx_index as index from transfers where crypto_tx_hash = $1',
      [hash],
    );
    expect(rows).toEqual([{ index: address }]);
    await world.expectBooked();
  });

  it('of a token with a fee on transfers is what arrives', async () => {
    const { profileId, address } = await account();
    const profile = await world.createProfile({ TAXED: '10' });
    const { id } = await world.withdraw(profile, 'TAXED', '1', address);
    await world.settle(world.node, [id]);
    await scanned();
    expect(await world.available(profileId, 'TAXED')).toBe('0.99');
  });

  it('of a token that is not configured goes to suspense, and nothing is posted', async () => {
    const { address } = await account();
    await mintTo(chain, world.unknown, address, 5n);
    await scanned();
    expect(await suspense()).toMatchObject([{ asset: world.unknown.address, booked: false }]);
  });

  it('at an address that was not handed out goes to suspense', async () => {
    const { profileId } = await account();
    const [{ count }] = (await world.database.query<{ count: number }>(
      'select count(*)::integer as count from chain_addresses',
    )) as [{ count: number }];
    const { deposits } = await world.account();
    await pay(deposits![count]!, 1_000_000_000n);
    await scanned();
    expect(await suspense()).toContainEqual({ asset: 'SOL', units: 1_000_000_000n, booked: true });
    expect(await world.available(profileId, 'SOL')).toBe('0');
  });

  it('does not see what the lane itself receives', async () => {
    const before = await world.database.query('select from transfers');
    const held = await lamportsOf(chain, world.lane);
    await pay(world.lane, 7n);
    await scanned();
    expect(await lamportsOf(chain, world.lane)).toBe(held + 7n);
    expect(await world.database.query('select from transfers')).toHaveLength(before.length);
  });

  it('waits while nodes show different deposits in its block, and is credited once they agree', async () => {
    const { profileId, address } = await account();
    const liar = await chain.relayed();
    liar.behave(({ method }, { result }) =>
      method === 'getBlock' && result != null ? { result: { ...result, transactions: [] } } : undefined,
    );
    const nodes = [chain.relay, liar].map(({ url }) => ({ url, headers: {} }));
    const careful = await world.createNode({ settings: { nodes, nodesAgreeing: 2 } });
    await world.node.scanner.stop();
    await pay(address, 1_000_000_000n);
    const stopped = async (): Promise<string | undefined> => {
      const rows = await world.database.query<{ code: string }>(
        `select code from chain_stops where task = 'scanner'`,
      );
      return rows[0]?.code;
    };
    await until('the scanner waits', async () => {
      await world.turn(careful);
      return (await stopped()) === 'nodes-disagree';
    });
    expect(await world.available(profileId, 'SOL')).toBe('0');
    liar.behave(undefined);
    await until('the deposit is credited', async () => {
      await world.turn(careful);
      return (await world.available(profileId, 'SOL')) === '1';
    });
    await until('the scanner goes on', async () => {
      await world.turn(careful);
      return (await stopped()) === undefined;
    });
  });

  it('has the same address for the same id, and a reason and a metric when all addresses are in use', async () => {
    const { deposits } = await world.account();
    const small = await world.createNode({
      wrapSigner: (signer) => ({
        ...signer,
        account: async (network, at) => ({
          ...(await signer.account(network, at)),
          deposits: deposits!.slice(0, 20),
        }),
      }),
    });
    const free = async (): Promise<unknown> => {
      const all = await Promise.all(small.backlogs!.map((one) => one.read()));
      return all.flat().find((row) => 'ferry_chain_addresses_free' in row)?.ferry_chain_addresses_free;
    };
    const id = newId();
    const same = await Promise.all(Array.from({ length: 5 }, () => small.rail.depositAddress!(id, signal())));
    expect(new Set(same).size).toBe(1);
    const taken = new Set<string>();
    for (let left = (await free()) as number; left > 0; left -= 1)
      taken.add(await small.rail.depositAddress!(newId(), signal()));
    expect(await free()).toBe(0);
    expect(taken.has(same[0]!)).toBe(false);
    await expect(depositAddressOn(small.rail, newId(), 60_000)).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('All 20 deposit addresses of SOLANA are in use'),
    });
    expect(await small.rail.depositAddress!(id, signal())).toBe(same[0]);
  });

  it('is refused an address if the signer has another seed', async () => {
    const other = await world.createNode({
      wrapSigner: (signer) => ({
        ...signer,
        account: async (network, at) => {
          const found = await signer.account(network, at);
          return { ...found, deposits: found.deposits!.toReversed() };
        },
      }),
    });
    await expect(other.rail.depositAddress!(newId(), signal())).rejects.toThrow(/another xpub/);
  });
});
