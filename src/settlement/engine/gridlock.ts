import { after, covered, type Member, nets, type Positions, post, shortOf } from './positions.ts';

/** The remaining steps of all searches of one choice. */
export type Budget = { steps: number };

/**
 * Sets of transactions that can settle together although none of them can alone: every net position is covered. At most
 * one set per component, so sets never share a balance. How the search works, and what it guarantees:
 * docs/decisions/0007-gridlock.md.
 */
export function bestSets(waiting: readonly Member[], positions: Positions, budget: Budget): Member[][] {
  const possible = withoutImpossible(waiting, positions);
  return componentsOf(possible)
    .map((component) => bestOf(component, positions, budget))
    .filter((set) => set.length > 0);
}

/**
 * Removes transactions that no set can contain: their debits exceed the balance even if all others make their credits. Each
 * removed transaction also removes its own credits, so this repeats until nothing changes.
 */
function withoutImpossible(waiting: readonly Member[], positions: Positions): Member[] {
  const hope = [...positions];
  for (const { effects } of waiting)
    for (const { account, units } of effects) if (units > 0n) hope[account]! += units;
  let left = [...waiting];
  for (;;) {
    const kept = left.filter(({ effects }) => {
      if (effects.every(({ account, units }) => units > 0n || hope[account]! + units >= 0n)) return true;
      for (const { account, units } of effects) if (units > 0n) hope[account]! -= units;
      return false;
    });
    if (kept.length === left.length) return kept;
    left = kept;
  }
}

/** Groups transactions that share balances, directly or through others. Ordered by their oldest member. */
function componentsOf(members: readonly Member[]): Member[][] {
  const parent = new Map<number, number>();
  const rootOf = (account: number): number => {
    let root = account;
    for (let next = parent.get(root); next !== undefined && next !== root; next = parent.get(root))
      root = next;
    parent.set(account, root);
    return root;
  };
  for (const { effects } of members) {
    for (const { account } of effects) parent.set(rootOf(account), rootOf(effects[0]!.account));
  }
  const components = new Map<number, Member[]>();
  for (const member of members) {
    // If all legs cancel each other out, nothing is short, and it has settled alone.
    if (member.effects.length === 0) continue;
    const root = rootOf(member.effects[0]!.account);
    const component = components.get(root);
    if (component === undefined) components.set(root, [member]);
    else component.push(member);
  }
  return [...components.values()];
}

function bestOf(component: readonly Member[], positions: Positions, budget: Budget): Member[] {
  if (nets(positions, component)) return [...component];
  const bringers = bringersOf(component);
  let best = withoutNewest(component, positions);
  const pair = offsetting(component, positions, bringers);
  if (pair.length > best.length) best = pair;
  const grown = grow(component, positions, bringers, budget);
  if (grown.length > best.length) best = grown;
  const set = search(component, positions, best, budget);
  // Credits may exceed what a balance can hold, which only the search checks.
  return nets(positions, set) ? set : [];
}

/**
 * After Bech and Soramäki: assume that all settle, and while a balance is short, remove the newest transaction that debits
 * it. Then add those that fit again, oldest first.
 */
function withoutNewest(component: readonly Member[], positions: Positions): Member[] {
  const net = after(positions, component);
  const members = new Set(component);
  const newestFirst = component.toReversed();
  for (;;) {
    const removed = newestFirst.find(
      (member) =>
        members.has(member) && member.effects.some(({ account, units }) => units < 0n && net[account]! < 0n),
    );
    if (removed === undefined) break;
    members.delete(removed);
    post(net, removed, -1n);
  }
  return withMore(component, members, net);
}

/** Adds members that are covered alone, oldest first, until none is. `net`: the positions after the members settled. */
function withMore(component: readonly Member[], members: Set<Member>, net: Positions): Member[] {
  if (members.size === 0) return [];
  for (let grew = true; grew; ) {
    grew = false;
    for (const member of component) {
      if (members.has(member) || !covered(net, member)) continue;
      members.add(member);
      post(net, member, 1n);
      grew = true;
    }
  }
  return component.filter((member) => members.has(member));
}

