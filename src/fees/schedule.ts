import type { Assets } from '../kernel/asset.ts';
import type { FiatKind } from '../networks/fiat.ts';
import type { Networks } from '../networks/register.ts';

/**
 * What withdrawals and deposits cost. Flat, in units: a fiat rail's withdrawal in USD, everything else in the asset that
 * is sent or arrives.
 */
export type FeeSchedule = {
  fiat(kind: FiatKind): bigint;
  /** Undefined if no fee is configured: then nothing is sent, so that no withdrawal is free by accident. */
  crypto(asset: string, network: string): bigint | undefined;
  /** In units of that asset. Undefined if the asset is not configured for that rail. */
  deposit(rail: string, asset: string): bigint | undefined;
};

/** As in the configuration file: decimal strings. Entries that are absent keep their default. */
export type FeeTable = {
  readonly fiat?: Readonly<Record<string, string>>;
  readonly crypto?: CryptoFees;
  readonly deposits?: {
    /** By rail: the fee of a deposit in USD, or the fee for each asset that the rail carries. */
    readonly fiat?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
    readonly crypto?: CryptoFees;
  };
};

/** By asset and network. */
type CryptoFees = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The defaults of the register, by asset and network. */
function defaultFees(networks: Networks): CryptoFees {
  const fees: Record<string, Record<string, string>> = {};
  for (const network of networks.cryptoNetworks) {
    for (const [asset, text] of Object.entries(networks.crypto(network).withdrawalFees)) {
      fees[asset] = { ...fees[asset], [network]: text };
    }
  }
  return fees;
}

function feeUnits(assets: Assets, asset: string, text: string | undefined, path: string): bigint {
  const parsed = assets.parse(asset, text);
  if (parsed.ok) return parsed.units;
  if (parsed.fault === 'zero') return 0n;
  throw new Error(`${path} ${parsed.message}`);
}

type Texts = Readonly<Record<string, string>>;
type FiatDepositFees = NonNullable<NonNullable<FeeTable['deposits']>['fiat']>;

function checkKinds({ fiatKinds, isFiatKind }: Networks, given: object, path: string): void {
  const unknown = Object.keys(given).find((kind) => !isFiatKind(kind));
  if (unknown !== undefined) throw new Error(`${path}.${unknown} must be one of ${fiatKinds.join(', ')}`);
}

function readFiat(networks: Networks, assets: Assets, given: Texts): Map<string, bigint> {
  checkKinds(networks, given, 'fees.fiat');
  const textOf = (kind: FiatKind): string | undefined =>
    Object.hasOwn(given, kind) ? given[kind] : networks.fiat(kind).withdrawalFee;
  return new Map(
    networks.fiatKinds.map((kind) => [kind, feeUnits(assets, 'USD', textOf(kind), `fees.fiat.${kind}`)]),
  );
}

/** By asset and rail. Every fiat rail carries USD, and other currencies that have a fee here, even if it is "0". */
function readFiatDeposits(
  networks: Networks,
  assets: Assets,
  given: FiatDepositFees,
  path: string,
): Map<string, bigint> {
  checkKinds(networks, given, path);
  const fees = new Map<string, bigint>(networks.fiatKinds.map((kind) => [`USD/${kind}`, 0n]));
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

/** Every network carries the assets that are configured on it. Deposits are free unless a fee is configured. */
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
  // A default for an asset that is not configured is skipped; an entry of the file for such an asset is an error.
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

/** Throws an error that names the wrong entry. */
export function createFeeSchedule(networks: Networks, assets: Assets, given: FeeTable = {}): FeeSchedule {
  if (assets.find('USD') === undefined)
    throw new Error('the asset USD must be configured: fiat fees are in it');
  const fiat = readFiat(networks, assets, given.fiat ?? {});
  const crypto = readCrypto(assets, given.crypto ?? {}, defaultFees(networks), 'fees.crypto');
  const incoming = new Map([
    ...readFiatDeposits(networks, assets, given.deposits?.fiat ?? {}, 'fees.deposits.fiat'),
    ...readCrypto(assets, given.deposits?.crypto ?? {}, freeOfCharge(assets), 'fees.deposits.crypto'),
  ]);
  return {
    fiat: (kind) => fiat.get(kind)!,
    crypto: (asset, network) => crypto.get(`${asset}/${network}`),
    deposit: (rail, asset) => incoming.get(`${asset}/${rail}`),
  };
}
