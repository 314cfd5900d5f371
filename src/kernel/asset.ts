import { DECIMALS_MAX, formatAmount, type ParsedAmount, parseAmount } from './amount.ts';

/** An asset is configuration: nothing in the code knows a ticker, except by looking here. */
export type Asset = {
  readonly code: string;
  readonly decimals: number;
  readonly kind: 'FIAT' | 'CRYPTO' | 'STABLECOIN';
  /** Network name to contract or mint address; `native` for the network's own coin. Empty for fiat. */
  readonly networks: Readonly<Record<string, string>>;
  /** Minted by the operator: may be withdrawn against USD, one to one. */
  readonly operatorMinted?: boolean;
};

export type Assets = {
  readonly list: readonly Asset[];
  find(code: string): Asset | undefined;
  /** Throws on an unknown code: for codes that come from our own tables. */
  get(code: string): Asset;
  parse(code: string, text: unknown): ParsedAmount;
  format(code: string, units: bigint): string;
};

const CODE = /^[A-Z][A-Z0-9]{1,11}$/;

export function createAssets(list: readonly Asset[]): Assets {
  const byCode = new Map<string, Asset>();
  for (const asset of list) {
    if (!CODE.test(asset.code))
      throw new Error(`asset code "${asset.code}" must be 2 to 12 capital letters or digits`);
    if (byCode.has(asset.code)) throw new Error(`asset ${asset.code} is listed twice`);
    if (!Number.isInteger(asset.decimals) || asset.decimals < 0 || asset.decimals > DECIMALS_MAX) {
      throw new Error(`asset ${asset.code} must have 0 to ${DECIMALS_MAX} decimals`);
    }
    byCode.set(asset.code, asset);
  }
  const get = (code: string): Asset => {
    const asset = byCode.get(code);
    if (asset === undefined) throw new Error(`asset ${code} is not configured`);
    return asset;
  };
  return {
    list: [...byCode.values()],
    find: (code) => byCode.get(code),
    get,
    parse: (code, text) => parseAmount(text, get(code).decimals),
    format: (code, units) => formatAmount(units, get(code).decimals),
  };
}

/** The set that Ferry ships with; a configuration file replaces it. */
export const DEFAULT_ASSETS: readonly Asset[] = [
  { code: 'USD', decimals: 2, kind: 'FIAT', networks: {} },
  { code: 'BTC', decimals: 8, kind: 'CRYPTO', networks: { BITCOIN: 'native' } },
  { code: 'BCH', decimals: 8, kind: 'CRYPTO', networks: { BITCOIN_CASH: 'native' } },
  { code: 'LTC', decimals: 8, kind: 'CRYPTO', networks: { LITECOIN: 'native' } },
  {
    code: 'ETH',
    decimals: 18,
    kind: 'CRYPTO',
    networks: { ETHEREUM: 'native', BASE: 'native', ARBITRUM_ONE: 'native', INK: 'native' },
  },
  { code: 'SOL', decimals: 9, kind: 'CRYPTO', networks: { SOLANA: 'native' } },
  { code: 'POL', decimals: 18, kind: 'CRYPTO', networks: { POLYGON_POS: 'native' } },
  {
    code: 'USDC',
    decimals: 6,
    kind: 'STABLECOIN',
    networks: {
      ETHEREUM: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      SOLANA: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      POLYGON_POS: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
      BASE: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      ARBITRUM_ONE: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    },
  },
  {
    // The operator mints it, so the operator's own deployment belongs here; these are the sandbox's.
    code: 'PUSD',
    decimals: 6,
    kind: 'STABLECOIN',
    operatorMinted: true,
    networks: { ETHEREUM: 'sandbox', SOLANA: 'sandbox', BASE: 'sandbox' },
  },
];
