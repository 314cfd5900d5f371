import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queryable } from '../../database/database.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Instant, NS_PER_MS } from '../../kernel/instant.ts';
import { Problem } from '../../kernel/problem.ts';
import { availableOf } from '../../ledger/balances.ts';
import { balanceKeyText } from '../../ledger/book.ts';
import type { BalanceKey, Command } from '../../ledger/command.ts';
import type { WritePath } from '../../ledger/write-path.ts';
import { LIMITS } from '../../limits.ts';
import { AWAITING_PARTY, type BalanceEffect, effectsOf } from '../effects.ts';
import * as store from '../engine-store.ts';
import { partiesOf, type Settlement } from '../transaction.ts';
import {
  awaitFundsCommand,
  awaitPartyCommand,
  byAge,
  type EngineTables,
  expireCommand,
  settleCommand,
  waitsOf,
} from './commands.ts';
import { choose } from './netting.ts';
import type { SetAside } from './set-aside.ts';
import type { Watch } from './watch.ts';

/**
 * Tries transactions: looks at them and at those around them without locking anything, plans, and makes commands of
 * the plan, a few transactions each, so that nobody else's batch is held up. A command decides anew on locked rows; a
 * plan that was overtaken settles less, and what it left is tried again.
 */
export type Engine = {
  /** Says how many transactions changed: settled, or began to wait. */
  tryThese(seeds: readonly Settlement[]): Promise<number>;
  tryIds(ids: readonly string[]): Promise<number>;
  /** Everything that waits for balances that have grown. Says how many settled. */
  tryGrown(balances: readonly store.Grown[]): Promise<number>;
  expire(ended: readonly Settlement[]): Promise<number>;
};

type Available = (key: string) => bigint;
type NamedBalance = BalanceKey & { readonly key: string };
type Look = {
  readonly settled: number;
  /** Began to wait. */
  readonly marked: number;
  /** All were tried with what was `available`; not so when others kept overtaking the plan. */
  readonly complete: boolean;
  readonly available: Available;
};

/** Of these profiles, the ones that are disabled. */
export type DisabledProfiles = (database: Queryable, ids: readonly string[]) => Promise<ReadonlySet<string>>;

export type EngineDependencies = {
  readonly database: Database;
  readonly disabledProfiles: DisabledProfiles;
  readonly writePath: WritePath;
  readonly tables: EngineTables;
  readonly clock: Clock;
  readonly watch: Watch;
  readonly setAside: Pick<SetAside, 'add' | 'has'>;
};

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Steps of one, one after the other, share a command; a set that nets has one to itself. */
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

const takenBy = (effects: readonly BalanceEffect[]): BalanceEffect[] =>
  effects.filter(({ units }) => units < 0n);

const URGENT_NS = BigInt(LIMITS.settlementUrgentMs) * NS_PER_MS;

/** A window ends soon, and has not ended yet. */
function isUrgent(group: readonly Settlement[], now: Instant): boolean {
  return group.some(({ windowEndNs }) => windowEndNs > now && windowEndNs < now + URGENT_NS);
}

