import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { ExternalIssuer } from '../auth/external-issuer.ts';
import { defaultDataDir } from '../database/embedded/server.ts';
import { createPriceTable, type PriceSource, SANDBOX_PRICES } from '../fees/prices.ts';
import { createFeeSchedule, type FeeSchedule } from '../fees/schedule.ts';
import { type Assets, createAssets } from '../kernel/asset.ts';
import { createFourEyes, type FourEyes } from '../kernel/privileged.ts';
import { isAddressRange } from '../kernel/source-address.ts';
import { LIMITS } from '../limits.ts';
import { defaultAssets } from '../networks/default-assets.ts';
import { NETWORKS, type Networks } from '../networks/register.ts';
import type { OpenIdProvider } from '../people/openid.ts';
import type { ScreeningHook } from '../policies/screening.ts';
import { RAIL_KINDS } from '../rail-kinds.ts';
import type { ConfiguredRail, RailKind } from '../rails/kind.ts';
import { type ConfigFile, readConfigFile } from './file.ts';
import { INSECURE, type Insecure, insecureFault } from './hardening.ts';
import { type NodeAddress, readNodeLink } from './node-link.ts';
import { readRails, readSecret } from './rails.ts';
import { readScreening } from './screening.ts';

/** Read from the environment, here and nowhere else. An invalid value is refused with a sentence that names the variable. */
export type Config = {
  readonly mode: 'sandbox' | 'production';
  readonly host: string;
  readonly port: number;
  /** Absent: the embedded server in the data directory. */
  readonly databaseUrl: string | undefined;
  /** The same database as the role that owns the tables, for migrations and repairs. Absent: `databaseUrl`. */
  readonly migrateDatabaseUrl: string | undefined;
  readonly dataDir: string;
  /** Absent: the address that the service listens on. */
  readonly publicUrl: string | undefined;
  readonly logLevel: LogLevel;
  /** Wraps the keys that seal secrets and personal data. Absent: the sandbox creates one, production does not start. */
  readonly secretKey: Buffer | undefined;
  /** Address ranges of proxies that may say where a request comes from. */
  readonly trustedProxies: readonly string[];
  /** The key before it, accepted until `ferry key rewrap` has replaced it. */
  readonly previousSecretKey: Buffer | undefined;
  /** The register of networks that the rest was read with. */
  readonly networks: Networks;
  readonly assets: Assets;
  readonly fees: FeeSchedule;
  readonly prices: PriceSource;
  /** Whether the API reference, the OpenAPI document and the pages about problems are served. */
  readonly docs: boolean;
  /** Connections that one source address may have; clients on the same machine are not counted. */
  readonly connectionsPerSource: number;
  /** Where this node listens for the others on its database; undefined: it decides for itself. */
  readonly nodeLink: NodeAddress | undefined;
  /** Whether this node processes withdrawals and the notices of rails. */
  readonly workers: boolean;
  /** How many times faster than real time the sandbox's rails run. */
  readonly sandboxSpeed: number;
  /** Limit per day on the rent that is paid for one destination on SOLANA. */
  readonly rentLamportsPerDayMax: bigint;
  /** Tokens of this issuer are accepted instead of those that Ferry issues. */
  readonly externalIssuer: ExternalIssuer | undefined;
  /** At which people can sign in, instead of with a passkey. */
  readonly openIdProvider: OpenIdProvider | undefined;
  /** In the sandbox the others are simulated; production has no others. */
  readonly rails: readonly ConfiguredRail[];
  /** How many must approve a privileged action. */
  readonly fourEyes: FourEyes;
  /** Hooks that policies can name. */
  readonly screening: ReadonlyMap<string, ScreeningHook>;
  /** With which the command line calls the service. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly accessToken: string | undefined;
  /** The file of `ferry signer`. The service does not read it. */
  readonly signerConfig: string | undefined;
  /** The process was started by `npx` or `npm start`, and ends with it. */
  readonly startedByNpm: boolean;
};

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export class ConfigError extends Error {}

