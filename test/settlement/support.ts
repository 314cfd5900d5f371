import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { untilRunningEnded } from '../../src/cli/running-store.ts';
import { setProfile } from '../../src/cli/statuses.ts';
import { connectDatabase, type Database, type DatabaseAddress } from '../../src/database/database.ts';
import { createServerClock } from '../../src/database/server-clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import { createWritePath, type WritePath } from '../../src/ledger/write-path.ts';
import { disabledProfiles, heldProfiles, profileTable } from '../../src/profiles/store.ts';
import { createSettlementCommand, moveSettlementCommand } from '../../src/settlement/commands.ts';
import { waitTable } from '../../src/settlement/engine-store.ts';
import { explained } from '../../src/settlement/explain.ts';
import { presentSettlement } from '../../src/settlement/present.ts';
import { findSettlement, newSettlements, settlements } from '../../src/settlement/store.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import { createSettlementWorker, type SettlementWorker } from '../../src/settlement/worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventsOf } from '../support/events.ts';
import { assets, auditLines, fund } from '../support/ledger.ts';
import { rightNow } from '../support/wall-clock.ts';

const tables = { assets, profiles: profileTable, newSettlements, settlements };
export const engineTables = { assets, profiles: profileTable, heldProfiles, settlements, waits: waitTable };

/** One node as the service assembles it, without HTTP: a pool, a write path, and the engine that it wakes. */
export type Node = {
  readonly database: Database;
  readonly path: WritePath;
  readonly worker: SettlementWorker;
  readonly troubles: string[];
  readonly failures: string[];
  stop(): Promise<void>;
};

/** With `deaf` the engine never starts: affirmations and credits of this node wake nobody, as if it died after them. */
export function startNode(address: DatabaseAddress, clock: Clock, { deaf = false } = {}): Node {
  const database = connectDatabase(address);
  const troubles: string[] = [];
  const failures: string[] = [];
  let worker: SettlementWorker | undefined;
  const path = createWritePath({
    database,
    assets,
    observer: {
      batch: () => undefined,
      queue: () => undefined,
      committed: (changed) => worker?.changed(changed),
      trouble: (what) => troubles.push(what),
    },
  });
  worker = createSettlementWorker({
    database,
    writePath: path,
    tables: engineTables,
    disabledProfiles,
    clock,
    failed: (error, what) => failures.push(`${what}: ${String(error)}`),
  });
  if (!deaf) worker.start();
  return {
    database,
    path,
    worker,
    troubles,
    failures,
    async stop() {
      await worker.stop();
      await path.stop();
      await database.close();
    },
  };
}

/** A leg as `deliver 10 USD` or `receive 0.5 BTC`. */
export type LegText = `${'deliver' | 'receive'} ${string} ${string}`;
export type Window = { startMs?: number; endMs?: number };

export type World = {
  readonly address: DatabaseAddress;
  readonly database: Database;
  readonly node: Node;
  addNode(options?: { deaf?: boolean }): Node;
  /** A profile of a customer of its own, with what it has in units: `{ USD: 100n }`. */
  profile(balances?: Record<string, bigint>): Promise<string>;
  propose(source: string, target: string, legs: readonly LegText[], window?: Window): Promise<Settlement>;
  affirm(settlement: Settlement, on?: Node): Promise<Settlement>;
  cancel(settlement: Settlement, on?: Node): Promise<Settlement>;
  /** Proposed and affirmed. */
  agree(source: string, target: string, legs: readonly LegText[], window?: Window): Promise<Settlement>;
  fund(profileId: string, asset: string, units: bigint, on?: Node): Promise<void>;
  available(profileId: string, asset: string): Promise<bigint>;
  /** As the command line does it, in force when it resolves. */
  setProfile(profileId: string, status: 'enabled' | 'disabled'): Promise<void>;
  statuses(many: readonly { id: string }[]): Promise<string[]>;
  /** As a party reads it now. */
  secondary(settlement: Settlement): Promise<{ name: string; detail: string } | undefined>;
  eventsOf(settlement: { id: string }): Promise<string[]>;
  /** Waits until each has its status, and says how long that took; fails after a while. */
  until(status: string, many: readonly { id: string }[], withinMs?: number): Promise<number>;
  /** Waits until the engine has nothing left to do. */
  quiet(withinMs?: number): Promise<void>;
  /** Ends with a clean audit, no trouble in any write path, and no deadlock. */
  end(): Promise<void>;
};

