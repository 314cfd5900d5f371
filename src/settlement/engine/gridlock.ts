import { after, covered, type Member, nets, type Positions, post, shortOf } from './positions.ts';

/** Steps that searching may still take; counted over all searches of one choice. */
export type Budget = { steps: number };

/**
 * Sets of transactions that can settle together though none of them can alone: every net position is covered. At most
 * one for each component, so that they do not touch each other. How it looks, and what that guarantees:
 * docs/decisions/0007-gridlock.md.
 */
export function bestSets(waiting: readonly Member[], positions: Positions, budget: Budget): Member[][] {
  const possible = withoutImpossible(waiting, positions);
  return componentsOf(possible)
    .map((component) => bestOf(component, positions, budget))
    .filter((set) => set.length > 0);
}

/**
 * Leaves out what no set can contain: it takes more than there would be if all others that bring something settled.
 * Each one that goes takes with it what it would have brought, so again until nothing changes.
 */
export function withoutImpossible(waiting: readonly Member[], positions: Positions): Member[] {
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

/** Transactions that share no balance have nothing to do with each other. In the order of their oldest. */
export function componentsOf(members: readonly Member[]): Member[][] {
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
    // All legs may cancel each other out; then nothing is short, and it has settled by itself.
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
  // What is brought may be more than a balance can hold, which only the search minds.
  return nets(positions, set) ? set : [];
}

/**
 * After Bech and Soramäki: assume that all settle, and while a balance ends short, take back the newest transaction
 * that takes from one that is short. Then those that still fit come back, oldest first.
 */
export function withoutNewest(component: readonly Member[], positions: Positions): Member[] {
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

/** Adds what fits by itself, oldest first, until nothing does. `net` are the positions once the members settled. */
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

/** Who brings something to each account, oldest first. */
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

/** Bilateral: the oldest two of which each brings what the other one lacks. Looks at every pair that could. */
export function offsetting(component: readonly Member[], positions: Positions, bringers: Bringers): Member[] {
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

/** With the other one nothing is short any more; `net` has the first one posted. */
function covers(net: Positions, first: Member, other: Member): boolean {
  if (other === first || !covered(net, other)) return false;
  return first.effects.every(({ account }) => {
    if (net[account]! >= 0n) return true;
    const brought = other.effects.find((effect) => effect.account === account)?.units ?? 0n;
    return net[account]! + brought >= 0n;
  });
}

/**
 * The same along a chain: what one lacks is brought by the oldest other one that brings it, what that one lacks by
 * another, until nothing is short. Finds rings among any number of others. Takes half of the budget at most.
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
 * All sets, oldest transactions in first, for as long as the budget lasts: a branch ends when a balance would stay
 * short even if all that may still come did bring what they bring, or when it cannot have more members than the best
 * set so far. If it gets to the end, no set of the component has more members.
 */
export function search(
  component: readonly Member[],
  positions: Positions,
  known: readonly Member[],
  budget: Budget,
): Member[] {
  let best = [...known];
  const chosen: Member[] = [];
  // What each balance has if every transaction that is not decided yet brings what it brings, and takes nothing.
  const hope = [...positions];
  for (const { effects } of component)
    for (const { account, units } of effects) if (units > 0n) hope[account]! += units;

  const branch = (place: number): void => {
    if (budget.steps <= 0 || chosen.length + component.length - place <= best.length) return;
    if (place === component.length) {
      if (nets(positions, chosen)) best = [...chosen];
      return;
    }
    budget.steps -= 1;
    const member = component[place]!;
    const takes = member.effects.filter(({ units }) => units < 0n);
    const brings = member.effects.filter(({ units }) => units > 0n);
    for (const { account, units } of takes) hope[account]! += units;
    if (takes.every(({ account }) => hope[account]! >= 0n)) {
      chosen.push(member);
      branch(place + 1);
      chosen.pop();
    }
    for (const { account, units } of takes) hope[account]! -= units;
    for (const { account, units } of brings) hope[account]! -= units;
    if (brings.every(({ account }) => hope[account]! >= 0n)) branch(place + 1);
    for (const { account, units } of brings) hope[account]! += units;
  };
  branch(0);
  return best;
}
