import type { Database } from '../../database/database.ts';
import { balanceKeyText } from '../../ledger/book.ts';
import { LIMITS } from '../../limits.ts';
import { AWAITING_PARTY } from '../effects.ts';
import * as store from '../engine-store.ts';
import type { Settlement } from '../transaction.ts';
import {
  awaitFundsCommand,
  awaitPartyCommand,
  byAge,
  type EngineTables,
  expireCommand,
  settleCommand,
  waitsOf,
} from './commands.ts';
import { gather } from './gather.ts';
import { type Available, makePlan, type NamedBalance, notNeeded, type PlanDependencies } from './plan.ts';
import type { SetAside } from './set-aside.ts';
import { createSubmitter, type SubmitGroups, type SubmitterDependencies } from './submitter.ts';

/**
 * Tries transactions: reads them and those around them without locking anything, plans, and submits the plan as commands
 * of a few transactions each, so that no other command waits for long. A command decides again on locked rows. If other
 * commands changed balances in the meantime, a plan settles fewer transactions, and the rest is tried again.
 */
export type Engine = {
  /** Returns how many transactions changed: settled, or began to wait. */
  tryThese(seeds: readonly Settlement[]): Promise<number>;
  tryIds(ids: readonly string[]): Promise<number>;
  /** Tries everything that waits for balances that have grown. Returns how many settled. */
  tryGrown(balances: readonly store.Grown[]): Promise<number>;
  expire(ended: readonly Settlement[]): Promise<number>;
};

type TryResult = {
  readonly settled: number;
  /** Began to wait. */
  readonly marked: number;
  /** All were tried with what was `available`; false if other commands kept changing the balances. */
  readonly isComplete: boolean;
  readonly available: Available;
};

export type EngineDependencies = SubmitterDependencies &
  PlanDependencies & {
    readonly database: Database;
    readonly tables: EngineTables;
    readonly setAside: Pick<SetAside, 'add' | 'has'>;
  };

export function createEngine(dependencies: EngineDependencies): Engine {
  const { database, tables, watch, setAside } = dependencies;
  const submitGroups = createSubmitter(dependencies);
  const leave = createLeave(dependencies, submitGroups);

  async function tryTogether(
    seeds: readonly Settlement[],
    grown: readonly NamedBalance[] = [],
  ): Promise<TryResult> {
    const tryable = seeds.filter(({ id }) => !setAside.has(id));
    let together = await gather(database, tryable, setAside);
    let settled = 0;
    for (let attempt = 1; ; attempt += 1) {
      const plan = await makePlan(dependencies, together, grown);
      const { groups, left, blocked, available } = plan;
      const done = await submitGroups(groups, (some) => settleCommand(some, tables));
      settled += done.length;
      if (done.length === groups.flat().length) {
        watch.remove(notNeeded(plan));
        const marked = (await leave.waiting(left, available)) + (await leave.blocked(blocked));
        return { settled, marked, isComplete: tryable.length === seeds.length, available };
      }
      if (attempt === LIMITS.settlementPlansMax) return { settled, marked: 0, isComplete: false, available };
      const ids = together.map(({ id }) => id);
      const open = await store.openSettlements(database, ids);
      together = open.filter(({ id }) => !setAside.has(id)).sort(byAge);
    }
  }

  async function tryThese(seeds: readonly Settlement[]): Promise<number> {
    if (seeds.length === 0) return 0;
    const { settled, marked } = await tryTogether(seeds);
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
      const result = await tryTogether(page, [{ ...grown, key }]);
      settled += result.settled;
      if (!result.isComplete) return settled;
      // After a debit in the meantime, they were tried with less than was seen before.
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
      return (await submitGroups(chunksOf(ended), (some) => expireCommand(some, tables))).length;
    },
  };
}

/** Handles transactions that a plan could not settle. Both functions return how many records changed. */
function createLeave({ database, tables }: EngineDependencies, submitGroups: SubmitGroups) {
  return {
    /** They lack funds. The first time, this is recorded, with the balances that they wait for. */
    async waiting(left: readonly Settlement[], available: Available): Promise<number> {
      const known = left.filter((one) => one.secondaryStatus !== null);
      await store.lowerWaits(database, waitsOf(known, available));
      const first = left.filter((one) => one.secondaryStatus === null);
      return (await submitGroups(chunksOf(first), (some) => awaitFundsCommand(some, available, tables)))
        .length;
    },
    /** A profile is disabled, so they are in no plan. The first time, this is recorded. */
    async blocked(blocked: readonly Settlement[]): Promise<number> {
      const first = blocked.filter((one) => one.secondaryStatus?.name !== AWAITING_PARTY.name);
      return (await submitGroups(chunksOf(first), (some) => awaitPartyCommand(some, tables))).length;
    },
  };
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  const size = LIMITS.settlementChunkMax;
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
