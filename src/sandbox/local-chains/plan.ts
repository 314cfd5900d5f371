import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { openSigner, readSigner } from '../../chains/signer-settings.ts';
import { type Assets, createAssets } from '../../kernel/asset.ts';
import { LIMITS } from '../../limits.ts';
import type { CryptoNetwork } from '../../networks/crypto.ts';
import { DEFAULT_ASSETS } from '../../networks/default-assets.ts';
import { EVM_ADDRESSES } from '../../networks/evm.ts';
import { NETWORKS } from '../../networks/register.ts';
import { demoDeposits } from '../demo.ts';

/** Which networks of the sandbox get a local node, what their wallets hold, and the configuration that uses them. */

/** Those of the real networks, so that the configuration looks as it would there. */
const CHAIN_IDS: Readonly<Record<string, number>> = {
  ETHEREUM: 1,
  POLYGON_POS: 137,
  BASE: 8453,
  ARBITRUM_ONE: 42_161,
  INK: 57_073,
};

/** What a wallet holds of each asset: more than the demo customers own. */
const COINS = '100000';
const TOKENS = '10000000';

export type Funds = Readonly<Record<string, bigint>>;
export type EvmNodePlan = {
  readonly network: CryptoNetwork;
  readonly chainId: number;
  readonly lane: string;
  readonly coins: bigint;
  readonly tokens: Funds;
};
export type SolanaNodePlan = {
  readonly network: CryptoNetwork;
  readonly lane: string;
  readonly coins: bigint;
  readonly tokens: Funds;
  /** Where the mint of each token is. */
  readonly mints: Readonly<Record<string, string>>;
};
export type ChainPlan = { readonly evm: readonly EvmNodePlan[]; readonly solana: SolanaNodePlan | undefined };

/** A node that runs, and where its tokens are. */
export type LocalNode = {
  readonly network: CryptoNetwork;
  readonly url: string;
  readonly tokens: Readonly<Record<string, string>>;
  /** Solana: the name of the cluster. */
  readonly genesisHash?: string;
};

const ASSETS: Assets = createAssets(DEFAULT_ASSETS);

function unitsOf(asset: string, text: string): bigint {
  const parsed = ASSETS.parse(asset, text);
  if (!parsed.ok) throw new Error(`${asset}: ${parsed.message}`);
  return parsed.units;
}

const tokensOn = (network: CryptoNetwork) =>
  ASSETS.list.filter(({ networks }) => networks[network] !== undefined && networks[network] !== 'native');

/** Of the keys that the signer in the sandbox has: everybody knows them. */
async function laneOf(network: CryptoNetwork): Promise<string> {
  const chainId = CHAIN_IDS[network];
  const entry = { signer: 'embedded', ...(chainId !== undefined && { chain_id: chainId }) } as const;
  const context = { rail: network, path: `rails.${network}`, assets: ASSETS, networks: NETWORKS } as const;
  const signer = openSigner(readSigner(entry, { ...context, mode: 'sandbox', secret: () => '' }));
  const { lanes } = await signer.account(network, AbortSignal.timeout(LIMITS.railCallTimeoutMs));
  return lanes[0]!;
}

async function walletOn(network: CryptoNetwork) {
  return {
    network,
    lane: await laneOf(network),
    coins: unitsOf(NETWORKS.crypto(network).native.asset, COINS),
    tokens: Object.fromEntries(tokensOn(network).map(({ code }) => [code, unitsOf(code, TOKENS)])),
  };
}

/** The mint of a token without a real one is at an address that nobody has a key for. */
const mintOf = (code: string, configured: string): string =>
  configured === 'sandbox'
    ? base58.encode(createHash('sha256').update(`the mint of ${code} in the sandbox`).digest())
    : configured;

export const isEvm = (network: CryptoNetwork): boolean =>
  NETWORKS.crypto(network).addresses === EVM_ADDRESSES;

export async function planChains(has: { evm: boolean; solana: boolean }): Promise<ChainPlan> {
  const evm = await Promise.all(
    NETWORKS.cryptoNetworks
      .filter((network) => has.evm && isEvm(network))
      .map(async (network) => ({ ...(await walletOn(network)), chainId: CHAIN_IDS[network]! })),
  );
  if (!has.solana) return { evm, solana: undefined };
  const wallet = await walletOn('SOLANA');
  const mints = tokensOn('SOLANA').map(({ code, networks }) => [code, mintOf(code, networks.SOLANA!)]);
  return { evm, solana: { ...wallet, mints: Object.fromEntries(mints) } };
}

/** The content of FERRY_CONFIG. Networks without a node stay simulated. */
export function configOf({ evm, solana }: ChainPlan, nodes: readonly LocalNode[]): object {
  const nodeOf = (network: CryptoNetwork): LocalNode => nodes.find((one) => one.network === network)!;
  const planned = [...evm, ...(solana === undefined ? [] : [solana])].map(({ network }) => network);
  const assets = DEFAULT_ASSETS.map(({ operatorMinted, networks, ...asset }) => ({
    ...asset,
    ...(operatorMinted === true && { operator_minted: true }),
    ...(asset.kind !== 'FIAT' && {
      networks: Object.fromEntries(
        Object.entries(networks).map(([network, place]) => {
          const node = planned.includes(network as CryptoNetwork)
            ? nodeOf(network as CryptoNetwork)
            : undefined;
          return [network, node?.tokens[asset.code] ?? place];
        }),
      ),
    }),
  }));
  const ofEvm = evm.map(({ network, chainId }) => [
    network,
    {
      kind: 'evm',
      chain_id: chainId,
      nodes: [nodeOf(network).url],
      signer: 'embedded',
      confirmations: { depth: 2 },
      fees: { max_gwei: '500' },
      traces: true,
    },
  ]);
  const ofSolana = solana && {
    kind: 'solana',
    nodes: [{ url: nodeOf(solana.network).url }],
    cluster: nodeOf(solana.network).genesisHash,
    signer: 'embedded',
  };
  return {
    assets,
    rails: { ...Object.fromEntries(ofEvm), ...(ofSolana && { [solana.network]: ofSolana }) },
  };
}

/** What the wallets hold beyond what customers own, to be booked as the operator's money. */
export type Liquidity = {
  readonly network: CryptoNetwork;
  readonly lane: string;
  readonly asset: string;
  readonly amount: string;
};

export function liquidityOf({ evm, solana }: ChainPlan): Liquidity[] {
  const deposits = demoDeposits(ASSETS);
  return [...evm, ...(solana === undefined ? [] : [solana])].flatMap(({ network, lane, coins, tokens }) => {
    const held: [string, bigint][] = [
      [NETWORKS.crypto(network).native.asset, coins],
      ...Object.entries(tokens),
    ];
    return held.map(([asset, units]) => {
      const owned = deposits.filter((one) => one.asset === asset && one.network === network);
      const rest = owned.reduce((left, one) => left - one.units, units);
      return { network, lane, asset, amount: ASSETS.format(asset, rest) };
    });
  });
}
