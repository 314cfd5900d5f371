import type { Static } from 'typebox';
import { Type } from '../kernel/type.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { Networks } from '../networks/register.ts';
import type { RailFinding, RailNode, ReadContext, SecretReference } from '../rails/kind.ts';
import { createSignerClient, type SignerAddress } from '../signer/client.ts';
import type { SignedPage, SignedRecord } from '../signer/contract.ts';
import type { AssetLimits, NetworkPolicy, Policy } from '../signer/policy.ts';
import type { Signer, SignerAccount } from './signer.ts';

/** `signer` in the entry of a chain: where the process with the keys is. The same for all families. */

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, expected: 'a non-empty string' });
const Pem = Type.Unsafe<SecretReference>(
  Type.Union([Type.Object({ env: Name }, closed), Type.Object({ file: Name }, closed)], {
    expected: 'an object with "env" (the name of a variable of the environment) or "file" (a path)',
  }),
);

export const SignerSetting = Type.Union(
  [
    Type.Enum(['embedded']),
    Type.Object({ socket: Name }, closed),
    Type.Object({ url: Name, certificate: Pem, key: Pem, ca: Pem, server_name: Type.Optional(Name) }, closed),
  ],
  {
    expected:
      'an object with "socket" (a path), an object with "url", "certificate", "key" and "ca", or "embedded" in the sandbox',
  },
);

/** What the embedded signer has to know about the chain; signers of their own have it in a file of their own. */
export type SignerEntry = {
  readonly signer: Static<typeof SignerSetting>;
  /** Of EVM networks. */
  readonly chain_id?: number;
  /** Of UTXO networks: another one than `main` is a test chain. */
  readonly chain?: string;
  readonly cold_address?: string;
};

export type SignerSettings =
  | { readonly kind: 'process'; readonly address: SignerAddress }
  | { readonly kind: 'embedded'; readonly policy: Policy; readonly networks: Networks };

const HTTPS_PORT = 443;
/** Nothing that a sandbox pays is above it. */
const NO_LIMIT = 10n ** 38n;
/** Solana: addresses for deposits. More than the deposits of a sandbox. */
const EMBEDDED_DEPOSITS = 100;

/** One lane, every asset of the network, and no limits: the money is not real. */
function embeddedPolicy(entry: SignerEntry, { rail, assets }: ReadContext): Policy {
  const { chain_id: chainId, chain, cold_address: coldAddress } = entry;
  const network = rail as CryptoNetwork;
  const places = assets.list.flatMap(({ code, networks }) =>
    networks[network] === undefined ? [] : [[code, networks[network]] as const],
  );
  const policy: NetworkPolicy = {
    network,
    chainId: chainId === undefined ? undefined : BigInt(chainId),
    isTest: chain !== undefined && chain !== 'main',
    lanes: 1,
    depositAddresses: EMBEDDED_DEPOSITS,
    assets: new Map(places),
    feeUnitsMax: NO_LIMIT,
    feeUnitsPerDay: NO_LIMIT,
    coldAddress,
    destinations: undefined,
  };
  const limit: AssetLimits = {
    unitsPerHour: NO_LIMIT,
    unitsPerDay: NO_LIMIT,
    paymentsPerMinute: Number.MAX_SAFE_INTEGER,
  };
  return {
    networks: new Map([[network, policy]]),
    limits: new Map(places.map(([code]) => [code, limit])),
  };
}

/** Throws an error whose message is a clause that names the entry. */
export function readSigner(entry: SignerEntry, context: ReadContext): SignerSettings {
  const { path, mode, networks, secret } = context;
  const { signer } = entry;
  if (typeof signer === 'string') {
    if (mode === 'production')
      throw new Error(
        `${path}.signer must name the socket or the url of "ferry signer": "embedded" is for the sandbox, its keys are known to everybody`,
      );
    return { kind: 'embedded', policy: embeddedPolicy(entry, context), networks };
  }
  if ('socket' in signer) return { kind: 'process', address: { socket: signer.socket } };
  const url = URL.parse(signer.url);
  if (url === null || url.protocol !== 'https:' || url.pathname !== '/')
    throw new Error(
      `${path}.signer.url must be https:// with a host and a port, not ${JSON.stringify(signer.url)}`,
    );
  return {
    kind: 'process',
    address: {
      host: url.hostname,
      port: url.port === '' ? HTTPS_PORT : Number(url.port),
      certificate: secret(signer.certificate, `${path}.signer.certificate`),
      key: secret(signer.key, `${path}.signer.key`),
      ca: secret(signer.ca, `${path}.signer.ca`),
      ...(signer.server_name !== undefined && { serverName: signer.server_name }),
    },
  };
}

