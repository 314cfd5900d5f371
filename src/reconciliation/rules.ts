import type { Assets } from '../kernel/asset.ts';
import type { Item, NewItem } from './item.ts';

/** References that say that there is none. */
const NONE = new Set(['', 'notprovided', 'nonref', 'none', 'na']);

/** Banks change the case of references and drop characters: only letters and digits count. */
export function normalizedReferences(references: readonly string[]): string[] {
  const texts = references.map((one) => one.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
  return [...new Set(texts)].filter((one) => !NONE.has(one));
}

/**
 * The ledger has an account from the point of view of the service. `clearing` mirrors what is outside: money that came in is
 * negative there. `treasury` is the operator's own money: positive.
 */
export function outsideUnits(account: string, units: bigint): bigint {
  return account.startsWith('clearing:') ? -units : units;
}

/** Balances have a sign, unlike amounts. */
export function signedAmount(assets: Assets, asset: string, units: bigint): string {
  return units < 0n ? `-${assets.format(asset, -units)}` : assets.format(asset, units);
}

/** An open item, under one of its references. */
export type Candidate = Pick<Item, 'id' | 'side' | 'units' | 'createdAtNs'> & { readonly ref: string };

const byAge = (
  a: Pick<Candidate, 'id' | 'createdAtNs'>,
  b: Pick<Candidate, 'id' | 'createdAtNs'>,
): number => {
  if (a.createdAtNs !== b.createdAtNs) return a.createdAtNs < b.createdAtNs ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
};

/**
 * The pairs that belong together, as ids: a new item and an open one of the other side, with the same amount and a reference in
 * common. One to one, oldest first. The others stay open: a repeated line needs a second movement.
 */
export function chosenPairs(
  items: readonly NewItem[],
  candidates: readonly Candidate[],
): (readonly [newId: string, openId: string])[] {
  const keyOf = (side: Item['side'], units: bigint, ref: string): string => `${side} ${units} ${ref}`;
  const oldestFirst = candidates.toSorted(byAge);
  const open = Map.groupBy(oldestFirst, ({ side, units, ref }) => keyOf(side, units, ref));
  const used = new Set<string>();
  return items.toSorted(byAge).flatMap(({ id, side, units, refs }) => {
    const otherSide = side === 'LEDGER' ? 'STATEMENT' : 'LEDGER';
    const possible = refs.flatMap((ref) => {
      const waiting = open.get(keyOf(otherSide, units, ref)) ?? [];
      while (waiting.length > 0 && used.has(waiting[0]!.id)) waiting.shift();
      return waiting.slice(0, 1);
    });
    const [first] = possible.sort(byAge);
    if (first === undefined) return [];
    used.add(first.id);
    return [[id, first.id] as const];
  });
}

/** Why these items do not belong together; undefined if they do. */
export function matchFault(items: readonly Item[]): string | undefined {
  const kinds = new Set(items.map(({ account, asset }) => `${account} ${asset}`));
  if (kinds.size > 1) return 'must be items of one account and asset';
  const sumOf = (side: Item['side']): bigint =>
    items.filter((one) => one.side === side).reduce((sum, { units }) => sum + units, 0n);
  if (sumOf('LEDGER') !== sumOf('STATEMENT'))
    return `must have the same sum on both sides, not ${sumOf('STATEMENT')} units on the statement and ${sumOf('LEDGER')} in the ledger`;
  return undefined;
}
