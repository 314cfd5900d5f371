import { openChain } from '../../src/chains/rail.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import { chainOf, type UtxoNetwork } from '../../src/chains/utxo/chain.ts';
import { createUtxoDriver, type UtxoDriver } from '../../src/chains/utxo/create.ts';
import type { UtxoSettings } from '../../src/chains/utxo/settings.ts';
import { openWallet } from '../../src/chains/utxo/wallet.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { installedKinds, type Kind, startNode, type TestNode } from '../chains/utxo-node.ts';
import {
  CONFIRMATIONS,
  createWallet,
  fund,
  minerAddressesOf,
  settingsOf,
  signal,
  strangerOf,
} from '../chains/utxo-wallet.ts';
import { type ChainNode, createChainWorld, type NodeOptions as OptionsOf } from './chain-world.ts';

/** The service without HTTP on a real node of Litecoin. Nothing runs by itself: a test mines blocks and gives turns. */

const NETWORK = 'LITECOIN';
/** What the wallet has in the beginning. */
const COINS = 8;
/** Strangers whom empty blocks pay. */
const EMPTY_BLOCKS_FROM = 1_000_000;
const COIN_UNITS = 20_00000000n;

export type NodeOptions = OptionsOf<UtxoSettings>;
export type UtxoNode = ChainNode<UtxoDriver>;

const litecoind = installedKinds.find(({ network }) => network === NETWORK);

/** Only where litecoind is installed. */
export const hasLitecoind = litecoind !== undefined;

/** Somebody else with coins: the blocks of the node pay them. */
async function createOutsider(node: TestNode, network: UtxoNetwork) {
  const wallet = createWallet(network, [node]);
  await fund(node, wallet);
  let count = 0;
  return {
    wallet,
    /** Pays in one transaction, which the next block contains. Returns its hash. */
    async pay(payments: readonly { readonly address: string; readonly units: bigint }[]): Promise<string> {
      await wallet.scan();
      wallet.open.splice(0);
      const outgoing = payments.map((one) => {
        count += 1;
        return { key: `outside-${count}`, asset: wallet.chain.asset, ...one };
      });
      const assignment = await wallet.plan(outgoing);
      const version = await wallet.version(assignment);
      await wallet.broadcast(version!);
      return version!.hash;
    },
  };
}

const assets = createAssets(DEFAULT_ASSETS);

/** Of the signer inside the sandbox. */
export async function sandboxAccount(cold?: string) {
  const signerSettings = readSigner(
    { signer: 'embedded', chain: 'regtest', ...(cold !== undefined && { cold_address: cold }) },
    { rail: NETWORK, path: 'rails.LITECOIN', assets, networks: NETWORKS, mode: 'sandbox', secret: () => '' },
  );
  const { xpub } = await openSigner(signerSettings).account(NETWORK, signal());
  return { signerSettings, xpub: xpub! };
}

/** A node, and somebody with coins on it. */
export async function startCoins(kind: Kind) {
  const node = await startNode(kind, minerAddressesOf(kind.network));
  return { node, outsider: await createOutsider(node, kind.network) };
}

export const startLitecoin = () => startCoins(litecoind!);

/** The same payee as customers write the address, and as it is on the chain of the test. */
export function payee(
  index: number,
  network: UtxoNetwork = NETWORK,
): { readonly address: string; readonly local: string } {
  // Every fifth stranger has an address of the usual kind.
  const stranger = 5 * index + 2;
  return {
    address: strangerOf(chainOf(network, 'main'), stranger),
    local: strangerOf(chainOf(network, 'regtest'), stranger),
  };
}

export async function createUtxoWorld(coins = COINS, cold?: string) {
  const { node, outsider } = await startLitecoin();
  const { signerSettings, xpub } = await sandboxAccount(cold);
  const common = { ...settingsOf(NETWORK, [node], { account: xpub }), coldAddress: cold };
  const change = createUtxoDriver(common).account.change.address;
  /** One for all nodes, as in production. It is opened with the first of them. */
  let signer: Signer | undefined;

  const world = await createChainWorld<UtxoSettings, UtxoDriver>({
    network: NETWORK,
    assets,
    feeSchedule: {},
    wallet: [change],
    async open({ settings: own, wrapSigner, checkpoint, leaseMs, treasury }, service) {
      const settings = { ...common, ...own };
      const driver = createUtxoDriver(settings);
      const isFirst = signer === undefined;
      signer ??= openSigner(signerSettings, service);
      const adapter = openChain(
        {
          network: NETWORK,
          driver,
          signer: wrapSigner?.(signer) ?? signer,
          confirmations: settings.confirmations,
          blockMs: 1,
          checkpoint,
          leaseMs,
          ...(treasury !== undefined && { treasury, movesMs: 0 }),
          ...openWallet(settings, driver.account, xpub),
        },
        service,
      );
      if (isFirst) {
        // Coins are found from the first block on that is scanned.
        await adapter.scanner.run();
        await outsider.pay(Array.from({ length: coins }, () => ({ address: change, units: COIN_UNITS })));
        await node.mine(CONFIRMATIONS);
        await adapter.scanner.run();
      }
      // A keeper plans only from blocks that are scanned.
      const keepers = adapter.keepers.map((keeper) => ({
        ...keeper,
        async run() {
          await adapter.scanner.run();
          return keeper.run();
        },
      }));
      return { adapter: { ...adapter, keepers }, driver };
    },
    pass: () => node.mine(1),
  });

  let emptyBlocks = 0;

  /** What each of the addresses was paid in the blocks of the best chain, by the reader of somebody else. */
  async function paid(addresses: readonly string[]): Promise<Map<string, bigint[]>> {
    const found = new Map<string, bigint[]>(addresses.map((address) => [address, []]));
    const { driver } = outsider.wallet;
    const { height } = await driver.head(signal());
    for (let at = 110; at <= height; at += 1) {
      const { received } = await driver.block(at, (address) => found.has(address), signal());
      for (const { address, units } of received) found.get(address)!.push(units);
    }
    return found;
  }

  return {
    ...world,
    chain: node,
    outsider,
    change,
    paid,
    paidTo: async (address: string): Promise<bigint[]> => (await paid([address])).get(address)!,
    /** The last blocks are taken back. Their transactions wait for a block again. */
    async takeBack(blocks: number): Promise<void> {
      const height: number = await node.rpc('getblockcount');
      await node.rpc('invalidateblock', await node.rpc('getblockhash', height - blocks + 1));
    },
    /** A block without any payment, other than all before it. */
    async mineEmpty(): Promise<void> {
      emptyBlocks += 1;
      await node.rpc('generateblock', payee(EMPTY_BLOCKS_FROM + emptyBlocks).local, []);
    },
    async drop(): Promise<void> {
      try {
        await world.drop();
      } finally {
        await node.stop();
      }
    },
  };
}

export type UtxoWorld = Awaited<ReturnType<typeof createUtxoWorld>>;