/** Every variable, for the help of the command line. docs/operations.md describes them in full. */
export const VARIABLES = {
  PORT: 'port to listen on (default 8080; 0 picks a free one)',
  HOST: 'address to listen on (default 127.0.0.1)',
  FERRY_MODE: 'sandbox (default) or production',
  DATABASE_URL: 'your PostgreSQL; without it, the sandbox runs an embedded one',
  FERRY_MIGRATE_DATABASE_URL: 'the same as the role that owns the tables, to migrate; default DATABASE_URL',
  FERRY_DATA_DIR: 'directory of the embedded database and of sandbox.json',
  FERRY_PUBLIC_URL: 'the URL that clients use; required in production',
  FERRY_CONFIG:
    'JSON file with assets, fees, prices, rails, screening hooks, an OpenID provider, an external token issuer',
  FERRY_DOCS: 'on (default), or off: no /docs, /openapi.json and /problems',
  FERRY_CONNECTIONS_PER_SOURCE: 'connections that one source address may have (default 1000)',
  FERRY_FOUR_EYES:
    'on: privileged actions need the approval of another client or person (default in production), or off',
  FERRY_WORKERS: 'on (default), or off: leave withdrawals and rail notices to other nodes',
  FERRY_NODE_LINK:
    'off (default); on, or host:port: where this node listens for the other nodes on its database',
  FERRY_SANDBOX_SPEED: "how many times faster than real time the sandbox's rails run (default 600)",
  FERRY_SECRET_KEY: '32 bytes in base64 that seal secrets and personal data; required in production',
  FERRY_SECRET_KEY_PREVIOUS: 'the key before it, while it is being replaced: see ferry key rewrap',
  FERRY_TRUSTED_PROXIES:
    'addresses of your proxies, as CIDR ranges with commas: X-Forwarded-For counts only from them',
  FERRY_ALLOW_INSECURE:
    'what production accepts without TLS: public_url, external_issuer, openid_provider, database',
  FERRY_SIGNER_CONFIG: 'JSON file of ferry signer: keys, networks, limits',
  FERRY_CLIENT_ID: 'the client with which ferry journal calls the service',
  FERRY_CLIENT_SECRET: 'its secret',
  FERRY_ACCESS_TOKEN: 'an access token instead of both, such as one of an external issuer',
  LOG_LEVEL: 'fatal, error, warn, info, debug, trace or silent',
} as const satisfies Record<string, string>;

/** The variable that corresponds to an option such as --port or --data-dir. */
export function variableLike(option: string): string | undefined {
  const name = option.replace(/^-+/, '').replaceAll('-', '_').toUpperCase();
  return Object.keys(VARIABLES).find((variable) => variable === name || variable === `FERRY_${name}`);
}

/** For the help texts, which must work even if the configuration is wrong. */
export const isProduction = (env: Environment): boolean => env.FERRY_MODE === 'production';

/**
 * Creates the first missing directory of the path; the rest can be created below it later. The recursive mkdir of Node
 * loops endlessly under directories such as /proc, which report that they do not exist.
 */
export function checkDataDir(dataDir: string): void {
  let missing = dataDir;
  if (existsSync(missing)) return;
  while (!existsSync(dirname(missing))) missing = dirname(missing);
  try {
    mkdirSync(missing, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another process created it first.
    if (code === 'EEXIST') return;
    throw new ConfigError(
      `FERRY_DATA_DIR ${dataDir} cannot be created (${code}): set it to a directory that the user running Ferry may write to.`,
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

function oneOf<Value extends string>(
  env: Environment,
  name: string,
  values: readonly Value[],
  absent: Value,
): Value {
  const value = env[name];
  if (value === undefined || value === '') return absent;
  if (!(values as readonly string[]).includes(value)) {
    throw new ConfigError(`${name} must be one of ${values.join(', ')}, not "${value}".`);
  }
  return value as Value;
}

function readPort(env: Environment): number {
  const text = env.PORT;
  if (text === undefined || text === '') return 8080;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new ConfigError(`PORT must be a number from 0 to 65535, not "${text}".`);
  return port;
}

function readConnectionsPerSource(env: Environment): number {
  const text = env.FERRY_CONNECTIONS_PER_SOURCE;
  if (text === undefined || text === '') return LIMITS.sourceConnectionsMax;
  const count = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1) {
    throw new ConfigError(`FERRY_CONNECTIONS_PER_SOURCE must be an integer from 1 to 999999, not "${text}".`);
  }
  return count;
}

function readSpeed(env: Environment): number {
  const text = env.FERRY_SANDBOX_SPEED;
  // A minute of real time takes a tenth of a second: three confirmations on BITCOIN take three seconds.
  if (text === undefined || text === '') return 600;
  const speed = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (speed < 1)
    throw new ConfigError(`FERRY_SANDBOX_SPEED must be an integer from 1 to 9999999, not "${text}".`);
  return speed;
}

function readHost(env: Environment): string {
  const host = env.HOST;
  if (host === undefined || host === '') return '127.0.0.1';
  if (isIP(host) === 0 && !/^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,251}[a-zA-Z0-9])?$/.test(host)) {
    throw new ConfigError(`HOST must be an IP address or a host name, not "${host}".`);
  }
  return host;
}

function readUrl(env: Environment, name: string, protocols: readonly string[]): string | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !protocols.includes(url.protocol)) {
    // The message does not repeat the value, because a database URL contains a password.
    throw new ConfigError(
      `${name} must be a URL that starts with ${protocols.map((one) => `${one}//`).join(' or ')}.`,
    );
  }
  return text.replace(/\/+$/, '');
}