export function createEngine(dependencies: EngineDependencies): Engine {
  const { database, writePath, tables, clock, watch, setAside } = dependencies;
  /** A command that is refused or throws is taken apart, so that one transaction cannot hold up others. */
  async function submit(
    many: readonly Settlement[],
    commandOf: (some: readonly Settlement[]) => Command<Settlement[]>,
  ): Promise<Settlement[]> {
    try {
      const outcome = await writePath.submit(commandOf(many));
      return outcome.replayed ? [] : outcome.answer;
    } catch (error) {
      if (error instanceof Problem && error.slug === 'unavailable') {
        // Either the database is away, and nothing can be done; or somebody holds on to a balance. Taking the command
        // apart would make each batch wait for that lock anew.
        await store.checkThere(database);
        setAside.add(many, error, LIMITS.settlementBusyMs);
        return [];
      }
      if (many.length > 1) {
        const done: Settlement[] = [];
        for (const one of many) done.push(...(await submit([one], commandOf)));
        return done;
      }
      setAside.add(many, error, LIMITS.settlementSetAsideMs);
      return [];
    }
  }

  /** What comes in bulk leaves room for others: a pause after each command, unless a window ends soon. */
  async function submitEach(
    groups: readonly (readonly Settlement[])[],
    commandOf: (some: readonly Settlement[]) => Command<Settlement[]>,
  ): Promise<Settlement[]> {
    const done: Settlement[] = [];
    let tookMs = 0;
    for (const group of groups) {
      if (tookMs > 0 && !isUrgent(group, clock.now())) await sleep(tookMs * LIMITS.settlementBulkPause);
      const started = performance.now();
      done.push(...(await submit(group, commandOf)));
      tookMs = performance.now() - started;
    }
    return done;
  }

  /** The seeds, and around them, party by party, those that wait: as many as are looked at together, oldest first. */
  async function gather(seeds: readonly Settlement[]): Promise<Settlement[]> {
    const found = new Map(seeds.map((seed) => [seed.id, seed]));
    const asked = new Set<string>();
    let legs = seeds.reduce((sum, seed) => sum + seed.legs.length, 0);
    for (;;) {
      const parties = [...found.values()].flatMap((one) => [one.sourceProfileId, one.targetProfileId]);
      const profileIds = [...new Set(parties)].filter((id) => !asked.has(id));
      if (profileIds.length === 0) break;
      for (const id of profileIds) asked.add(id);
      const around = await store.waitingAround(database, profileIds, LIMITS.settlementPageMax);
      for (const one of around.sort(byAge)) {
        if (found.has(one.id) || setAside.has(one.id)) continue;
        legs += one.legs.length;
        if (found.size >= LIMITS.settlementSetMax || legs > LIMITS.settlementSetLegsMax) {
          return [...found.values()].sort(byAge);
        }
        found.set(one.id, one);
      }
    }
    return [...found.values()].sort(byAge);
  }

  /** What is left lacks something: its record says so from the first time on, and which balances it waits for. */
  async function leaveWaiting(left: readonly Settlement[], available: Available): Promise<number> {
    const known = left.filter((one) => one.secondaryStatus !== null);
    await store.lowerWaits(database, waitsOf(known, available));
    const groups = chunksOf(
      left.filter((one) => one.secondaryStatus === null),
      LIMITS.settlementChunkMax,
    );
    const marked = await submitEach(groups, (some) => awaitFundsCommand(some, available, tables));
    return marked.length;
  }

  /** A profile is disabled: they are in no plan, and their records say so from the first time on. */
  async function leaveBlocked(blocked: readonly Settlement[]): Promise<number> {
    const news = blocked.filter((one) => one.secondaryStatus?.name !== AWAITING_PARTY.name);
    const groups = chunksOf(news, LIMITS.settlementChunkMax);
    return (await submitEach(groups, (some) => awaitPartyCommand(some, tables))).length;
  }

  /** One plan on what is there now, carried out. The balance that has grown is read as well, whoever moves it. */
  async function carryOut(
    together: readonly Settlement[],
    grown: readonly NamedBalance[],
  ): Promise<{
    settled: number;
    overtaken: boolean;
    left: readonly Settlement[];
    blocked: readonly Settlement[];
    available: Available;
  }> {
    const disabled = await dependencies.disabledProfiles(database, [...new Set(together.flatMap(partiesOf))]);
    const isBlocked = (one: Settlement): boolean => partiesOf(one).some((id) => disabled.has(id));
    const blocked = together.filter(isBlocked);
    const candidates = together
      .filter((one) => !isBlocked(one))
      .map((item) => ({ item, effects: effectsOf(item) }));
    const touched = distinct([...grown, ...together.flatMap(effectsOf)]);
    const taken = distinct(candidates.flatMap(({ effects }) => takenBy(effects)));
    // Watched before the balances are read: what grows after that is told, and looked at again.
    watch.add(taken);
    const balances = await availableOf(database, touched);
    const { steps, left, available } = choose(candidates, (key) => balances.get(key) ?? 0n);
    const planned = steps.reduce((sum, step) => sum + step.length, 0);
    const { length: settled } = await submitEach(groupsOf(steps), (some) => settleCommand(some, tables));
    if (settled < planned) return { settled, overtaken: true, left, blocked, available };
    const needed = new Set(left.flatMap((one) => takenBy(effectsOf(one)).map(({ key }) => key)));
    watch.remove(taken.filter(({ key }) => !needed.has(key)));
    return { settled, overtaken: false, left, blocked, available };
  }

  async function look(seeds: readonly Settlement[], grown: readonly NamedBalance[] = []): Promise<Look> {
    const tryable = seeds.filter(({ id }) => !setAside.has(id));
    let together = await gather(tryable);
    let settled = 0;
    for (let attempt = 1; ; attempt += 1) {
      const { overtaken, left, blocked, available, ...done } = await carryOut(together, grown);
      settled += done.settled;
      if (!overtaken) {
        const marked = (await leaveWaiting(left, available)) + (await leaveBlocked(blocked));
        return { settled, marked, complete: tryable.length === seeds.length, available };
      }
      if (attempt === LIMITS.settlementPlansMax) return { settled, marked: 0, complete: false, available };
      const ids = together.map(({ id }) => id);
      together = (await store.openSettlements(database, ids))
        .filter(({ id }) => !setAside.has(id))
        .sort(byAge);
    }
  }

  async function tryThese(seeds: readonly Settlement[]): Promise<number> {
    if (seeds.length === 0) return 0;
    const { settled, marked } = await look(seeds);
    return settled + marked;
  }

  async function tryWaiting(grown: store.Grown): Promise<number> {
    const key = balanceKeyText(grown.profileId, grown.asset);
    let seen = grown.available;
    let settled = 0;
    let page: Settlement[] = [];
    for (let any = false; ; any = true) {
      page = await store.waitingFor(database, grown, page.at(-1), LIMITS.settlementPageMax);
      if (page.length === 0) {
        await store.waitSeen(database, { ...grown, available: seen }, any);
        return settled;
      }
      const result = await look(page, [{ ...grown, key }]);
      settled += result.settled;
      if (!result.complete) return settled;
      // A debit may have come in between: then they were tried with less than had been seen.
      const tried = result.available(key);
      if (tried < seen) seen = tried;
    }
  }

  return {
    tryThese,
    tryIds: async (ids) => tryThese(await store.openSettlements(database, ids)),
    async tryGrown(balances) {
      let settled = 0;
      for (const grown of balances) settled += await tryWaiting(grown);
      return settled;
    },
    async expire(ended) {
      const groups = chunksOf(ended, LIMITS.settlementChunkMax);
      return (await submitEach(groups, (some) => expireCommand(some, tables))).length;
    },
  };
}

function distinct<Key extends { readonly key: string }>(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((one) => [one.key, one])).values()];
}
