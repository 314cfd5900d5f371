import type { Item } from './item.ts';

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

type Pair = { readonly statementItemId: string; readonly ledgerItemId: string };

/** One to one, in the order of the pairs. The others stay open: a repeated line needs a second movement. */
export function chosenPairs(pairs: readonly Pair[]): Pair[] {
  const used = new Set<string>();
  return pairs.filter(({ statementItemId, ledgerItemId }) => {
    if (used.has(statementItemId) || used.has(ledgerItemId)) return false;
    used.add(statementItemId).add(ledgerItemId);
    return true;
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
