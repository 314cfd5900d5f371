import { addressesBelow } from '../../src/chains/evm/addresses.ts';
import { createEvmDriver, type EvmDriver } from '../../src/chains/evm/driver.ts';
import type { EvmSettings } from '../../src/chains/evm/settings.ts';
import { openChain } from '../../src/chains/rail.ts';
import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import { type Assets, createAssets } from '../../src/kernel/asset.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { type Anvil, CHAIN_ID, LANE, OUTSIDER, startAnvil, transferCall } from './anvil.ts';
import { type ChainNode, createChainWorld, type NodeOptions as OptionsOf } from './chain-world.ts';
import { PATIENCE_MS } from './until.ts';

/** The service without HTTP on a real node. Nothing runs by itself: a test mines blocks and gives turns. */

const SUPPLY = 10n ** 15n;

export type NodeOptions = OptionsOf<EvmSettings>;
export type EvmNode = ChainNode<EvmDriver>;

async function deployTokens(anvil: Anvil) {
  const contracts = {
    USDC: await anvil.deploy('Token', SUPPLY),
    NOPE: await anvil.deploy('FalseToken', SUPPLY),
    TAXED: await anvil.deploy('FeeToken', SUPPLY),
    refuser: await anvil.deploy('Refuser'),
    till: await anvil.deploy('Till'),
    sender: await anvil.deploy('Sender'),
    unknown: await anvil.deploy('Token', SUPPLY),
  };
  for (const to of [contracts.USDC, contracts.unknown])
    await anvil.send({ from: LANE, to, data: transferCall(OUTSIDER, 10n ** 9n) });
  return contracts;
}

export type Contracts = Awaited<ReturnType<typeof deployTokens>>;

/** A network on a node: with which chain id, over which address, and where its tokens are. */
export type Place = {
  readonly network: CryptoNetwork;
  readonly chainId: number;
  readonly url: string;
  readonly tokens: Readonly<Record<string, string>>;
  readonly settings?: Partial<EvmSettings>;
};

/** The default assets, and those of the test, on that network only. */
function assetsOn({ network, tokens }: Place): Assets {
  const others = DEFAULT_ASSETS.filter(
    ({ code, kind }) => kind !== 'STABLECOIN' && tokens[code] === undefined,
  );
  const own = Object.entries(tokens).map(([code, contract]) => ({
    code,
    decimals: 6,
    kind: 'STABLECOIN' as const,
    networks: { [network]: contract },
  }));
  return createAssets([...others, ...own]);
}

export async function createWorldOn(anvil: Anvil, place: Place) {
  const { network, chainId, url, tokens } = place;
  const assets = assetsOn(place);
  const firstNonce = BigInt(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));

  const settingsOf = (own: Partial<EvmSettings> = {}): EvmSettings => ({
    network,
    chainId,
    nodes: [url],
    nodesAgreeing: 1,
    policy: { depth: 3, tag: 'latest' },
    blockMs: 1,
    native: NETWORKS.crypto(network).native.asset,
    tokens: Object.entries(tokens).map(([asset, contract]) => ({ asset, contract })),
    fees: { maxFeeMax: 500n * 10n ** 9n, tipMin: 10n ** 6n, tipMax: 5n * 10n ** 9n },
    bumpAfterMs: PATIENCE_MS,
    inFlightMax: 16,
    firstNonce,
    traces: false,
    dataFeeOracle: undefined,
    lowMark: undefined,
    highMark: undefined,
    ...place.settings,
    ...own,
  });

  const withoutFee = Object.keys(tokens).filter((code) => !['USDC', 'PUSD'].includes(code));
  const world = await createChainWorld<EvmSettings, EvmDriver>({
    network,
    assets,
    feeSchedule: { crypto: Object.fromEntries(withoutFee.map((code) => [code, { [network]: '1' }])) },
    wallet: [LANE],
    async open({ settings: own, wrapSigner, checkpoint, leaseMs, treasury }, node) {
      const cold = treasury?.coldAddress;
      const settings = { ...settingsOf(own), coldAddress: cold };
      const entry = {
        signer: 'embedded',
        chain_id: chainId,
        ...(cold !== undefined && { cold_address: cold }),
      } as const;
      const context = { rail: network, path: `rails.${network}`, assets, networks: NETWORKS } as const;
      const local = openSigner(readSigner(entry, { ...context, mode: 'sandbox', secret: () => '' }), node);
      const signer = wrapSigner?.(local) ?? local;
      const { lanes, xpub } = await local.account(network, AbortSignal.timeout(PATIENCE_MS));
      const { nowMs } = node.clock;
      const driver = await createEvmDriver({ settings, lanes, nowMs, callTimeoutMs: 5_000 });
      const account = { xpub: xpub!, derive: await addressesBelow(xpub!) };
      const { blockMs, policy } = settings;
      const chain = {
        network,
        driver,
        signer,
        lanes,
        account,
        blockMs,
        checkpoint,
        leaseMs,
        ...(treasury !== undefined && { treasury, movesMs: 0 }),
      } as const;
      return { adapter: openChain({ ...chain, confirmations: policy.depth }, node), driver };
    },
    pass: () => anvil.mine(3),
  });
  return { ...world, anvil, settingsOf };
}

export async function createEvmWorld(anvil: Anvil, given?: Contracts) {
  const contracts = given ?? (await deployTokens(anvil));
  const { USDC, NOPE, TAXED } = contracts;
  const place = {
    network: 'ETHEREUM',
    chainId: CHAIN_ID,
    url: anvil.url,
    tokens: { USDC, NOPE, TAXED },
  } as const;
  return { ...(await createWorldOn(anvil, place)), contracts };
}

export type EvmWorld = Awaited<ReturnType<typeof createEvmWorld>>;
export { startAnvil };
