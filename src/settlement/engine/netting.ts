import { LIMITS } from '../../limits.ts';
import { bestSets } from './gridlock.ts';
import { type Account, covered, type Member, type Positions, post } from './positions.ts';

/** How one transaction changes one balance: a negative number is a debit, a positive one a credit. Never zero. */
export type Effect = { readonly key: string; readonly units: bigint };
export type Candidate<Item> = { readonly item: Item; readonly effects: readonly Effect[] };

export type Choice<Item> = {
  /** Transactions that settle, in this order: each step is covered after those before it. A step of several is netted. */
  readonly steps: readonly (readonly Item[])[];
  /** Transactions that have to wait, oldest first. */
  readonly left: readonly Item[];
  /** The amount of each balance after all steps. */
  readonly available: (key: string) => bigint;
};

/**
 * Chooses which transactions settle. Candidates come oldest first, and older ones are preferred:
 *
 * 1. the oldest candidate that is covered alone settles; repeat until no candidate is;
 * 2. of the rest, sets whose net positions are all covered settle together, if any are found;
 * 3. their credits may cover others: start again, until nothing settles.
 *
 * So everything that first-in-first-out alone would settle is settled first. Deterministic and bounded: steps 1 and 2 cost
 * at most a pass over the candidates for each one that settles, and the search in step 2 has a budget for the whole call.
 */
export function choose<Item>(
  candidates: readonly Candidate<Item>[],
  availableNow: (key: string) => bigint,
  searchStepsMax: number = LIMITS.settlementSearchStepsMax,
): Choice<Item> {
  const { members, positions, accounts } = number(candidates, availableNow);
  const waiting = new Set(members);
  const budget = { steps: searchStepsMax };
  const steps: Item[][] = [];
  const addStep = (set: readonly Member[]): void => {
    for (const member of set) {
      waiting.delete(member);
      post(positions, member, 1n);
    }
    steps.push(set.map((member) => candidates[member.rank]!.item));
  };
  for (;;) {
    oneByOne(waiting, positions, accounts, addStep);
    const sets = bestSets([...waiting], positions, budget);
    if (sets.length === 0) break;
    for (const set of sets) addStep(set);
  }
  const keys = new Map(accounts.map(({ key }, index) => [key, index]));
  return {
    steps,
    left: members.filter((member) => waiting.has(member)).map((member) => candidates[member.rank]!.item),
    available: (key) => positions[keys.get(key)!] ?? availableNow(key),
  };
}

/** Balances get numbers instead of names: positions are read far more often than candidates. */
function number<Item>(
  candidates: readonly Candidate<Item>[],
  availableNow: (key: string) => bigint,
): { members: Member[]; positions: Positions; accounts: Account[] } {
  const numbers = new Map<string, number>();
  const accounts: Account[] = [];
  const positions: bigint[] = [];
  const members = candidates.map(({ effects }, rank): Member => {
    const numbered = effects.map(({ key, units }) => {
      let account = numbers.get(key);
      if (account === undefined) {
        account = accounts.length;
        numbers.set(key, account);
        accounts.push({ key, takers: [] });
        positions.push(availableNow(key));
      }
      return { account, units };
    });
    return { rank, effects: numbered };
  });
  for (const member of members) {
    for (const { account, units } of member.effects) if (units < 0n) accounts[account]!.takers.push(member);
  }
  return { members, positions, accounts };
}

/** The oldest member that is covered, repeatedly. Checks a member again only if a balance that it debits has grown. */
function oneByOne(
  waiting: ReadonlySet<Member>,
  positions: Positions,
  accounts: readonly Account[],
  addStep: (set: readonly Member[]) => void,
): void {
  const byRank = [...waiting].sort((a, b) => a.rank - b.rank);
  const indexOf = new Map(byRank.map((member, index) => [member, index]));
  const isUnchecked = byRank.map(() => true);
  let next = 0;
  while (next < byRank.length) {
    const member = byRank[next]!;
    const mayBeCovered = isUnchecked[next]!;
    isUnchecked[next] = false;
    next += 1;
    if (!mayBeCovered || !covered(positions, member)) continue;
    addStep([member]);
    for (const { account, units } of member.effects) {
      if (units < 0n) continue;
      for (const taker of accounts[account]!.takers) {
        if (!waiting.has(taker)) continue;
        const index = indexOf.get(taker)!;
        isUnchecked[index] = true;
        next = Math.min(next, index);
      }
    }
  }
}