function readInsecure(env: Environment): Insecure[] {
  const names = (env.FERRY_ALLOW_INSECURE ?? '').split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !(INSECURE as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new ConfigError(`FERRY_ALLOW_INSECURE must be a list of ${INSECURE.join(', ')}, not "${unknown}".`);
  }
  return names as Insecure[];
}

/** The rent of ten token accounts. A destination that costs more per day closes the accounts and keeps the rent. */
const RENT_LAMPORTS_PER_DAY_MAX = 20_392_800n;

const SECRET_KEY_BYTES = 32;

function readSecretKey(env: Environment, name: string): Buffer | undefined {
  const text = env[name];
  if (text === undefined || text === '') return undefined;
  const key = Buffer.from(text, 'base64');
  // The decoder ignores invalid characters, so compare. The message does not repeat the value, which is secret.
  if (key.length !== SECRET_KEY_BYTES || key.toString('base64') !== text) {
    throw new ConfigError(
      `${name} must be ${SECRET_KEY_BYTES} bytes in base64, as printed by "openssl rand -base64 32".`,
    );
  }
  return key;
}

function readTrustedProxies({ FERRY_TRUSTED_PROXIES: text = '' }: Environment): string[] {
  const ranges = text.split(/[\s,]+/).filter((range) => range !== '');
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong !== undefined) {
    throw new ConfigError(
      `FERRY_TRUSTED_PROXIES must be a list of addresses and ranges such as 10.0.0.0/8, not "${wrong}".`,
    );
  }
  return ranges;
}

/** Where the node listens: for clients, and for other nodes. */
function readListening(env: Environment): Pick<Config, 'host' | 'port' | 'nodeLink'> {
  const host = readHost(env);
  const nodeLink = readNodeLink(env.FERRY_NODE_LINK, host);
  if (typeof nodeLink === 'string') throw new ConfigError(nodeLink);
  return { host, port: readPort(env), nodeLink };
}

/** The content of the file that FERRY_CONFIG names; undefined without a file. */
function readJson(env: Environment): unknown {
  const path = env.FERRY_CONFIG;
  if (path === undefined || path === '') return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // The parser quotes the text around the error, including line breaks.
    const reason = (error as Error).message.replace(/\s+/g, ' ');
    throw new ConfigError(`FERRY_CONFIG must name a readable JSON file: ${reason}.`);
  }
}

/** Turns an error about the file into one sentence. */
function fromFile<Value>(create: () => Value): Value {
  try {
    return create();
  } catch (error) {
    throw new ConfigError(`FERRY_CONFIG: ${(error as Error).message}.`);
  }
}

function readPrices({ prices }: ConfigFile, mode: Config['mode'], assets: Assets): PriceSource {
  if (prices === undefined) return createPriceTable(mode === 'sandbox' ? SANDBOX_PRICES : {});
  // A price for an unknown asset is a typo, which would leave the intended asset without a price.
  const unknown = Object.keys(prices).find((code) => assets.find(code) === undefined);
  if (unknown !== undefined) throw new Error(`prices.${unknown} must name a configured asset`);
  return createPriceTable(prices);
}

/** Started as `npm start`, `npx ferry` or `npx node`, but not by a process manager that was started with npx. */
function isStartedByNpm({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script = '',
}: Environment): boolean {
  return event === 'start' || (event === 'npx' && /^'?(ferry|node)('|\s|$)/.test(script));
}

function readOpenIdProvider(env: Environment, { openIdProvider }: ConfigFile): OpenIdProvider | undefined {
  if (openIdProvider === undefined) return undefined;
  const path = 'openid_provider.client_secret';
  return { ...openIdProvider, clientSecret: readSecret(env, openIdProvider.clientSecret, path) };
}

/** Who else says who somebody is: the issuer of tokens, and the provider for people. */
const readProviders = (env: Environment, file: ConfigFile) => ({
  externalIssuer: file.externalIssuer,
  openIdProvider: fromFile(() => readOpenIdProvider(env, file)),
});

