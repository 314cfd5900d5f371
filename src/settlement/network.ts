import type { Instant } from '../kernel/instant.ts';
import { effectsOf } from './effects.ts';
import { partiesOf, type Settlement } from './transaction.ts';

/** What one profile has to pay another in an asset, after what it is to receive from it. */
export type Obligation = {
  readonly from: string;
  readonly to: string;
  readonly asset: string;
  readonly units: bigint;
  /** Transactions that it is the net of. */
  readonly transactions: number;
};

/** Two profiles that owe each other the same have no obligation. The order is that of the profiles and assets. */
export function obligationsOf(affirmed: readonly Settlement[]): Obligation[] {
  const sums = new Map<string, Obligation>();
  for (const settlement of affirmed) {
    const [from, to] = partiesOf(settlement).sort();
    for (const { profileId, asset, units } of effectsOf(settlement)) {
      if (profileId !== to) continue;
      const key = `${from} ${to} ${asset}`;
      const known = sums.get(key) ?? { from, to, asset, units: 0n, transactions: 0 };
      sums.set(key, { ...known, units: known.units + units, transactions: known.transactions + 1 });
    }
  }
  return [...sums.keys()]
    .sort()
    .map((key) => sums.get(key)!)
    .filter(({ units }) => units !== 0n)
    .map((one) => (one.units > 0n ? one : { ...one, from: one.to, to: one.from, units: -one.units }));
}

/** Transactions that settled at one instant and are linked by profiles. */
export type SettledSet = {
  readonly atNs: Instant;
  readonly transactions: readonly Settlement[];
  readonly assets: readonly {
    readonly asset: string;
    /** The sum of all legs. */
    readonly grossUnits: bigint;
    /** What balances changed by: what the parties needed to have. */
    readonly netUnits: bigint;
  }[];
};

/** The parts of a group that have no profile in common. */
function linked(group: readonly Settlement[]): Settlement[][] {
  let parts: { readonly profiles: ReadonlySet<string>; readonly members: Settlement[] }[] = [];
  for (const one of group) {
    const own = partiesOf(one);
    const touched = parts.filter(({ profiles }) => own.some((id) => profiles.has(id)));
    const joined = {
      profiles: new Set([...own, ...touched.flatMap(({ profiles }) => [...profiles])]),
      members: [...touched.flatMap(({ members }) => members), one],
    };
    parts = [...parts.filter((part) => !touched.includes(part)), joined];
  }
  return parts.map(({ members }) => members);
}

function sumsOf(transactions: readonly Settlement[]): SettledSet['assets'] {
  const gross = new Map<string, bigint>();
  const changes = new Map<string, { asset: string; units: bigint }>();
  for (const one of transactions) {
    for (const { asset, units } of one.legs) gross.set(asset, (gross.get(asset) ?? 0n) + units);
    for (const { key, asset, units } of effectsOf(one))
      changes.set(key, { asset, units: (changes.get(key)?.units ?? 0n) + units });
  }
  return [...gross.keys()].sort().map((asset) => {
    const gains = [...changes.values()].filter((one) => one.asset === asset && one.units > 0n);
    return {
      asset,
      grossUnits: gross.get(asset)!,
      netUnits: gains.reduce((sum, { units }) => sum + units, 0n),
    };
  });
}

/**
 * Sets of two and more transactions that one command settled, newest first: it records the same instant for all of them. A set
 * whose net is less than its gross is a gridlock that netting resolved.
 */
export function settledSets(settled: readonly Settlement[]): SettledSet[] {
  return [...Map.groupBy(settled, ({ updatedAtNs }) => updatedAtNs)]
    .sort(([left], [right]) => (left < right ? 1 : -1))
    .flatMap(([atNs, group]) =>
      linked(group)
        .filter(({ length }) => length > 1)
        .map((transactions) => ({ atNs, transactions, assets: sumsOf(transactions) })),
    );
}
