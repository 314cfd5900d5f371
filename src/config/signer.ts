import { readFileSync } from 'node:fs';
import type { Static, TSchema } from 'typebox';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import type { KeySettings, SignerSettings } from '../signer/open.ts';
import type { AssetLimits, NetworkPolicy, Policy } from '../signer/policy.ts';
import type { Listen } from '../signer/server.ts';
import { ConfigError } from './config.ts';
import { readSecret } from './rails.ts';
import { shapeFault, shown } from './validate.ts';

/** The JSON file that FERRY_SIGNER_CONFIG names. Secrets stand in the environment or in files of their own. */

type Environment = Readonly<Record<string, string | undefined>>;
type Context = { readonly env: Environment; readonly networks: Networks };

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, expected: 'a non-empty string' });
const Units = Type.String({
  pattern: '^[0-9]{1,38}$',
  expected: 'a string of 1 to 38 digits: units of the asset',
});
const Secret = Type.Union([Type.Object({ env: Name }, closed), Type.Object({ file: Name }, closed)], {
  expected: 'an object with env, the name of a variable, or file, the path of a file',
});
const count = (maximum: number) =>
  Type.Integer({ minimum: 1, maximum, expected: `an integer from 1 to ${maximum}` });

function MapOf<Value extends TSchema>(value: Value) {
  return Type.Unsafe<Readonly<Record<string, Static<Value>>>>(
    Type.Object({}, { additionalProperties: value }),
  );
}

const Network = Type.Object(
  {
    chain_id: Type.Optional(Type.Integer({ minimum: 1, expected: 'the number of the chain' })),
    test_chain: Type.Optional(Type.Boolean()),
    lanes: Type.Optional(count(LIMITS.signerLanesMax)),
    deposit_addresses: Type.Optional(count(LIMITS.signerDepositsMax)),
    assets: MapOf(Name),
    fee_units_max: Units,
    fee_units_per_day: Units,
    cold_address: Type.Optional(Name),
    destinations: Type.Optional(Type.Array(Name, { maxItems: LIMITS.signerDestinationsMax })),
  },
  closed,
);

const Limits = Type.Object(
  { units_per_hour: Units, units_per_day: Units, payments_per_minute: count(1_000_000) },
  closed,
);

const SOCKET = Type.Object(
  { socket: Name, group: Type.Optional(Type.Integer({ minimum: 0, expected: 'the number of a group' })) },
  closed,
);
const TLS = Type.Object(
  {
    host: Name,
    port: Type.Integer({ minimum: 0, maximum: 65_535, expected: 'a number from 0 to 65535' }),
    certificate: Name,
    key: Name,
    client_ca: Name,
    client_names: Type.Array(Name, { minItems: 1, expected: 'a list of at least one common name' }),
  },
  closed,
);

const KEYS = {
  sealed_file: Type.Object({ path: Name, passphrase: Type.Optional(Secret) }, closed),
  pkcs11: Type.Object({ module: Name, token: Name, pin: Secret, log_key: Secret, keys: MapOf(Name) }, closed),
  aws_kms: Type.Object(
    { region: Name, endpoint: Type.Optional(Name), log_key: Secret, keys: MapOf(Name) },
    closed,
  ),
} as const;

const File = Type.Object(
  {
    listen: Type.Object({}, { expected: 'an object with socket, or with host, port and certificates' }),
    database: Secret,
    log: Name,
    keys: Type.Object({ kind: Type.Enum(Object.keys(KEYS)) }),
    networks: MapOf(Network),
    limits: MapOf(Limits),
  },
  closed,
);

function require(schema: TSchema, content: unknown, at: string): void {
  const fault = shapeFault(schema, content, at);
  if (fault !== undefined) throw new Error(fault);
}

