import { LIMITS } from '../../limits.ts';
import { bestSets } from './gridlock.ts';
import { type Account, covered, type Member, type Positions, post } from './positions.ts';

/** What one transaction does to one balance: below zero it takes, above zero it brings. Never zero. */
export type Effect = { readonly key: string; readonly units: bigint };
export type Candidate<Item> = { readonly item: Item; readonly effects: readonly Effect[] };

export type Choice<Item> = {
  /** What settles, in this order: each step is covered once those before it are done. Several in one step net. */
  readonly steps: readonly (readonly Item[])[];
  /** What has to wait, oldest first. */
  readonly left: readonly Item[];
  /** What each balance has after all steps. */
  readonly available: (key: string) => bigint;
};

/**
 * Chooses what settles. Candidates come oldest first, and that is also the order of preference:
 *
 * 1. the oldest one that is covered by itself settles, again and again, until none is;
 * 2. of those that are left, sets whose net positions are all covered settle together, where they are found;
 * 3. what these bring may cover others: from the start, until nothing settles.
 *
 * So whatever first-in-first-out alone settles is settled here, too, before anything else. Deterministic, and bounded:
 * steps 1 and 2 cost at most a pass over the candidates for each that settles, and the search inside step 2 has a
 * budget for the whole call.
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
  const settle = (set: readonly Member[]): void => {
    for (const member of set) {
      waiting.delete(member);
      post(positions, member, 1n);
    }
    steps.push(set.map((member) => candidates[member.rank]!.item));
  };
  for (;;) {
    oneByOne(waiting, positions, accounts, settle);
    const sets = bestSets([...waiting], positions, budget);
    if (sets.length === 0) break;
    for (const set of sets) settle(set);
  }
  const keys = new Map(accounts.map(({ key }, index) => [key, index]));
  return {
    steps,
    left: members.filter((member) => waiting.has(member)).map((member) => candidates[member.rank]!.item),
    available: (key) => positions[keys.get(key)!] ?? availableNow(key),
  };
}

/** Balances get numbers instead of names: positions are looked at far more often than candidates. */
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

/** The oldest that is covered, again and again. Looks again only at those that take from what has just grown. */
function oneByOne(
  waiting: ReadonlySet<Member>,
  positions: Positions,
  accounts: readonly Account[],
  settle: (set: readonly Member[]) => void,
): void {
  const byRank = [...waiting].sort((a, b) => a.rank - b.rank);
  const placeOf = new Map(byRank.map((member, place) => [member, place]));
  const unseen = byRank.map(() => true);
  let place = 0;
  while (place < byRank.length) {
    const member = byRank[place]!;
    const look = unseen[place]!;
    unseen[place] = false;
    place += 1;
    if (!look || !covered(positions, member)) continue;
    settle([member]);
    for (const { account, units } of member.effects) {
      if (units < 0n) continue;
      for (const taker of accounts[account]!.takers) {
        if (!waiting.has(taker)) continue;
        const again = placeOf.get(taker)!;
        unseen[again] = true;
        place = Math.min(place, again);
      }
    }
  }
}
