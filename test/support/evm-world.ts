import { addressesBelow } from '../../src/chains/evm/addresses.ts';
import { createEvmDriver, type EvmDriver } from '../../src/chains/evm/driver.ts';
import type { EvmSettings } from '../../src/chains/evm/settings.ts';
import { openChain } from '../../src/chains/rail.ts';
import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { type Anvil, CHAIN_ID, LANE, OUTSIDER, startAnvil, transferCall } from './anvil.ts';
import { type ChainNode, createChainWorld, type NodeOptions as OptionsOf } from './chain-world.ts';
import { PATIENCE_MS } from './until.ts';

/** The service without HTTP on a real node. Nothing runs by itself: a test mines blocks and gives turns. */

const NETWORK = 'ETHEREUM';
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

const token = (code: string, contract: string) =>
  ({ code, decimals: 6, kind: 'STABLECOIN', networks: { [NETWORK]: contract } }) as const;

export async function createEvmWorld(anvil: Anvil, given?: Contracts) {
  const contracts = given ?? (await deployTokens(anvil));
  const assets = createAssets([
    ...DEFAULT_ASSETS.filter(({ code }) => !['USDC', 'PUSD'].includes(code)),
    token('USDC', contracts.USDC),
    token('NOPE', contracts.NOPE),
    token('TAXED', contracts.TAXED),
  ]);
  const firstNonce = BigInt(await anvil.call<string>('eth_getTransactionCount', [LANE, 'latest']));

  const settingsOf = (own: Partial<EvmSettings> = {}): EvmSettings => ({
    network: NETWORK,
    chainId: CHAIN_ID,
    nodes: [anvil.url],
    nodesAgreeing: 1,
    policy: { depth: 3, tag: 'latest' },
    blockMs: 1,
    native: 'ETH',
    tokens: (['USDC', 'NOPE', 'TAXED'] as const).map((asset) => ({ asset, contract: contracts[asset] })),
    fees: { maxFeeMax: 500n * 10n ** 9n, tipMin: 10n ** 6n, tipMax: 5n * 10n ** 9n },
    bumpAfterMs: PATIENCE_MS,
    inFlightMax: 16,
    firstNonce,
    traces: false,
    dataFeeOracle: undefined,
    lowMark: undefined,
    highMark: undefined,
    ...own,
  });

  const world = await createChainWorld<EvmSettings, EvmDriver>({
    network: NETWORK,
    assets,
    feeSchedule: { crypto: { NOPE: { [NETWORK]: '1' }, TAXED: { [NETWORK]: '1' } } },
    wallet: [LANE],
    async open({ settings: own, wrapSigner, checkpoint, leaseMs, treasury }, node) {
      const cold = treasury?.coldAddress;
      const settings = { ...settingsOf(own), coldAddress: cold };
      const entry = {
        signer: 'embedded',
        chain_id: CHAIN_ID,
        ...(cold !== undefined && { cold_address: cold }),
      } as const;
      const context = { rail: NETWORK, path: `rails.${NETWORK}`, assets, networks: NETWORKS } as const;
      const local = openSigner(readSigner(entry, { ...context, mode: 'sandbox', secret: () => '' }), node);
      const signer = wrapSigner?.(local) ?? local;
      const { lanes, xpub } = await local.account(NETWORK, AbortSignal.timeout(PATIENCE_MS));
      const { nowMs } = node.clock;
      const driver = await createEvmDriver({ settings, lanes, nowMs, callTimeoutMs: 5_000 });
      const account = { xpub: xpub!, derive: await addressesBelow(xpub!) };
      const { blockMs, policy } = settings;
      const chain = {
        network: NETWORK,
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
  return { ...world, anvil, contracts, settingsOf };
}

export type EvmWorld = Awaited<ReturnType<typeof createEvmWorld>>;
export { startAnvil };
