// What else the service does, one operation after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { sandboxOf } from '../../test/support/process.ts';
import { integer } from '../figures.ts';
import { TIMES } from './comparison.ts';
import type { RequestPlan } from './job.ts';
import type { Load, Measurement } from './measure.ts';
import {
  balancesPlan,
  cryptoWithdrawalPlan,
  fiatWithdrawalPlan,
  listOfProfilePlan,
  listPlan,
  settlementPlan,
  transferByIdPlan,
} from './plans.ts';
import { COUNTERPARTY_IDS, PROFILE_IDS, type Service, type Stage } from './stage.ts';

const CONNECTIONS = 64;
const IDS_READ = 5_000;
const PAGES_READ = 20;
const SETTLED_MS_MAX = 30_000;

export type Operation = {
  readonly name: string;
  readonly connections: number;
  readonly measured: Measurement;
};

export type Operations = {
  readonly all: readonly Operation[];
  /** From the first to the last one that settled. */
  readonly settledPerSecond: number;
};

/** Ids from all over the table, not only the newest; of a large table without reading all of it. */
async function transferIds(stage: Stage, database: Database): Promise<string[]> {
  const customerId = sandboxOf(stage.directory).customers[0]!.customer_id;
  const rows = await database.query<{ id: string }>(
    `select id from transfers
       tablesample system (least(100, 10000000 / (select greatest(reltuples, 1) from pg_class where relname = 'transfers')))
     where customer_id = $1 order by random() limit $2`,
    [customerId, IDS_READ],
  );
  return rows.map((row) => row.id);
}

async function pageCursors({ url, token }: Service): Promise<string[]> {
  const cursors: string[] = [];
  while (cursors.length < PAGES_READ) {
    const cursor = cursors.length === 0 ? '' : `&page_cursor=${cursors.at(-1)}`;
    const response = await fetch(`${url}/v2/transfer/transfers?limit=100${cursor}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { next_page_cursor: next } = (await response.json()) as { next_page_cursor?: string };
    if (next === undefined) break;
    cursors.push(next);
  }
  return cursors;
}

async function runOne(load: Load, service: Service, name: string, plan: RequestPlan): Promise<Operation> {
  const measured = await load.run(service, { plan, connections: CONNECTIONS, ...TIMES });
  console.log(`${name}, ${CONNECTIONS} connections: ${integer(measured.perSecond)} a second`);
  return { name, connections: CONNECTIONS, measured };
}

export async function measureReads(
  stage: Stage,
  database: Database,
  service: Service,
  load: Load,
): Promise<Operation[]> {
  const { token } = service;
  const run = (name: string, plan: RequestPlan) => runOne(load, service, name, plan);
  return [
    await run('transfer by id', transferByIdPlan(await transferIds(stage, database), token)),
    await run('balances of a profile', balancesPlan(PROFILE_IDS, token)),
    await run('page of 100 transfers', listPlan(await pageCursors(service), token)),
    await run("page of a profile's 100 transfers", listOfProfilePlan(PROFILE_IDS, token)),
  ];
}

/** Waits for the engine, and says how many it settled in a second. */
async function settledPerSecond(database: Database): Promise<number> {
  const deadline = performance.now() + SETTLED_MS_MAX;
  for (;;) {
    const [row] = await database.query<{ settled: number; others: number; seconds: number }>(
      `select (count(*) filter (where status = 'SETTLED'))::integer as settled,
              (count(*) filter (where status <> 'SETTLED'))::integer as others,
              ((max(updated_at_ns) - min(updated_at_ns)) / 1e9)::float8 as seconds
       from settlement_transactions`,
    );
    if (row!.others === 0) return row!.settled / row!.seconds;
    if (performance.now() > deadline) throw new Error(`${row!.others} transactions do not settle`);
    await sleep(250);
  }
}

export async function measureOperations(
  stage: Stage,
  database: Database,
  service: Service,
  load: Load,
): Promise<Operations> {
  const { token, counterpartyToken: targetToken } = service;
  const fiatAccountId = sandboxOf(stage.directory).customers[0]!.fiat_account_id;
  const run = (name: string, plan: RequestPlan) => runOne(load, service, name, plan);
  const reads = await measureReads(stage, database, service, load);
  const parties = { sources: PROFILE_IDS, targets: COUNTERPARTY_IDS, token, targetToken };
  const settlement = await run('settlement created and affirmed', settlementPlan(parties));
  const settled = await settledPerSecond(database);
  console.log(`settlements settled: ${integer(settled)} a second`);
  // Last, because the workers that pay them out go on working afterwards.
  const fiat = await run('fiat withdrawal created', fiatWithdrawalPlan(PROFILE_IDS, fiatAccountId, token));
  const crypto = await run('crypto withdrawal created', cryptoWithdrawalPlan(PROFILE_IDS, token));
  return { all: [fiat, crypto, settlement, ...reads], settledPerSecond: settled };
}
