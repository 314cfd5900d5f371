import { readFileSync } from 'node:fs';
import type { Assets } from '../kernel/asset.ts';
import type { Networks, RailName } from '../networks/register.ts';
import type { ConfiguredRail, RailKind, ReadContext, SecretReference } from '../rails/kind.ts';
import { shapeFault, shown } from './validate.ts';

/**
 * `rails` in the configuration file: an entry for each rail, with its kind. What an entry must contain is known by its kind,
 * so each is validated by the schema of the kind.
 */

export type RailContext = {
  readonly kinds: readonly RailKind[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly assets: Assets;
  readonly networks: Networks;
  readonly mode: 'sandbox' | 'production';
};

/** Never shows what it read. */
export function readSecret(env: RailContext['env'], reference: SecretReference, path: string): string {
  if ('env' in reference) {
    const value = env[reference.env];
    if (value === undefined || value === '')
      throw new Error(`${path}.env names ${reference.env}, which is not set in the environment`);
    return value;
  }
  let text: string;
  try {
    text = readFileSync(reference.file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path}.file names ${reference.file}, which cannot be read (${code})`, { cause: error });
  }
  if (text === '') throw new Error(`${path}.file names ${reference.file}, which is empty`);
  return text;
}

const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));

function readRail(name: RailName, entry: unknown, context: RailContext): ConfiguredRail {
  const { kinds, env, networks, assets, mode } = context;
  const path = `rails.${name}`;
  const { kind: kindName, ...settings } = entry as { kind: string };
  const possible = kinds.filter((one) => one.serves(name, networks));
  const kind = possible.find((one) => one.name === kindName);
  if (kind === undefined)
    throw new Error(
      `${path}.kind must be one of ${listed(possible.map((one) => one.name))}, not ${shown(kindName)}`,
    );
  const fault = shapeFault(kind.schema, settings, path);
  if (fault !== undefined) throw new Error(fault);
  const given: ReadContext = {
    rail: name,
    path,
    assets,
    networks,
    mode,
    secret: (reference, at) => readSecret(env, reference, at),
  };
  const read = kind.read(settings as never, given);
  return {
    name,
    kind: kind.name,
    open: (node) => kind.open(read, node),
    check: (signal) => kind.check(read, signal),
    ...(kind.signed && { signed: (signal: AbortSignal) => kind.signed!(read, signal) }),
  };
}

/** Throws an error whose message is a clause that names the entry. */
export function readRails(
  entries: Readonly<Record<string, unknown>>,
  context: RailContext,
): readonly ConfiguredRail[] {
  const { networks } = context;
  return Object.entries(entries).map(([name, entry]) => {
    if (!networks.isCryptoNetwork(name) && !networks.isFiatKind(name))
      throw new Error(
        `rails.${name} is not a rail: use ${[...networks.fiatKinds, ...networks.cryptoNetworks].join(', ')}`,
      );
    return readRail(name, entry, context);
  });
}
