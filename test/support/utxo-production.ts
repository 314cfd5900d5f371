import { expect } from 'vitest';
import { createUtxoDriver } from '../../src/chains/utxo/create.ts';
import type { NodeSettings } from '../../src/chains/utxo/rpc.ts';
import { installedKinds, type Kind } from '../chains/utxo-node.ts';
import { settingsOf, signal } from '../chains/utxo-wallet.ts';
import { createChainProduction } from './chain-production.ts';
import { until } from './until.ts';
import { payee, startCoins } from './utxo-world.ts';

/** Production with a wallet of coins, as processes. */

export const COIN = 100_000_000n;
/** The largest first. A second transaction does not simply wait for the change of the first. */
const COINS = [30n, 20n, 10n];
/** The blocks before it paid the outsider. */
const FIRST_HEIGHT = 110;
/** Blocks that the scanner may be behind. */
const BEHIND_MAX = 20;

export const kindOf = (network: Kind['network']): Kind | undefined =>
  installedKinds.find((one) => one.network === network);

export type UtxoProductionOptions = {
  readonly confirmations?: number;
  /** The nodes of the service, if they are not the real one. */
  readonly nodes?: (real: NodeSettings) => Promise<readonly NodeSettings[]>;
  readonly rail?: object;
};

export async function createUtxoProduction(kind: Kind, options: UtxoProductionOptions = {}) {
  const { network } = kind;
  const { confirmations = 2, rail = {} } = options;
  const { node, outsider } = await startCoins(kind);
  const { asset } = outsider.wallet.chain;
  const nodes = (await options.nodes?.(node.settings)) ?? [node.settings];
  let change = '';
  const production = await createChainProduction({
    network,
    assets: { [asset]: { decimals: 8, place: 'native' } },
    signer: { test_chain: true },
    rail: ({ xpub }) => ({
      kind: 'utxo',
      chain: 'regtest',
      nodes: nodes.map(({ url, user }) => ({ url, user, password: { env: 'NODE_PASSWORD' } })),
      account: xpub,
      confirmations,
      fees: { max_rate: 100_000, fallback_rate: 2_000 },
      ...rail,
    }),
    async fund({ xpub }, isScanning) {
      await until('the scanner has begun', isScanning);
      change = createUtxoDriver(settingsOf(network, [node], { account: xpub! })).account.change.address;
      await outsider.pay(COINS.map((coins) => ({ address: change, units: coins * COIN })));
      await node.mine(confirmations);
    },
    opening: { [asset]: String(COINS.reduce((sum, coins) => sum + coins)) },
    pass: () => mineSome(),
  });

  /** A block, unless the service is behind: one that is slow would never catch up with blocks that come at a fixed rate. */
  async function mineSome(): Promise<void> {
    const [row] = await production.query<{ height: bigint }>(
      'select coalesce(max(height), 0)::bigint as height from chain_blocks',
    );
    const height: number = await node.rpc('getblockcount');
    if (height - Number(row!.height) < BEHIND_MAX) await node.mine(1);
  }

  /** What the blocks of the best chain pay to the addresses, and what of it is not spent: read by somebody else. */
  async function read(addresses: readonly string[]) {
    const found = new Map<string, bigint[]>(addresses.map((address) => [address, []]));
    const unspent = new Map<string, bigint>();
    const { driver } = outsider.wallet;
    const { height } = await driver.head(signal());
    for (let at = FIRST_HEIGHT; at <= height; at += 1) {
      const { received, spent } = await driver.block(at, (address) => found.has(address), signal());
      for (const { txHash, output, address, units } of received) {
        found.get(address)!.push(units);
        unspent.set(`${txHash}:${output}`, units);
      }
      for (const coin of spent) unspent.delete(coin);
    }
    return { found, held: [...unspent.values()].reduce((sum, units) => sum + units, 0n) };
  }

  return {
    ...production,
    asset,
    chain: node,
    outsider,
    mineSome,
    change: () => change,
    payee: (index: number) => payee(index, network),
    paid: async (addresses: readonly string[]): Promise<bigint[][]> => {
      const { found } = await read(addresses);
      return addresses.map((address) => found.get(address)!);
    },
    /** What the wallet has, at addresses that the database knows and others. */
    async held(others: readonly string[] = []): Promise<bigint> {
      const rows = await production.query<{ address: string }>('select address from chain_addresses');
      return (await read([change, ...rows.map(({ address }) => address), ...others])).held;
    },
    async expectBooked(): Promise<void> {
      const rows = await production.query<{ address: string }>('select address from chain_addresses');
      const { held } = await read([change, ...rows.map(({ address }) => address)]);
      expect(await production.clearing(asset)).toBe(held);
    },
    /** Until that many withdrawals are signed, and the node has their transactions. */
    async signed(ids: readonly string[]): Promise<void> {
      await until('the withdrawals are signed and sent', async () => {
        const [row] = await production.query<{ count: number }>(
          `select count(distinct p.key)::integer as count from chain_assignment_payments p
           join chain_versions v using (assignment_id)
           where p.active and v.broadcast_at_ns is not null and p.key in (${ids.map((id) => `'${id}'`).join()})`,
        );
        return row!.count === ids.length;
      });
    },
    async remove(): Promise<void> {
      await production.remove();
      await node.stop();
    },
  };
}

export type UtxoProduction = Awaited<ReturnType<typeof createUtxoProduction>>;
