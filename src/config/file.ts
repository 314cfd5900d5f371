import type { ExternalIssuer } from '../auth/external-issuer.ts';
import type { FeeTable } from '../fees/schedule.ts';
import type { Asset } from '../kernel/asset.ts';
import type { Networks } from '../networks/register.ts';

/**
 * The JSON file that FERRY_CONFIG names, for what does not fit into a variable. Everything in it is looked at before
 * anything is started: a name that nobody knows is a typo, and ignoring it would be a fee or an issuer that is not set.
 * Whatever is wrong is thrown as one clause that names the place.
 */
export type ConfigFile = {
  readonly assets?: readonly Asset[];
  /** Its entries are read with the assets at hand: src/fees/schedule.ts. */
  readonly fees?: FeeTable;
  /** USD per whole unit of an asset. */
  readonly prices?: Readonly<Record<string, unknown>>;
  readonly externalIssuer?: ExternalIssuer;
  readonly rentLamportsPerDayMax?: bigint;
};

type Entries = Readonly<Record<string, unknown>>;

const FILE_NAMES = ['assets', 'fees', 'prices', 'external_issuer', 'rent_lamports_per_day_max'];
const ASSET_NAMES = ['code', 'decimals', 'kind', 'networks', 'operator_minted'];
const ASSET_KINDS = ['FIAT', 'CRYPTO', 'STABLECOIN'] as const;
const ISSUER_NAMES = ['issuer', 'jwks_url', 'audience', 'customer_claim'];

function objectAt(value: unknown, place: string): Entries {
  if (value === undefined) throw new Error(`${place} is missing`);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Entries;
  throw new Error(`${place} must be an object`);
}

/** `prefix` is where the entries stand: empty for the file itself, else with a dot at its end. */
function checkNames(entries: Entries, prefix: string, known: readonly string[]): void {
  const unknown = Object.keys(entries).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${prefix}${unknown} must be one of ${known.join(', ')}`);
}

function textAt(value: unknown, place: string): string {
  if (value === undefined) throw new Error(`${place} is missing`);
  if (typeof value !== 'string' || value === '') throw new Error(`${place} must be a text`);
  return value;
}

function networksAt(
  value: unknown,
  place: string,
  { cryptoNetworks }: Networks,
): Readonly<Record<string, string>> {
  const networks = objectAt(value, place);
  checkNames(networks, `${place}.`, cryptoNetworks);
  return Object.fromEntries(
    Object.entries(networks).map(([name, contract]) => [name, textAt(contract, `${place}.${name}`)]),
  );
}

function readAsset(value: unknown, place: string, register: Networks): Asset {
  const entries = objectAt(value, place);
  checkNames(entries, `${place}.`, ASSET_NAMES);
  // Without networks it only moves inside, as fiat money does.
  const { code, decimals, kind, networks = {}, operator_minted: minted } = entries;
  const known = ASSET_KINDS.find((one) => one === textAt(kind, `${place}.kind`));
  if (known === undefined) throw new Error(`${place}.kind must be one of ${ASSET_KINDS.join(', ')}`);
  if (decimals === undefined) throw new Error(`${place}.decimals is missing`);
  if (typeof decimals !== 'number') throw new Error(`${place}.decimals must be a number`);
  if (minted !== undefined && typeof minted !== 'boolean') {
    throw new Error(`${place}.operator_minted must be true or false`);
  }
  const asset: Asset = {
    code: textAt(code, `${place}.code`),
    decimals,
    kind: known,
    networks: networksAt(networks, `${place}.networks`, register),
    ...(minted === undefined ? {} : { operatorMinted: minted }),
  };
  if (known === 'FIAT' && Object.keys(asset.networks).length > 0) {
    throw new Error(`${place}.networks must be empty: fiat money is on no blockchain`);
  }
  return asset;
}

function readAssets(value: unknown, register: Networks): readonly Asset[] {
  if (!Array.isArray(value)) throw new Error('assets must be a list of objects');
  return value.map((one, index) => readAsset(one, `assets[${index}]`, register));
}

function readExternalIssuer(value: unknown): ExternalIssuer {
  const entries = objectAt(value, 'external_issuer');
  checkNames(entries, 'external_issuer.', ISSUER_NAMES);
  const text = (name: string): string => textAt(entries[name], `external_issuer.${name}`);
  const jwksUrl = text('jwks_url');
  if (!URL.canParse(jwksUrl) || !/^https?:$/.test(new URL(jwksUrl).protocol)) {
    throw new Error('external_issuer.jwks_url must be a URL that starts with https:// or http://');
  }
  return {
    issuer: text('issuer'),
    jwksUrl,
    audience: text('audience'),
    customerClaim: text('customer_claim'),
  };
}

/** Decimal digits in a text: an integer of JSON may be rounded. */
function readRentBound(value: unknown): bigint {
  if (typeof value === 'string' && /^[0-9]{1,18}$/.test(value)) return BigInt(value);
  throw new Error('rent_lamports_per_day_max must be a text of digits');
}

export function readConfigFile(content: unknown, register: Networks): ConfigFile {
  const entries = objectAt(content, 'the file');
  checkNames(entries, '', FILE_NAMES);
  const { assets, fees, prices, external_issuer: issuer, rent_lamports_per_day_max: rent } = entries;
  return {
    ...(assets === undefined ? {} : { assets: readAssets(assets, register) }),
    ...(fees === undefined ? {} : { fees: objectAt(fees, 'fees') }),
    ...(prices === undefined ? {} : { prices: objectAt(prices, 'prices') }),
    ...(issuer === undefined ? {} : { externalIssuer: readExternalIssuer(issuer) }),
    ...(rent === undefined ? {} : { rentLamportsPerDayMax: readRentBound(rent) }),
  };
}