export async function createWorld(): Promise<World> {
  const test = await createTestDatabase();
  const { database, address } = test;
  const customers = new Map<string, string>();
  const clock = await createServerClock(database, () => undefined);
  const node = startNode(address, clock);
  const nodes = [node];
  const callerOf = (profileId: string): Caller => ({
    customerId: customers.get(profileId)!,
    clientId: 'test',
    scopes: new Set(),
    integration: 'FIRST_PARTY',
  });

  async function until(
    condition: () => Promise<boolean>,
    withinMs: number,
    what: () => string,
  ): Promise<number> {
    const started = performance.now();
    while (!(await condition())) {
      if (performance.now() - started > withinMs) throw new Error(`not within ${withinMs} ms: ${what()}`);
      await sleep(2);
    }
    return performance.now() - started;
  }

  const world: World = {
    address,
    database,
    node,
    addNode(options) {
      const added = startNode(address, clock, options);
      nodes.push(added);
      return added;
    },
    async profile(balances = {}) {
      const id = newId();
      customers.set(id, newId());
      await database.query(
        `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $2, 'one', 'NORMAL', 0)`,
        [id, customers.get(id)!],
      );
      for (const [asset, units] of Object.entries(balances)) {
        if (units > 0n) await node.path.submit(fund(id, asset, units));
      }
      return id;
    },
    async propose(source, target, legs, { startMs, endMs } = {}) {
      const at = (ms: number | undefined, name: string) =>
        ms === undefined ? {} : { [name]: new Date(rightNow() + ms).toISOString() };
      const request = {
        source_profile_id: source,
        target_profile_id: target,
        legs: legs.map((leg) => {
          const [direction, amount, asset] = leg.split(' ') as [string, string, string];
          return { direction: direction.toUpperCase() as 'DELIVER' | 'RECEIVE', amount, asset };
        }),
        ...at(startMs, 'settlement_window_start'),
        ...at(endMs, 'settlement_window_end'),
      };
      const outcome = await node.path.submit(createSettlementCommand(callerOf(source), request, tables));
      return (outcome as { answer: Settlement }).answer;
    },
    async affirm(settlement, on = node) {
      const caller = callerOf(settlement.targetProfileId);
      const outcome = await on.path.submit(moveSettlementCommand(caller, 'affirm', settlement, tables));
      const { answer } = outcome as { answer: Settlement };
      on.worker.affirmed(answer);
      return answer;
    },
    async cancel(settlement, on = node) {
      const caller = callerOf(settlement.sourceProfileId);
      const outcome = await on.path.submit(moveSettlementCommand(caller, 'cancel', settlement, tables));
      return (outcome as { answer: Settlement }).answer;
    },
    async agree(source, target, legs, window) {
      return world.affirm(await world.propose(source, target, legs, window));
    },
    async fund(profileId, asset, units, on = node) {
      await on.path.submit(fund(profileId, asset, units));
    },
    async available(profileId, asset) {
      const rows = await balancesOf(database, profileId);
      return rows.find((row) => row.asset === asset)?.available ?? 0n;
    },
    async setProfile(profileId, status) {
      expect(await setProfile(database, profileId, status === 'enabled')).toBe(true);
      expect(await untilRunningEnded(database)).toBe(true);
    },
    async statuses(many) {
      const rows = await database.query<{ id: string; status: string }>(
        'select id, status from settlement_transactions',
      );
      const byId = new Map(rows.map((row) => [row.id, row.status]));
      return many.map(({ id }) => byId.get(id)!);
    },
    async secondary({ id, customerId }) {
      const found = await findSettlement(database, customerId, id);
      const [now] = await explained(database, assets, disabledProfiles, [found!]);
      return presentSettlement(now!, assets).secondary_status;
    },
    async eventsOf({ id }) {
      return (await eventsOf(database, id)).map((row) => row.type.replace('settlement.transaction.', ''));
    },
    until: (status, many, withinMs = 5_000) => {
      let seen: string[] = [];
      const condition = async (): Promise<boolean> => {
        seen = await world.statuses(many);
        return seen.every((one) => one === status);
      };
      return until(condition, withinMs, () => `${status}, but ${seen.join(', ')}`);
    },
    async quiet(withinMs = 10_000) {
      const condition = async (): Promise<boolean> => {
        const now = BigInt(rightNow()) * NS_PER_MS;
        const [row] = await database.query<{ open: bigint }>(
          `select (select count(*) from settlement_transactions where status = 'AFFIRMED' and secondary_status is null
                     and window_start_ns <= $1 and window_end_ns > $1)
                + (select count(*) from settlement_transactions where status in ('PENDING', 'AFFIRMED')
                     and window_end_ns <= $1)
                + (select count(*) from settlement_grown) as open`,
          [now],
        );
        return row!.open === 0n;
      };
      await until(condition, withinMs, () => 'the engine is quiet');
    },
    async end() {
      for (const one of nodes) await one.stop();
      expect(await auditLines(database)).toEqual([]);
      const [row] = await database.query<{ deadlocks: bigint }>(
        'select deadlocks from pg_stat_database where datname = current_database()',
      );
      expect(row!.deadlocks).toBe(0n);
      expect(nodes.flatMap((one) => one.troubles)).toEqual([]);
      await test.drop();
    },
  };
  return world;
}
