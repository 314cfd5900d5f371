import type { Static } from 'typebox';
import { Type } from '../../kernel/type.ts';
import { LIMITS } from '../../limits.ts';
import { type ReadContext, railKind, type SecretReference } from '../../rails/kind.ts';
import { openChain } from '../rail.ts';
import {
  checkSigner,
  openSigner,
  readSigner,
  SignerSetting,
  type SignerSettings,
  signedBy,
} from '../signer-settings.ts';
import { readTreasury, TREASURY_ENTRY, type TreasurySettings } from '../treasury-settings.ts';
import { readAccountText } from './account-key.ts';
import { chainOf, UTXO_NETWORKS, type UtxoNetwork } from './chain.ts';
import type { FeeSettings, UtxoSettings } from './settings.ts';

/** The kind `utxo` of rails: its entry in the configuration file. Nothing here loads the libraries of the kind. */

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, expected: 'a non-empty string' });

const Secret = Type.Unsafe<SecretReference>(
  Type.Union([Type.Object({ env: Name }, closed), Type.Object({ file: Name }, closed)], {
    expected: 'an object with "env" (the name of a variable) or "file" (a path)',
  }),
);

const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, expected: `an integer from ${minimum} to ${maximum}` });

/** Units per 1,000 vbytes. One coin for 1,000 vbytes is a mistake, not a fee. */
const Rate = integer(1, 100_000_000);

const Node = Type.Object({ url: Name, user: Name, password: Secret }, closed);

const Fees = Type.Object(
  {
    max_rate: Rate,
    fallback_rate: Rate,
    min_rate: Type.Optional(Rate),
    increment_rate: Type.Optional(Rate),
    consolidation_rate: Type.Optional(Rate),
    target_blocks: Type.Optional(integer(1, 1_008)),
  },
  closed,
);

const schema = Type.Object(
  {
    nodes: Type.Array(Node, { minItems: 1, expected: 'a list of at least one node' }),
    account: Name,
    fees: Fees,
    chain: Type.Optional(Type.Enum(['main', 'test', 'regtest'])),
    agreement: Type.Optional(integer(1, 100)),
    confirmations: Type.Optional(integer(1, 1_000)),
    replacement: Type.Optional(Type.Boolean()),
    signer: SignerSetting,
    ...TREASURY_ENTRY,
  },
  closed,
);

type Entry = Static<typeof schema>;

function readUrl(url: string, path: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    throw new Error(`${path} must be an http or https address, not ${JSON.stringify(url)}`);
  // The address itself is not shown: it contains the password.
  if (parsed.username !== '' || parsed.password !== '')
    throw new Error(`${path} must not contain a user or password: use the entries beside it`);
  return url;
}

function readFees(fees: Entry['fees'], path: string): FeeSettings {
  const { max_rate: max, fallback_rate: fallback, min_rate: min = 1_000 } = fees;
  if (min > max) throw new Error(`${path}.max_rate must be at least min_rate (${min}), not ${max}`);
  if (fallback < min || fallback > max)
    throw new Error(
      `${path}.fallback_rate must be between min_rate (${min}) and max_rate (${max}), not ${fallback}`,
    );
  return {
    maxRate: BigInt(max),
    minRate: BigInt(min),
    fallbackRate: BigInt(fallback),
    incrementRate: BigInt(fees.increment_rate ?? 1_000),
    consolidationRate: BigInt(fees.consolidation_rate ?? 2 * min),
    targetBlocks: fees.target_blocks ?? 3,
  };
}

export type Settings = {
  readonly utxo: UtxoSettings;
  readonly treasury: TreasurySettings;
  readonly signer: SignerSettings;
};

function read(entry: Entry, context: ReadContext): Settings {
  const treasury = readTreasury(entry, context);
  return { utxo: readUtxo(entry, treasury, context), treasury, signer: readSigner(entry, context) };
}

function readUtxo(entry: Entry, treasury: TreasurySettings, context: ReadContext): UtxoSettings {
  const { rail, path, networks, secret } = context;
  const network = rail as UtxoNetwork;
  const { native } = networks.crypto(network);
  const { chain = 'main', nodes, account, agreement = 1, replacement } = entry;
  if (agreement > nodes.length)
    throw new Error(`${path}.agreement is ${agreement}, but there are ${nodes.length} nodes`);
  try {
    readAccountText(chainOf(network, chain), account);
  } catch (error) {
    throw new Error(`${path}.account ${(error as Error).message}`, { cause: error });
  }
  return {
    network,
    chain,
    nodes: nodes.map(({ url, user, password }, index) => ({
      url: readUrl(url, `${path}.nodes[${index}].url`),
      user,
      password: secret(password, `${path}.nodes[${index}].password`),
    })),
    agreement,
    account,
    confirmations: entry.confirmations ?? networks.crypto(network).confirmations,
    fees: readFees(entry.fees, `${path}.fees`),
    lowMark: treasury.low.get(native.asset),
    highMark: treasury.high.get(native.asset),
    coldAddress: treasury.coldAddress,
    ...(replacement !== undefined && { replacement }),
  };
}

export const utxoKind = railKind({
  name: 'utxo',
  serves: (rail) => UTXO_NETWORKS.some((network) => network === rail),
  schema,
  read,
  async open({ utxo, treasury, signer: signerSettings }: Settings, node) {
    const { network, confirmations } = utxo;
    const [{ createUtxoDriver }, { openWallet }] = await Promise.all([
      import('./create.ts'),
      import('./wallet.ts'),
    ]);
    const signer = openSigner(signerSettings, node);
    const driver = createUtxoDriver(utxo);
    const { xpub } = await signer.account(network, AbortSignal.timeout(LIMITS.railCallTimeoutMs));
    const wallet = openWallet(utxo, driver.account, xpub);
    const { blockMs } = node.networks.crypto(network);
    return openChain({ network, driver, signer, treasury, confirmations, blockMs, ...wallet }, node);
  },
  async check({ utxo, signer }: Settings, signal) {
    const [{ createUtxoDriver }, { accountFault }] = await Promise.all([
      import('./create.ts'),
      import('./wallet.ts'),
    ]);
    const driver = createUtxoDriver(utxo);
    const findings = await driver.check(signal);
    const ofSigner = await checkSigner(signer, utxo.network, {}, signal);
    const [first] = ofSigner;
    if (first === undefined || first.isFault) return [...findings, ...ofSigner];
    const { xpub } = await openSigner(signer).account(utxo.network, signal);
    const found = accountFault(utxo, driver.account, xpub);
    return found === undefined
      ? [...findings, ...ofSigner]
      : [...findings, { what: first.what, found, isFault: true }];
  },
  async signed({ utxo, signer }: Settings, signal) {
    const { readAccount } = await import('./account.ts');
    const account = readAccount(chainOf(utxo.network, utxo.chain), utxo.account);
    const records = await signedBy(signer, utxo.network, signal);
    return records.map(({ coinFacts = [], ...record }) => ({
      ...record,
      coinFacts: coinFacts.map((fact) => ({ ...fact, address: account.keyAt(fact.path).address })),
    }));
  },
});