function fileAt(path: string, at: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${at} names ${path}, which cannot be read (${code})`, { cause: error });
  }
}

function readListen(entry: object): Listen {
  if ('socket' in entry) {
    require(SOCKET, entry, 'listen');
    const { socket, group } = entry as Static<typeof SOCKET>;
    return { kind: 'socket', path: socket, gid: group };
  }
  require(TLS, entry, 'listen');
  const { host, port, certificate, key, client_ca: ca, client_names: names } = entry as Static<typeof TLS>;
  return {
    kind: 'tls',
    host,
    port,
    certificate: fileAt(certificate, 'listen.certificate'),
    key: fileAt(key, 'listen.key'),
    clientCa: fileAt(ca, 'listen.client_ca'),
    clientNames: names,
  };
}

function readKeys(entry: { readonly kind: string }, { env }: Context): KeySettings {
  const { kind, ...settings } = entry;
  require(KEYS[kind as keyof typeof KEYS], settings, 'keys');
  if (kind === 'sealed_file') {
    const { path, passphrase } = settings as Static<typeof KEYS.sealed_file>;
    return {
      kind,
      path,
      passphrase: passphrase && (() => Buffer.from(readSecret(env, passphrase, 'keys.passphrase'))),
    };
  }
  const { log_key: logKey, keys } = settings as unknown as Static<typeof KEYS.aws_kms>;
  const held = {
    logKey: Buffer.from(readSecret(env, logKey, 'keys.log_key')),
    keys: new Map(Object.entries(keys)),
  };
  if (kind === 'aws_kms') {
    const { region, endpoint } = settings as unknown as Static<typeof KEYS.aws_kms>;
    return { kind, region, endpoint, ...held };
  }
  const { module, token, pin } = settings as unknown as Static<typeof KEYS.pkcs11>;
  return { kind: 'pkcs11', module, token, pin: readSecret(env, pin, 'keys.pin'), ...held };
}

function readAssets(path: string, entry: Static<typeof Network>, { name, family, fault }: NetworkFacts) {
  const assets = Object.entries(entry.assets);
  for (const [code, contract] of assets) {
    if (contract === 'native') continue;
    const why = family === 'UTXO' ? 'must be "native"' : fault(contract);
    if (why !== undefined) throw new Error(`${path}.assets.${code} ${why}`);
  }
  const natives = assets.filter(([, contract]) => contract === 'native').length;
  if (natives !== 1) throw new Error(`${path}.assets must have one "native" asset, the coin of ${name}`);
  return new Map(assets);
}

type NetworkFacts = {
  readonly name: string;
  readonly family: 'EVM' | 'Solana' | 'UTXO';
  fault(address: string): string | undefined;
};

function readNetwork(network: string, entry: Static<typeof Network>, { networks }: Context): NetworkPolicy {
  const path = `networks.${network}`;
  if (!networks.isCryptoNetwork(network))
    throw new Error(`${path} is not a network: use ${networks.cryptoNetworks.join(', ')}`);
  const { name, addresses } = networks.crypto(network);
  const family = addresses.chain === 'EVM' || addresses.chain === 'Solana' ? addresses.chain : 'UTXO';
  const facts: NetworkFacts = { name, family, fault: (one) => networks.addressFault(network, one) };
  const { chain_id: chainId, cold_address: cold, destinations } = entry;
  if ((chainId !== undefined) !== (family === 'EVM'))
    throw new Error(
      `${path}.chain_id ${family === 'EVM' ? 'is missing: it must be the number of the chain' : 'is only for EVM networks'}`,
    );
  if (entry.deposit_addresses !== undefined && family !== 'Solana')
    throw new Error(`${path}.deposit_addresses is only for SOLANA: others derive them from the xpub`);
  for (const [at, address] of [
    ...(cold === undefined ? [] : [['cold_address', cold] as const]),
    ...(destinations ?? []).map((one, index) => [`destinations[${index}]`, one] as const),
  ]) {
    const fault = facts.fault(address);
    if (fault !== undefined) throw new Error(`${path}.${at} ${fault}`);
  }
  return {
    network,
    chainId: chainId === undefined ? undefined : BigInt(chainId),
    isTest: entry.test_chain ?? false,
    lanes: entry.lanes ?? 1,
    depositAddresses: entry.deposit_addresses ?? 0,
    assets: readAssets(path, entry, facts),
    feeUnitsMax: BigInt(entry.fee_units_max),
    feeUnitsPerDay: BigInt(entry.fee_units_per_day),
    coldAddress: cold,
    destinations: destinations && new Set(destinations.map((one) => networks.canonicalAddress(network, one))),
  };
}

function readPolicy(file: Static<typeof File>, context: Context): Policy {
  const policies = Object.entries(file.networks).map(([name, entry]) => readNetwork(name, entry, context));
  if (policies.length === 0) throw new Error('networks must have an entry for at least one network');
  const used = new Set(policies.flatMap(({ assets }) => [...assets.keys()]));
  const missing = [...used].find((code) => !Object.hasOwn(file.limits, code));
  if (missing !== undefined)
    throw new Error(`limits.${missing} is missing: every asset of the networks must have limits`);
  const unknown = Object.keys(file.limits).find((code) => !used.has(code));
  if (unknown !== undefined) throw new Error(`limits.${unknown} is not an asset of any network`);
  const limits = Object.entries(file.limits).map(([code, entry]): [string, AssetLimits] => [
    code,
    {
      unitsPerHour: BigInt(entry.units_per_hour),
      unitsPerDay: BigInt(entry.units_per_day),
      paymentsPerMinute: entry.payments_per_minute,
    },
  ]);
  return { networks: new Map(policies.map((one) => [one.network, one])), limits: new Map(limits) };
}

function readDatabaseUrl(file: Static<typeof File>, { env }: Context): string {
  const url = readSecret(env, file.database, 'database');
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  // The URL contains a password.
  throw new Error('database must refer to a URL that starts with postgres:// or postgresql://');
}

function readContent(path: string | undefined): unknown {
  if (path === undefined)
    throw new ConfigError('FERRY_SIGNER_CONFIG must name the JSON file of the signer: see docs/signer.md.');
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = (error as Error).message.replace(/\s+/g, ' ');
    throw new ConfigError(`FERRY_SIGNER_CONFIG must name a readable JSON file: ${reason}.`);
  }
}

/** Throws a ConfigError with one sentence that names the entry. `databaseUrl` is read when it is needed. */
export function readSignerSettings(path: string | undefined, context: Context): SignerSettings {
  const content = readContent(path);
  const orSentence = <Value>(read: () => Value): Value => {
    try {
      return read();
    } catch (error) {
      throw new ConfigError(`FERRY_SIGNER_CONFIG: ${(error as Error).message}.`);
    }
  };
  return orSentence(() => {
    require(File, content, '');
    const file = content as Static<typeof File>;
    const { kind } = file.keys;
    if (!Object.hasOwn(KEYS, kind))
      throw new Error(`keys.kind must be one of ${Object.keys(KEYS).join(', ')}, not ${shown(kind)}`);
    return {
      listen: readListen(file.listen),
      databaseUrl: () => orSentence(() => readDatabaseUrl(file, context)),
      logPath: file.log,
      keys: readKeys(file.keys, context),
      policy: readPolicy(file, context),
    };
  });
}
