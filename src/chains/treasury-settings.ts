import type { Static } from 'typebox';
import { parseAmount } from '../kernel/amount.ts';
import { Type } from '../kernel/type.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { ReadContext } from '../rails/kind.ts';

/** What the entry of a chain says about its wallets. The same for all families. */

const closed = { additionalProperties: false } as const;
const Decimal = Type.String({ expected: 'a decimal string such as "0.5"' });
const Marks = Type.Object({ low: Type.Optional(Decimal), high: Type.Optional(Decimal) }, closed);

/** In the schema of every kind of chain. */
export const TREASURY_ENTRY = {
  /** Of the coin of the network. */
  low_mark: Type.Optional(Decimal),
  high_mark: Type.Optional(Decimal),
  /** Of tokens, by asset. */
  marks: Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<typeof Marks>>>>(
      Type.Object({}, { additionalProperties: Marks }),
    ),
  ),
  cold_address: Type.Optional(Type.String({ minLength: 1, expected: 'an address' })),
  /** By asset: what an address for deposits must hold before it is swept. */
  sweep_min: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>(Type.Object({}, { additionalProperties: Decimal })),
  ),
} as const;

export type TreasuryEntry = {
  readonly low_mark?: string | undefined;
  readonly high_mark?: string | undefined;
  readonly marks?: Readonly<Record<string, Static<typeof Marks>>> | undefined;
  readonly cold_address?: string | undefined;
  readonly sweep_min?: Readonly<Record<string, string>> | undefined;
};

export type TreasurySettings = {
  readonly coldAddress: string | undefined;
  /** By asset, in units. */
  readonly low: ReadonlyMap<string, bigint>;
  readonly high: ReadonlyMap<string, bigint>;
  readonly sweepMin: ReadonlyMap<string, bigint>;
};

export const NO_TREASURY: TreasurySettings = {
  coldAddress: undefined,
  low: new Map(),
  high: new Map(),
  sweepMin: new Map(),
};

type Given = { readonly asset: string; readonly text: string | undefined; readonly at: string };

/** Throws an error whose message is a clause that names the entry. */
export function readTreasury(entry: TreasuryEntry, context: ReadContext): TreasurySettings {
  const { rail, path, assets, networks } = context;
  const { native, addresses } = networks.crypto(rail as CryptoNetwork);
  const unitsOf = ({ asset, text, at }: Given): [string, bigint] => {
    const token = assets.list.find(
      ({ code, networks: homes }) => code === asset && homes[rail] !== undefined,
    );
    const decimals = asset === native.asset ? native.decimals : token?.decimals;
    if (decimals === undefined)
      throw new Error(`${path}.${at} names ${asset}, which is not an asset on ${rail}`);
    const parsed = parseAmount(text!, decimals);
    if (!parsed.ok) throw new Error(`${path}.${at} ${parsed.message}, not ${JSON.stringify(text)}`);
    return [asset, parsed.units];
  };
  const mapOf = (given: readonly Given[]): ReadonlyMap<string, bigint> =>
    new Map(given.filter(({ text }) => text !== undefined).map(unitsOf));
  const marks = Object.entries(entry.marks ?? {});
  const low = mapOf([
    ...marks.map(([asset, { low: text }]) => ({ asset, text, at: `marks.${asset}.low` })),
    { asset: native.asset, text: entry.low_mark, at: 'low_mark' },
  ]);
  const high = mapOf([
    ...marks.map(([asset, { high: text }]) => ({ asset, text, at: `marks.${asset}.high` })),
    { asset: native.asset, text: entry.high_mark, at: 'high_mark' },
  ]);
  for (const [asset, units] of low)
    if (units >= (high.get(asset) ?? units + 1n))
      throw new Error(
        asset === native.asset
          ? `${path}.low_mark must be below high_mark`
          : `${path}.marks.${asset}.low must be below its high`,
      );
  const { cold_address: coldAddress } = entry;
  const fault = coldAddress === undefined ? undefined : addresses.fault(coldAddress);
  if (fault !== undefined)
    throw new Error(
      `${path}.cold_address is not an address on ${rail}: ${JSON.stringify(coldAddress)} ${fault}`,
    );
  if (high.size > 0 && coldAddress === undefined)
    throw new Error(`${path}.high_mark needs cold_address, where the coins above it go`);
  const sweepMin = mapOf(
    Object.entries(entry.sweep_min ?? {}).map(([asset, text]) => ({ asset, text, at: `sweep_min.${asset}` })),
  );
  return { coldAddress: coldAddress && addresses.canonical(coldAddress), low, high, sweepMin };
}