type Bringers = ReadonlyMap<number, readonly Member[]>;

/** The members that credit each account, oldest first. */
function bringersOf(component: readonly Member[]): Bringers {
  const bringers = new Map<number, Member[]>();
  for (const member of component) {
    for (const { account, units } of member.effects) {
      if (units < 0n) continue;
      const known = bringers.get(account);
      if (known === undefined) bringers.set(account, [member]);
      else known.push(member);
    }
  }
  return bringers;
}

/** Bilateral offsetting: the oldest pair in which each credits what the other one lacks. Checks every possible pair. */
function offsetting(component: readonly Member[], positions: Positions, bringers: Bringers): Member[] {
  for (const first of component) {
    const net = after(positions, [first]);
    const [short] = shortOf(net, first);
    const second = bringers.get(short!)?.find((other) => covers(net, first, other));
    if (second === undefined) continue;
    post(net, second, 1n);
    return withMore(component, new Set([first, second]), net);
  }
  return [];
}

/** Whether nothing is short once `other` settles as well; `net` has the first one posted. */
function covers(net: Positions, first: Member, other: Member): boolean {
  if (other === first || !covered(net, other)) return false;
  return first.effects.every(({ account }) => {
    if (net[account]! >= 0n) return true;
    const brought = other.effects.find((effect) => effect.account === account)?.units ?? 0n;
    return net[account]! + brought >= 0n;
  });
}

/**
 * The same along a chain: the oldest other member that credits what one lacks joins it, then one that credits what that
 * one lacks, until nothing is short. Finds rings among any number of others. Uses at most half of the budget.
 */
export function grow(
  component: readonly Member[],
  positions: Positions,
  bringers: Bringers,
  budget: Budget,
): Member[] {
  const reserve = Math.floor(budget.steps / 2);
  for (const first of component) {
    const members = new Set([first]);
    const net = after(positions, members);
    const short = shortOf(net, first);
    for (let account = short.pop(); account !== undefined; account = short.pop()) {
      if (net[account]! >= 0n) continue;
      const next = bringers.get(account)?.find((member) => !members.has(member));
      if (next === undefined || budget.steps <= reserve) break;
      budget.steps -= 1;
      members.add(next);
      post(net, next, 1n);
      short.push(account, ...shortOf(net, next));
    }
    if (nets(positions, [...members])) return withMore(component, members, net);
    if (budget.steps <= reserve) break;
  }
  return [];
}

/**
 * Searches all sets, oldest transactions first, for as long as the budget lasts. A branch ends when a balance would stay
 * short even with every credit that may still come, or when it cannot have more members than the best set so far. If the
 * search completes, no set of the component has more members.
 */
export function search(
  component: readonly Member[],
  positions: Positions,
  known: readonly Member[],
  budget: Budget,
): Member[] {
  let best = [...known];
  const chosen: Member[] = [];
  // The amount of each balance if every undecided transaction makes its credits and none of its debits.
  const hope = [...positions];
  for (const { effects } of component)
    for (const { account, units } of effects) if (units > 0n) hope[account]! += units;

  const branch = (index: number): void => {
    if (budget.steps <= 0 || chosen.length + component.length - index <= best.length) return;
    if (index === component.length) {
      if (nets(positions, chosen)) best = [...chosen];
      return;
    }
    budget.steps -= 1;
    const member = component[index]!;
    const takes = member.effects.filter(({ units }) => units < 0n);
    const brings = member.effects.filter(({ units }) => units > 0n);
    for (const { account, units } of takes) hope[account]! += units;
    if (takes.every(({ account }) => hope[account]! >= 0n)) {
      chosen.push(member);
      branch(index + 1);
      chosen.pop();
    }
    for (const { account, units } of takes) hope[account]! -= units;
    for (const { account, units } of brings) hope[account]! -= units;
    if (brings.every(({ account }) => hope[account]! >= 0n)) branch(index + 1);
    for (const { account, units } of brings) hope[account]! += units;
  };
  branch(0);
  return best;
}