/** The mnemonic of local nodes for development: they give its first addresses coins, and everybody knows it. */
const SANDBOX_MNEMONIC = 'test test test test test test test test test test test junk';

async function sandboxSeed(): Promise<Buffer> {
  const { mnemonicToSeed } = await import('@scure/bip39');
  return Buffer.from(await mnemonicToSeed(SANDBOX_MNEMONIC));
}

/** Loads the code that holds keys only for the sandbox. */
function createEmbedded(
  { policy, networks }: Extract<SignerSettings, { kind: 'embedded' }>,
  node: Pick<RailNode, 'database'> | undefined,
): Signer {
  async function open(): Promise<Signer> {
    const seed = await sandboxSeed();
    if (node !== undefined) {
      const { createEmbeddedSigner } = await import('../signer/embedded.ts');
      return createEmbeddedSigner({ database: node.database, networks, policy, seed });
    }
    const [{ publicSigner }, { keysOfSeed }] = await Promise.all([
      import('../signer/decide.ts'),
      import('../signer/keys.ts'),
    ]);
    const { account } = await publicSigner({ keys: keysOfSeed(seed), networks, policy });
    return { account, sign: () => Promise.reject(new Error('without a database nothing is signed')) };
  }
  let opened: Promise<Signer> | undefined;
  const signer = (): Promise<Signer> => {
    opened ??= open();
    return opened;
  };
  return {
    sign: async (request, signal) => (await signer()).sign(request, signal),
    discard: async (request, signal) => (await signer()).discard!(request, signal),
    account: async (network, signal) => (await signer()).account(network, signal),
  };
}

/** Connects with the first call. Without a node, as in `ferry rails check`, it has addresses and signs nothing. */
export function openSigner(settings: SignerSettings, node?: Pick<RailNode, 'database'>): Signer {
  return settings.kind === 'process' ? createSignerClient(settings.address) : createEmbedded(settings, node);
}

const shownAddress = (settings: SignerSettings): string => {
  if (settings.kind === 'embedded') return 'embedded';
  const { address } = settings;
  return 'socket' in address ? address.socket : `${address.host}:${address.port}`;
};

/** For `ferry rails check`: whether the signer answers, and has the keys of the addresses that the service uses. */
export async function checkSigner(
  settings: SignerSettings,
  network: CryptoNetwork,
  configured: Partial<Pick<SignerAccount, 'lanes' | 'xpub'>>,
  signal: AbortSignal,
): Promise<readonly RailFinding[]> {
  const what = `signer ${shownAddress(settings)}`;
  const fault = (found: string): RailFinding => ({ what, found, isFault: true });
  let account: SignerAccount;
  try {
    account = await openSigner(settings).account(network, signal);
  } catch (error) {
    signal.throwIfAborted();
    return [fault((error as Error).message)];
  }
  const { lanes = [], xpub } = configured;
  const missing = lanes.filter((lane) => !account.lanes.includes(lane));
  const findings = missing.map((lane) => fault(`it has no key for the lane ${lane}`));
  const unused = account.lanes.filter((lane) => lanes.length > 0 && !lanes.includes(lane));
  if (unused.length > 0)
    findings.push({ what, found: `its lanes ${unused.join(', ')} are not in the configuration` });
  if (xpub !== undefined && account.xpub !== xpub)
    findings.push(fault(`its account is ${account.xpub ?? 'none'}, and ${xpub} is configured`));
  return findings.some(({ isFault }) => isFault === true)
    ? findings
    : [{ what, found: `answers, and has the keys of ${account.lanes.join(', ')}` }, ...findings];
}

/** Everything that a signer of its own has signed for the network, oldest first. */
export async function signedBy(
  settings: SignerSettings,
  network: CryptoNetwork,
  signal: AbortSignal,
): Promise<readonly SignedRecord[]> {
  if (settings.kind === 'embedded')
    throw new Error('the embedded signer of the sandbox keeps no log on disk');
  const client = createSignerClient(settings.address);
  const records: SignedRecord[] = [];
  for (let line: number | null = 0; line !== null; ) {
    const page: SignedPage = await client.signed(network, line, signal);
    records.push(...page.records);
    line = page.next;
  }
  return records;
}
