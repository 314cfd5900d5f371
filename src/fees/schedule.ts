import { FIAT_KINDS, type FiatKind } from '../fiat-accounts/fiat-account.ts';
import type { Assets } from '../kernel/asset.ts';

/**
 * What withdrawals and deposits cost. Flat, in units: a fiat rail's withdrawal in USD, everything else in the asset that
 * is sent or arrives.
 */
export type FeeSchedule = {
  fiat(kind: FiatKind): bigint;
  /** Undefined where nobody has set a fee: nothing is sent for free by accident. */
  crypto(asset: string, network: string): bigint | undefined;
  /** In units of that asset. Undefined where the configuration does not know the asset on that rail. */
  deposit(rail: string, asset: string): bigint | undefined;
};

/** As the configuration file has it: decimal strings. What it does not name keeps its default. */
export type FeeTable = {
  readonly fiat?: Readonly<Record<string, string>>;
  readonly crypto?: CryptoFees;
  readonly deposits?: {
    /** By rail: what a deposit in USD costs, or that for each asset that the rail carries. */
    readonly fiat?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
    readonly crypto?: CryptoFees;
  };
};

/** By asset and network. */
type CryptoFees = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const DEFAULT_FEES = {
  fiat: { wire: '20', cubix: '0', bank_network_2: '0', bank_network_3: '0', cbit: '0' },
  crypto: {
    BTC: { BITCOIN: '0.0001' },
    BCH: { BITCOIN_CASH: '0.0001' },
    LTC: { LITECOIN: '0.001' },
    ETH: { ETHEREUM: '0.001', BASE: '0.0001', ARBITRUM_ONE: '0.0001', INK: '0.0001' },
    SOL: { SOLANA: '0.001' },
    POL: { POLYGON_POS: '0.1' },
    USDC: { ETHEREUM: '2', SOLANA: '0.5', POLYGON_POS: '0.1', BASE: '0.1', ARBITRUM_ONE: '0.1' },
    PUSD: { ETHEREUM: '2', SOLANA: '0.5', BASE: '0.1' },
  },
} as const satisfies FeeTable;

function feeUnits(assets: Assets, asset: string, text: string | undefined, path: string): bigint {
  const parsed = assets.parse(asset, text);
  if (parsed.ok) return parsed.units;
  if (parsed.fault === 'zero') return 0n;
  throw new Error(`${path} ${parsed.message}`);
}

type Texts = Readonly<Record<string, string>>;
type FiatDepositFees = NonNullable<NonNullable<FeeTable['deposits']>['fiat']>;

function checkKinds(given: object, path: string): void {
  for (const kind of Object.keys(given)) {
    if (!(FIAT_KINDS as readonly string[]).includes(kind)) {
      throw new Error(`${path}.${kind} must be one of ${FIAT_KINDS.join(', ')}`);
    }
  }
}

function readFiat(assets: Assets, given: Texts): Map<string, bigint> {
  checkKinds(given, 'fees.fiat');
  const texts: Texts = { ...DEFAULT_FEES.fiat, ...given };
  return new Map(FIAT_KINDS.map((kind) => [kind, feeUnits(assets, 'USD', texts[kind], `fees.fiat.${kind}`)]));
}

/** By asset and rail. Every fiat rail carries USD; another currency where its fee is named, if only as "0". */
function readFiatDeposits(assets: Assets, given: FiatDepositFees, path: string): Map<string, bigint> {
  checkKinds(given, path);
  const fees = new Map<string, bigint>(FIAT_KINDS.map((kind) => [`USD/${kind}`, 0n]));
  for (const [kind, entry] of Object.entries(given)) {
    if (typeof entry === 'string') {
      fees.set(`USD/${kind}`, feeUnits(assets, 'USD', entry, `${path}.${kind}`));
      continue;
    }
    for (const [asset, text] of Object.entries(entry)) {
      if (assets.find(asset)?.kind !== 'FIAT') {
        throw new Error(`${path}.${kind}.${asset} must name a configured asset of the kind FIAT`);
      }
      fees.set(`${asset}/${kind}`, feeUnits(assets, asset, text, `${path}.${kind}.${asset}`));
    }
  }
  return fees;
}

/** Every network carries the assets that are configured on it, for nothing unless a fee is named. */
function freeOfCharge(assets: Assets): CryptoFees {
  return Object.fromEntries(
    assets.list.map(({ code, networks }) => [
      code,
      Object.fromEntries(Object.keys(networks).map((network) => [network, '0'])),
    ]),
  );
}

function readCrypto(
  assets: Assets,
  given: CryptoFees,
  defaults: CryptoFees,
  base: string,
): Map<string, bigint> {
  const fees = new Map<string, bigint>();
  const add = (asset: string, network: string, text: string): void => {
    const path = `${base}.${asset}.${network}`;
    fees.set(`${asset}/${network}`, feeUnits(assets, asset, text, path));
  };
  // Defaults for what this installation does not have say nothing; the file's own entries must make sense.
  for (const [asset, networks] of Object.entries(defaults)) {
    for (const [network, text] of Object.entries(networks)) {
      const known = assets.find(asset);
      if (known?.networks[network] !== undefined) add(asset, network, text);
    }
  }
  for (const [asset, networks] of Object.entries(given)) {
    const known = assets.find(asset);
    if (known === undefined) throw new Error(`${base}.${asset} must name a configured asset`);
    for (const [network, text] of Object.entries(networks)) {
      if (known.networks[network] === undefined) {
        throw new Error(`${base}.${asset}.${network} must name a network of ${asset}`);
      }
      add(asset, network, text);
    }
  }
  return fees;
}

/** Throws with one clause that names the entry which is wrong. */
export function createFeeSchedule(assets: Assets, given: FeeTable = {}): FeeSchedule {
  if (assets.find('USD') === undefined)
    throw new Error('the asset USD must be configured: fiat fees are in it');
  const fiat = readFiat(assets, given.fiat ?? {});
  const crypto = readCrypto(assets, given.crypto ?? {}, DEFAULT_FEES.crypto, 'fees.crypto');
  const incoming = new Map([
    ...readFiatDeposits(assets, given.deposits?.fiat ?? {}, 'fees.deposits.fiat'),
    ...readCrypto(assets, given.deposits?.crypto ?? {}, freeOfCharge(assets), 'fees.deposits.crypto'),
  ]);
  return {
    fiat: (kind) => fiat.get(kind)!,
    crypto: (asset, network) => crypto.get(`${asset}/${network}`),
    deposit: (rail, asset) => incoming.get(`${asset}/${rail}`),
  };
}
