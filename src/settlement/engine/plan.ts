import type { Queryable } from '../../database/database.ts';
import { availableOf } from '../../ledger/balances.ts';
import type { BalanceKey } from '../../ledger/command.ts';
import { LIMITS } from '../../limits.ts';
import { type BalanceEffect, effectsOf } from '../effects.ts';
import { partiesOf, type Settlement } from '../transaction.ts';
import { choose } from './netting.ts';
import type { Watch } from './watch.ts';

export type Available = (key: string) => bigint;
export type NamedBalance = BalanceKey & { readonly key: string };

/** Of these profiles, the ones that are disabled. */
export type DisabledProfiles = (database: Queryable, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** What to do with transactions, based on balances and profiles that were read without locks. */
export type Plan = {
  /** Transactions that settle, in this order, one command for each group. */
  readonly groups: readonly (readonly Settlement[])[];
  /** Transactions that lack something. */
  readonly left: readonly Settlement[];
  /** Transactions of a disabled profile. */
  readonly blocked: readonly Settlement[];
  /** What each balance has after all groups have settled. */
  readonly available: Available;
  /** The balances that transactions debit. */
  readonly taken: readonly NamedBalance[];
};

export type PlanDependencies = {
  readonly database: Queryable;
  readonly disabledProfiles: DisabledProfiles;
  readonly watch: Watch;
};

/** `grown` are balances that are read as well, even if no transaction debits them. */
export async function makePlan(
  { database, disabledProfiles, watch }: PlanDependencies,
  together: readonly Settlement[],
  grown: readonly NamedBalance[],
): Promise<Plan> {
  const disabled = await disabledProfiles(database, [...new Set(together.flatMap(partiesOf))]);
  const isBlocked = (one: Settlement): boolean => partiesOf(one).some((id) => disabled.has(id));
  const blocked = together.filter(isBlocked);
  const candidates = together
    .filter((one) => !isBlocked(one))
    .map((item) => ({ item, effects: effectsOf(item) }));
  const touched = distinct([...grown, ...together.flatMap(effectsOf)]);
  const taken = distinct(candidates.flatMap(({ effects }) => takenBy(effects)));
  // Watched before the balances are read: growth after that is reported, and the transactions are tried again.
  watch.add(taken);
  const balances = await availableOf(database, touched);
  const { steps, left, available } = choose(candidates, (key) => balances.get(key) ?? 0n);
  return { groups: groupsOf(steps), left, blocked, available, taken };
}

/** Balances that no remaining transaction debits: their growth does not let any settle. */
export function notNeeded({ left, taken }: Plan): NamedBalance[] {
  const needed = new Set(left.flatMap((one) => takenBy(effectsOf(one)).map(({ key }) => key)));
  return taken.filter(({ key }) => !needed.has(key));
}

/** Consecutive steps of one transaction share a command; a set that is netted has its own command. */
function groupsOf(steps: readonly (readonly Settlement[])[]): Settlement[][] {
  const groups: Settlement[][] = [];
  let singles: Settlement[] = [];
  for (const step of steps) {
    if (step.length === 1 && singles.length < LIMITS.settlementChunkMax) singles.push(step[0]!);
    else {
      if (singles.length > 0) groups.push(singles);
      singles = step.length === 1 ? [step[0]!] : [];
      if (step.length > 1) groups.push([...step]);
    }
  }
  if (singles.length > 0) groups.push(singles);
  return groups;
}

function takenBy(effects: readonly BalanceEffect[]): BalanceEffect[] {
  return effects.filter(({ units }) => units < 0n);
}

function distinct<Key extends { readonly key: string }>(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((one) => [one.key, one])).values()];
}
