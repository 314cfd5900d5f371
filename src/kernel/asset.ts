import { DECIMALS_MAX, formatAmount, type ParsedAmount, parseAmount } from './amount.ts';

/** An asset of the configuration. The code contains no tickers except in the default configuration. */
export type Asset = {
  readonly code: string;
  readonly decimals: number;
  readonly kind: 'FIAT' | 'CRYPTO' | 'STABLECOIN';
  /** Network name to contract or mint address; `native` for the network's own coin. Empty for fiat. */
  readonly networks: Readonly<Record<string, string>>;
  /** A stablecoin of the operator: it can be withdrawn against a USD balance, one to one. */
  readonly operatorMinted?: boolean;
};

export type Assets = {
  readonly list: readonly Asset[];
  find(code: string): Asset | undefined;
  /** Throws on an unknown code: for codes that were validated before. */
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
