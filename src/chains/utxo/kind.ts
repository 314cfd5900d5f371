import type { Static } from 'typebox';
import { Type } from '../../kernel/type.ts';
import type { RailFinding, ReadContext, SecretReference } from '../../rails/kind.ts';
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

function read(entry: Entry, { rail, path, networks, secret }: ReadContext): UtxoSettings {
  const network = rail as UtxoNetwork;
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
    ...(replacement !== undefined && { replacement }),
  };
}

/** Everything of the kind that does not need a running node of Ferry. */
export const UTXO_KIND = {
  name: 'utxo',
  serves: (rail: string): boolean => UTXO_NETWORKS.some((network) => network === rail),
  schema,
  read,
  async check(settings: UtxoSettings, signal: AbortSignal): Promise<readonly RailFinding[]> {
    const { createUtxoDriver } = await import('./create.ts');
    return createUtxoDriver(settings).check(signal);
  },
};
