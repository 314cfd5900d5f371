import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { setProfile } from '../../src/cli/statuses.ts';
import { ADVISORY_LOCKS } from '../../src/database/advisory-locks.ts';
import { CLOCK_NS } from '../../src/database/clock.ts';
import type { Database, DatabaseAddress } from '../../src/database/database.ts';
import { untilRunningEnded } from '../../src/database/running.ts';
import { createServerClock } from '../../src/database/server-clock.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import type { Caller } from '../../src/kernel/route.ts';
import { createSignal } from '../../src/kernel/signal.ts';
import { ALL_CHECKS } from '../../src/ledger/audit.ts';
import type { Check } from '../../src/ledger/audit-checks.ts';
import { balancesOf } from '../../src/ledger/balances.ts';
import type { BalanceKey } from '../../src/ledger/command.ts';
import { createWritePath, type WritePath } from '../../src/ledger/write-path.ts';
import { disabledProfiles, heldProfiles, profileTable } from '../../src/profiles/store.ts';
import { createSettlement } from '../../src/settlement/capability.ts';
import { createSettlementCommand, moveSettlementCommand } from '../../src/settlement/commands.ts';
import { waitTable } from '../../src/settlement/engine-store.ts';
import { explained } from '../../src/settlement/explain.ts';
import { presentSettlement } from '../../src/settlement/present.ts';
import { findSettlement, newSettlements, settlements } from '../../src/settlement/store.ts';
import type { Settlement } from '../../src/settlement/transaction.ts';
import type { SettlementWorker } from '../../src/settlement/worker.ts';
import { SHARED_TABLES } from '../../src/tables.ts';
import { createTestDatabase } from '../support/database.ts';
import { eventsOf } from '../support/events.ts';
import { openingBalance } from '../support/funding.ts';
import { assets, auditLines } from '../support/ledger.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { connectUnlocked } from '../support/vault.ts';
import { rightNow } from '../support/wall-clock.ts';

const tables = { assets, profiles: profileTable, newSettlements, settlements };
export const engineTables = {
  assets,
  profiles: profileTable,
  heldProfiles,
  heldFreezes: SHARED_TABLES.heldFreezes,
  settlements,
  waits: waitTable,
};

/** One node as the service assembles it, without HTTP: a pool, a write path, and the settlement worker that it wakes. */
export type Node = {
  readonly database: Database;
  readonly path: WritePath;
  readonly worker: SettlementWorker;
  readonly troubles: string[];
  readonly failures: string[];
  stop(): Promise<void>;
};