/** What only commands use. */
const readForCommands = (env: Environment) => ({
  clientId: env.FERRY_CLIENT_ID || undefined,
  clientSecret: env.FERRY_CLIENT_SECRET || undefined,
  accessToken: env.FERRY_ACCESS_TOKEN || undefined,
  signerConfig: env.FERRY_SIGNER_CONFIG || undefined,
});

/** On in production, unless the operator says otherwise: one pair of eyes must be a decision. */
function readFourEyes(env: Environment, mode: Config['mode'], { fourEyes }: ConfigFile): FourEyes {
  const absent = mode === 'production' ? 'on' : 'off';
  const isOn = oneOf(env, 'FERRY_FOUR_EYES', ['on', 'off'], absent) === 'on';
  return createFourEyes(isOn ? 1 : 0, isOn ? fourEyes : {});
}

/** What the service calls: rails, and hooks that screen withdrawals. */
function readOutside(file: ConfigFile, context: Parameters<typeof readRails>[1]) {
  return {
    rails: readRails(file.rails ?? {}, context),
    screening: readScreening(file.screening ?? {}, context),
  };
}

export function readConfig(
  env: Environment,
  networks: Networks = NETWORKS,
  kinds: readonly RailKind[] = RAIL_KINDS,
): Config {
  const mode = oneOf(env, 'FERRY_MODE', ['sandbox', 'production'], 'sandbox');
  const databaseUrl = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:']);
  const migrateDatabaseUrl = readUrl(env, 'FERRY_MIGRATE_DATABASE_URL', ['postgres:', 'postgresql:']);
  const publicUrl = readUrl(env, 'FERRY_PUBLIC_URL', ['http:', 'https:']);
  if (publicUrl !== undefined && /[?#]/.test(publicUrl)) {
    throw new ConfigError('FERRY_PUBLIC_URL must be a URL without a query or fragment.');
  }
  if (mode === 'production' && databaseUrl === undefined) {
    throw new ConfigError('DATABASE_URL must name your PostgreSQL server when FERRY_MODE is production.');
  }
  if (mode === 'production' && publicUrl === undefined) {
    throw new ConfigError(
      'FERRY_PUBLIC_URL must be set when FERRY_MODE is production: it is the issuer of tokens and part of every error.',
    );
  }
  if (migrateDatabaseUrl !== undefined && databaseUrl === undefined) {
    throw new ConfigError('FERRY_MIGRATE_DATABASE_URL requires DATABASE_URL, as the role that serves.');
  }
  const content = readJson(env);
  // Validation takes 100 ms to load.
  const file: ConfigFile = content === undefined ? {} : fromFile(() => readConfigFile(content, networks));
  const assets = fromFile(() => createAssets(file.assets ?? defaultAssets(networks)));
  const providers = readProviders(env, file);
  const checked = { mode, publicUrl, databaseUrl, migrateDatabaseUrl, ...providers };
  const insecure = insecureFault(checked, readInsecure(env));
  if (insecure !== undefined) throw new ConfigError(insecure);
  return {
    mode,
    ...readListening(env),
    databaseUrl,
    migrateDatabaseUrl,
    dataDir: resolve(env.FERRY_DATA_DIR || defaultDataDir(env)),
    publicUrl,
    // The sandbox prints a welcome instead of its log.
    logLevel: oneOf(env, 'LOG_LEVEL', LOG_LEVELS, mode === 'sandbox' ? 'warn' : 'info'),
    secretKey: readSecretKey(env, 'FERRY_SECRET_KEY'),
    previousSecretKey: readSecretKey(env, 'FERRY_SECRET_KEY_PREVIOUS'),
    trustedProxies: readTrustedProxies(env),
    networks,
    assets,
    fees: fromFile(() => createFeeSchedule(networks, assets, file.fees)),
    prices: fromFile(() => readPrices(file, mode, assets)),
    docs: oneOf(env, 'FERRY_DOCS', ['on', 'off'], 'on') === 'on',
    connectionsPerSource: readConnectionsPerSource(env),
    workers: oneOf(env, 'FERRY_WORKERS', ['on', 'off'], 'on') === 'on',
    sandboxSpeed: readSpeed(env),
    fourEyes: readFourEyes(env, mode, file),
    rentLamportsPerDayMax: file.rentLamportsPerDayMax ?? RENT_LAMPORTS_PER_DAY_MAX,
    ...providers,
    ...fromFile(() => readOutside(file, { kinds, env, assets, networks, mode })),
    ...readForCommands(env),
    startedByNpm: isStartedByNpm(env),
  };
}
