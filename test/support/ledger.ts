import { plainArray, textArray } from '../../src/database/array.ts';
import type { Database, DatabaseAddress } from '../../src/database/database.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { type Check, ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import type {
  AccountRef,
  BalanceKey,
  Command,
  IdempotencyKey,
  Posting,
  Table,
} from '../../src/ledger/command.ts';
import { createWritePath, type WritePath, type WritePathObserver } from '../../src/ledger/write-path.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { connectUnlocked } from './vault.ts';

export const assets = createAssets(DEFAULT_ASSETS);

export const OUTSIDE: AccountRef = { account: 'clearing:test' };

export function available(profileId: string): AccountRef {
  return { profileId, account: 'available' };
}

export function held(profileId: string): AccountRef {
  return { profileId, account: 'held' };
}

/** A write path that records its batches and what went wrong. */
export function createTestWritePath(
  database: Database,
  known = assets,
  heard: WritePathObserver['trouble'] = () => undefined,
): WritePath & { troubles: string[]; batches: number[] } {
  const troubles: string[] = [];
  const batches: number[] = [];
  let hasPaused = false;
  const observer: WritePathObserver = {
    batch: (commands) => batches.push(commands),
    queue: () => undefined,
    trouble(what, error) {
      heard(what, error);
      // The machine paused for seconds between a decision and its commit, as it may in any test. Batches in flight then fail, too.
      hasPaused ||= /\bthe clock\b/.test(String(error));
      if (what !== 'stale-cache' || !hasPaused) troubles.push(what);
    },
  };
  return Object.assign(createWritePath({ database, assets: known, observer }), { troubles, batches });
}

/** A command with these postings, which answers with its cause. */
export function move(postings: readonly Posting[], key?: Partial<IdempotencyKey>): Command<string> {
  const causeId = newId();
  const balances: BalanceKey[] = postings.flatMap(({ asset, from, to }) =>
    [from, to].flatMap((ref) => ('profileId' in ref ? [{ profileId: ref.profileId, asset }] : [])),
  );
  return {
    actor: workerActor('test'),
    ...(key === undefined
      ? {}
      : {
          key: {
            customerId: newId(),
            space: 'test',
            refId: newId(),
            request: {},
            resourceId: causeId,
            ...key,
          },
        }),
    balances,
    decide: () => ({ accepted: true, causeId, postings, writes: [], answer: causeId }),
  };
}

/** The same command for the optimistic lane. */
export function optimistic(command: Command<string>): Command<string> {
  return { ...command, optimistic: true };
}

export function fund(profileId: string, asset: string, units: bigint): Command<string> {
  return move([{ asset, from: OUTSIDE, to: available(profileId), units }]);
}

export function pay(from: string, to: string, asset: string, units: bigint): Command<string> {
  return move([{ asset, from: available(from), to: available(to), units }]);
}

/** The problem with which the promise was rejected. Anything else fails the test. */
export async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const reason = await promise.then(
    (value) => new Error(`expected a refusal, got ${String(value)}`),
    (error: unknown) => error,
  );
  if (reason instanceof Problem) return reason;
  throw reason;
}

/** The same command under an idempotency key. */
export function withKey<Answer>(
  command: Command<Answer>,
  key: Partial<IdempotencyKey> & { customerId: string; refId: string },
): Command<Answer> {
  return { ...command, key: { space: 'test', request: {}, resourceId: newId(), ...key } };
}

/** One node of the service, with its own connections and write path. */
export type TestNode = {
  database: Database;
  path: ReturnType<typeof createTestWritePath>;
  stop(): Promise<void>;
};

export function startNode(
  address: DatabaseAddress,
  wrap: (database: Database) => Database = (database) => database,
): TestNode {
  const database = wrap(connectUnlocked(address));
  const path = createTestWritePath(database);
  return {
    database,
    path,
    async stop() {
      await path.stop();
      await database.close();
    },
  };
}

/** The violations that the audit finds, as text. Commands of tests of the ledger alone have no record as their cause. */
export async function auditLines(
  database: Database,
  checks: readonly Check[] = ENTRY_CHECKS,
): Promise<string[]> {
  const { violations } = await auditEverything(database, assets, checks);
  return violations.map(({ rule, line }) => `${rule}: ${line}`);
}

/** A withdrawal as the ledger sees it: units that are held while it is pending. */
export type TestHold = {
  id: string;
  profileId: string;
  asset: string;
  units: bigint;
  status: 'PENDING' | 'COMPLETED' | 'FAILED';
};

export const HOLDS = {
  name: 'holds of tests',
  async load(tx, ids) {
    const rows = await tx.query<TestHold>(
      `select id, profile_id as "profileId", balance_asset as asset, balance_units as units, status
       from transfers where id = any ($1::uuid[])`,
      [plainArray(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },
  write: (tx, rows) =>
    tx.query(
      `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                              balance_asset, balance_units, created_at_ns, updated_at_ns)
       select id, id, profile_id, 'TEST', 'DEBIT', status, asset, units, 0, asset, units, 0, 0
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::numeric[])
            as changed (id, profile_id, status, asset, units)
       on conflict (id) do update set status = excluded.status`,
      [
        plainArray(rows.map((row) => row.id)),
        plainArray(rows.map((row) => row.profileId)),
        textArray(rows.map((row) => row.status)),
        textArray(rows.map((row) => row.asset)),
        plainArray(rows.map((row) => row.units)),
      ],
    ),
} satisfies Table<TestHold>;