/** With `deaf` the worker never starts: affirmations and credits on this node wake nothing, as if it died right after them. */
export function startNode(address: DatabaseAddress, clock: Clock, { deaf = false } = {}): Node {
  const database = connectUnlocked(address);
  const troubles: string[] = [];
  const failures: string[] = [];
  const committed = createSignal<readonly BalanceKey[]>();
  const path = createWritePath({
    database,
    assets,
    observer: {
      batch: () => undefined,
      queue: () => undefined,
      committed: committed.send,
      trouble: (what) => troubles.push(what),
    },
  });
  const { engine: worker } = createSettlement({
    ...SHARED_TABLES,
    database,
    writePath: path,
    assets,
    disabledProfiles,
    clock,
    committed,
    log: {
      warn: ({ err }: { err?: unknown }, what?: string) => void failures.push(`${what}: ${String(err)}`),
    },
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
/** Relative to now. Without a start the window is open, without an end it ends in a day. */
export type Window = { startMs?: number; endMs?: number };

export type World = {
  readonly address: DatabaseAddress;
  readonly database: Database;
  readonly node: Node;
  addNode(options?: { deaf?: boolean }): Node;
  /** A profile of a new customer, with its balances in units: `{ USD: 100n }`. */
  profile(balances?: Record<string, bigint>): Promise<string>;
  propose(source: string, target: string, legs: readonly LegText[], window?: Window): Promise<Settlement>;
  affirm(settlement: Settlement, on?: Node): Promise<Settlement>;
  cancel(settlement: Settlement, on?: Node): Promise<Settlement>;
  /** Sets the window of an existing transaction, so that no request has to arrive before its end. */
  moveWindow(settlement: Settlement, window: Window): Promise<Settlement>;
  /** Proposed and affirmed; an end is set afterwards, so that the affirmation is in time on any machine. */
  agree(source: string, target: string, legs: readonly LegText[], window?: Window): Promise<Settlement>;
  fund(profileId: string, asset: string, units: bigint, on?: Node): Promise<void>;
  available(profileId: string, asset: string): Promise<bigint>;
  /** As the command line does it; in force when it resolves. */
  setProfile(profileId: string, status: 'enabled' | 'disabled'): Promise<void>;
  statuses(many: readonly { id: string }[]): Promise<string[]>;
  /** As a party sees it now. */
  /** As the customer of the source reads it, or another one. */
  secondary(settlement: Settlement, viewer?: string): Promise<{ name: string; detail: string } | undefined>;
  eventsOf(settlement: { id: string }): Promise<string[]>;
  /** Waits until each has its status. */
  until(status: string, many: readonly { id: string }[]): Promise<void>;
  /** Waits until the engine has nothing left to do. */
  quiet(): Promise<void>;
  /** Stops all nodes, and checks: a clean audit, no trouble in any write path, and no deadlock. */
  end(checks?: readonly Check[]): Promise<void>;
};

/** With `leaderless` no node can lead, so nothing is found by polling: only wake-ups make transactions settle. */
export async function createWorld({ leaderless = false } = {}): Promise<World> {
  const test = await createTestDatabase();
  const { database, address } = test;
  const lead = leaderless ? await database.reserve() : undefined;
  await lead?.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.settlementLead]);
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

  async function until(condition: () => Promise<boolean>, what: () => string): Promise<void> {
    const started = performance.now();
    while (!(await condition())) {
      if (performance.now() - started > PATIENCE_MS)
        throw new Error(`not within ${PATIENCE_MS} ms: ${what()}`);
      await sleep(2);
    }
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
        if (units > 0n) await node.path.submit(openingBalance(id, asset, units));
      }
      return id;
    },
    async propose(source, target, legs, { startMs, endMs } = {}) {
      const start =
        startMs === undefined
          ? {}
          : { settlement_window_start: new Date(rightNow() + startMs).toISOString() };
      const request = {
        source_profile_id: source,
        target_profile_id: target,
        legs: legs.map((leg) => {
          const [direction, amount, asset] = leg.split(' ') as [string, string, string];
          return { direction: direction.toUpperCase() as 'DELIVER' | 'RECEIVE', amount, asset };
        }),
        ...start,
      };
      const outcome = await node.path.submit(createSettlementCommand(callerOf(source), request, tables));
      const { answer } = outcome as { answer: Settlement };
      return endMs === undefined ? answer : world.moveWindow(answer, { endMs });
    },
    async moveWindow(settlement, { startMs, endMs }) {
      const [row] = await database.query<Pick<Settlement, 'windowStartNs' | 'windowEndNs'>>(
        `update settlement_transactions
         set window_start_ns = coalesce(${CLOCK_NS} + $2::bigint * 1000000, window_start_ns),
             window_end_ns = coalesce(${CLOCK_NS} + $3::bigint * 1000000, window_end_ns)
         where id = $1 returning window_start_ns as "windowStartNs", window_end_ns as "windowEndNs"`,
        [settlement.id, startMs ?? null, endMs ?? null],
      );
      return { ...settlement, ...row! };
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
    async agree(source, target, legs, { endMs, ...window } = {}) {
      const affirmed = await world.affirm(await world.propose(source, target, legs, window));
      return endMs === undefined ? affirmed : world.moveWindow(affirmed, { endMs });
    },
    async fund(profileId, asset, units, on = node) {
      await on.path.submit(openingBalance(profileId, asset, units));
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
    async secondary({ id, customerId }, viewer = customerId) {
      const found = await findSettlement(database, viewer, id);
      const [now] = await explained(database, assets, disabledProfiles, [found!], viewer);
      return presentSettlement(now!, assets).secondary_status;
    },
    async eventsOf({ id }) {
      return (await eventsOf(database, id)).map((row) => row.type.replace('settlement.transaction.', ''));
    },
    until: (status, many) => {
      let seen: string[] = [];
      const condition = async (): Promise<boolean> => {
        seen = await world.statuses(many);
        return seen.every((one) => one === status);
      };
      return until(condition, () => `${status}, but ${seen.join(', ')}`);
    },
    async quiet() {
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
      await until(condition, () => 'the engine is quiet');
    },
    async end(checks = ALL_CHECKS) {
      for (const one of nodes) await one.stop();
      await lead?.query('select pg_advisory_unlock($1)', [ADVISORY_LOCKS.settlementLead]);
      lead?.release();
      expect(await auditLines(database, checks)).toEqual([]);
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
