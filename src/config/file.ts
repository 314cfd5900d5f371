import type { ExternalIssuer } from '../auth/external-issuer.ts';
import type { FeeTable } from '../fees/schedule.ts';
import type { Asset } from '../kernel/asset.ts';
import type { PrivilegedName, Quorum } from '../kernel/privileged.ts';
import type { Networks } from '../networks/register.ts';
import type { OpenIdProvider } from '../people/openid.ts';
import type { SecretReference } from '../rails/kind.ts';
import { type ConfigFileContent, configFileSchema } from './schema.ts';
import { shapeFault, shown } from './validate.ts';

/**
 * The JSON file that FERRY_CONFIG names, for settings that do not fit into an environment variable. The whole file is
 * validated before anything starts. An error is one clause that names the entry.
 */
export type ConfigFile = {
  readonly assets?: readonly Asset[];
  /** Checked against the assets in src/fees/schedule.ts. */
  readonly fees?: FeeTable;
  /** USD per whole unit of an asset. */
  readonly prices?: Readonly<Record<string, string>>;
  readonly externalIssuer?: ExternalIssuer;
  /** Its secret is read in `config.ts`, from the environment or a file. */
  readonly openIdProvider?: Omit<OpenIdProvider, 'clientSecret'> & { readonly clientSecret: SecretReference };
  readonly rentLamportsPerDayMax?: bigint;
  /** By privileged action. */
  readonly fourEyes?: Readonly<Partial<Record<PrivilegedName, Quorum>>>;
  /** Read in `rails.ts`, with the assets. */
  readonly rails?: Readonly<Record<string, unknown>>;
  /** Read in `screening.ts`, with the environment. */
  readonly screening?: NonNullable<ConfigFileContent['screening']>;
};

type Content = Required<ConfigFileContent>;

function readAsset(entry: Content['assets'][number], path: string): Asset {
  const { networks = {}, operator_minted: operatorMinted, ...asset } = entry;
  if (asset.kind === 'FIAT' && Object.keys(networks).length > 0)
    throw new Error(`${path}.networks must be empty for fiat money, not ${shown(networks)}`);
  return { ...asset, networks, ...(operatorMinted === undefined ? {} : { operatorMinted }) };
}

function readAssets(entries: Content['assets']): readonly Asset[] {
  for (const [index, { code }] of entries.entries()) {
    const first = entries.findIndex((entry) => entry.code === code);
    if (first < index)
      throw new Error(`assets[${index}].code must be unique, but assets[${first}] is ${code} too`);
  }
  return entries.map((entry, index) => readAsset(entry, `assets[${index}]`));
}

function readExternalIssuer(entry: Content['external_issuer']): ExternalIssuer {
  const { issuer, jwks_url: jwksUrl, audience, customer_claim: customerClaim } = entry;
  if (!URL.canParse(jwksUrl) || !/^https?:$/.test(new URL(jwksUrl).protocol))
    throw new Error(
      `external_issuer.jwks_url must be a URL that starts with https:// or http://, not ${shown(jwksUrl)}`,
    );
  return { issuer, jwksUrl, audience, customerClaim };
}

function readOpenIdProvider(entry: Content['openid_provider']): NonNullable<ConfigFile['openIdProvider']> {
  const { issuer, client_id: clientId, client_secret: clientSecret, name } = entry;
  if (!URL.canParse(issuer) || !/^https?:$/.test(new URL(issuer).protocol))
    throw new Error(
      `openid_provider.issuer must be a URL that starts with https:// or http://, not ${shown(issuer)}`,
    );
  return { issuer, clientId, clientSecret, name: name ?? new URL(issuer).hostname };
}

export function readConfigFile(content: unknown, networks: Networks): ConfigFile {
  const fault = shapeFault(configFileSchema(networks), content);
  if (fault !== undefined) throw new Error(fault);
  const {
    assets,
    fees,
    prices,
    external_issuer: issuer,
    openid_provider: openIdProvider,
    rent_lamports_per_day_max: rent,
    rails,
    four_eyes: fourEyes,
    screening,
  } = content as ConfigFileContent;
  return {
    ...(assets && { assets: readAssets(assets) }),
    ...(fees && { fees }),
    ...(prices && { prices }),
    ...(issuer && { externalIssuer: readExternalIssuer(issuer) }),
    ...(openIdProvider && { openIdProvider: readOpenIdProvider(openIdProvider) }),
    ...(rent && { rentLamportsPerDayMax: BigInt(rent) }),
    ...(rails && { rails }),
    ...(fourEyes && { fourEyes }),
    ...(screening && { screening }),
  };
}
