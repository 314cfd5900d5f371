import type { Asset } from '../kernel/asset.ts';
import type { CryptoNetwork } from './crypto.ts';
import { NETWORKS, type Networks } from './register.ts';

type Contracts = Readonly<Partial<Record<CryptoNetwork, string>>>;

const USDC_CONTRACTS: Contracts = {
  ETHEREUM: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  SOLANA: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  POLYGON_POS: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  BASE: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  ARBITRUM_ONE: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
};

/** Placeholders: the operator mints PUSD, and configures its own contracts. */
const PUSD_CONTRACTS: Contracts = { ETHEREUM: 'sandbox', SOLANA: 'sandbox', BASE: 'sandbox' };

/** Every coin with the networks that it is native to. */
function nativeAssets(networks: Networks): Asset[] {
  const natives = networks.cryptoNetworks.map((network) => ({ network, ...networks.crypto(network).native }));
  const byCode = Map.groupBy(natives, ({ asset }) => asset);
  return [...byCode].map(([code, homes]) => ({
    code,
    decimals: homes[0]!.decimals,
    kind: 'CRYPTO',
    networks: Object.fromEntries(homes.map(({ network }) => [network, 'native'])),
  }));
}

/** The set that Ferry ships with; a configuration file replaces it. */
export function defaultAssets(networks: Networks): readonly Asset[] {
  return [
    { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} },
    ...nativeAssets(networks),
    { code: 'USDC', decimals: 6, kind: 'STABLECOIN', networks: USDC_CONTRACTS },
    { code: 'PUSD', decimals: 6, kind: 'STABLECOIN', operatorMinted: true, networks: PUSD_CONTRACTS },
  ];
}

export const DEFAULT_ASSETS = defaultAssets(NETWORKS);
