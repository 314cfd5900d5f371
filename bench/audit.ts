/**
 * `npm run bench:audit`: what one increment of the audit costs after 100,000 and after 1,000,000 stored transfers, and what
 * callers notice of it. Another number can be given: `npm run bench:audit -- 10000000`. With `--load` the second part, too.
 *
 * The history is made by the server: platform transfers between 2,000 profiles, with their entries and balances. Nothing of
 * it is durable. A checkpoint that the benchmark makes covers the history, because to audit 10 million transfers takes a
 * quarter of an hour. An increment audits 10,000 new transfers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCK_NS } from '../src/database/clock.ts';
import type { Database } from '../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded/server.ts';
import { migrate } from '../src/database/migrate.ts';
import {
  lastCheckpoint,
  type Progress,
  storeCheckpoint,
  type Total,
} from '../src/ledger/audit-checkpoints.ts';
import { auditIncrement } from '../src/ledger/audit-increments.ts';
import { createWritePath } from '../src/ledger/write-path.ts';
import { SHARED_TABLES } from '../src/tables.ts';
import { insideTransferCommand } from '../src/transfers/platform.ts';
import { openingBalance } from '../test/support/funding.ts';
import { connectUnlocked } from '../test/support/vault.ts';
import { serverCpuUs } from './cpu.ts';
import { integer, median } from './figures.ts';
import { assets, profileIds } from './profiles.ts';

const PROFILES = 1_000;
const FUNDS = 10n ** 12n;
const NEW = 10_000;
const ROUNDS = 7;
/** Transfers that one statement makes. */
const PIECE = 500_000;
const CALLERS = 64;
const LOAD_MS = 8_000;
const CUSTOMER = '00000000-0000-4000-8000-000000000001';
const profiles = profileIds(2 * PROFILES);

const uuid = (kind: string, n: string): string =>
  `('${kind}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const payer = `('${'0'.repeat(8)}-0000-0000-0000-' || lpad((1 + n % ${PROFILES})::text, 12, '0'))::uuid`;
const payee = `('${'0'.repeat(8)}-0000-0000-0000-' || lpad((1 + ${PROFILES} + n % ${PROFILES})::text, 12, '0'))::uuid`;

function createAuditedHistory(database: Database) {
  let made = 0;
  async function makeProfiles(): Promise<void> {
    const path = createWritePath({ database, assets, observer: { batch() {}, queue() {}, trouble() {} } });
    await database.query(
      `insert into profiles (id, customer_id, nickname, type, created_at_ns)
       select id, '${CUSTOMER}', id::text, 'NORMAL', 0 from unnest($1::uuid[]) as id`,
      [`{${profiles.join(',')}}`],
    );
    await Promise.all(profiles.slice(0, PROFILES).map((id) => path.submit(openingBalance(id, 'USD', FUNDS))));
    await path.stop();
  }
  /** Makes history, in pieces. */
  async function grow(count: number): Promise<void> {
    for (let left = count; left > 0; left -= PIECE) await add(Math.min(left, PIECE));
    await database.query('vacuum analyze transfers, entries, balances');
  }
  /** Transfers at 10 million a second, from now on. */
  async function add(count: number): Promise<void> {
    const connection = await database.reserve({ patient: true });
    await connection.query('set statement_timeout = 0');
    const [row] = await connection.query<{ now: bigint }>(`select ${CLOCK_NS} as now`);
    const at = `${row!.now}::bigint + (n - ${made}) * 100`;
    const numbers = `generate_series(${made}::bigint, ${made + count - 1}::bigint) n`;
    await connection.query(`
      insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                             balance_asset, balance_units, created_at_ns, updated_at_ns, group_id)
      select ${uuid('00000005', 'n * 16 + side')}, '${CUSTOMER}', case side when 1 then ${payer} else ${payee} end,
             'PLATFORM_TRANSFER_' || word, word, 'COMPLETED', 'USD', 1, 0, 'USD', 1, ${at}, ${at}, ${uuid('00000005', 'n * 16')}
      from ${numbers}, (values (1, 'DEBIT'), (2, 'CREDIT')) as s (side, word)`);
    await connection.query(`
      insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
      select case side when 1 then ${payer} else ${payee} end, 'USD', 'available', ${at}, 2 - side, 0,
             ${uuid('00000005', 'n * 16')}, case side when 1 then -1 else 1 end,
             case side when 1 then ${FUNDS} - n / ${PROFILES} - 1 else n / ${PROFILES} + 1 end
      from ${numbers}, (values (1), (2)) as s (side)`);
    await connection.query(`
      insert into balances as b (profile_id, asset, available, moved_at_ns)
      select distinct on (e.owner_id) e.owner_id, 'USD', e.balance_after, e.at_ns from entries e
      where e.at_ns >= ${row!.now} order by e.owner_id, e.at_ns desc
      on conflict (profile_id, asset) do update set available = excluded.available, moved_at_ns = excluded.moved_at_ns`);
    made += count;
    connection.discard();
    await sleep((count * 100) / 1_000_000 + 50);
  }
  return { makeProfiles, add, grow };
}

/** A checkpoint over everything that is stored. */
async function cover(database: Database): Promise<void> {
  const connection = await database.reserve({ patient: true });
  await connection.query('set statement_timeout = 0');
  const totals = await connection.query<Total>(
    'select account, asset, sum(delta)::text as units from entries group by account, asset',
  );
  const [row] = await connection.query<Omit<Progress, 'totals' | 'sweptTo'>>(
    `select max(at_ns) as "untilNs", count(*) as entries, max(ctid)::text as place,
            pg_relation_filenode('entries')::text as heap from entries`,
  );
  const { checkpoint } = await lastCheckpoint(connection);
  await storeCheckpoint(connection, { ...row!, totals, sweptTo: '' }, checkpoint, row!.untilNs);
  connection.discard();
}

/** Milliseconds of processor time of PostgreSQL, which do not depend on what else the machine does. */
async function increment(database: Database, { pid }: EmbeddedServer): Promise<number> {
  const startedUs = serverCpuUs(pid);
  const report = (await auditIncrement(database, assets, { lagMs: 0, wait: true }))!;
  const [first] = report.violations;
  if (first !== undefined) throw new Error(`${first.rule}: ${first.line}`);
  return (serverCpuUs(pid) - startedUs) / 1_000;
}

type Parts = { readonly database: Database; readonly server: EmbeddedServer };
type History = ReturnType<typeof createAuditedHistory>;

async function measureIncrements(
  { database, server }: Parts,
  history: History,
  stored: number,
): Promise<number> {
  await cover(database);
  await increment(database, server);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await history.add(NEW);
    times.push(await increment(database, server));
  }
  const ms = median(times);
  console.log(`| ${integer(stored)} | ${ms.toFixed(0)} | ${times.map((one) => one.toFixed(0)).join(', ')} |`);
  return ms;
}

/** Milliseconds of each transfer of so many callers at once. */
async function callFor(database: Database, ms: number): Promise<number[]> {
  const path = createWritePath({ database, assets, observer: { batch() {}, queue() {}, trouble() {} } });
  const caller = {
    customerId: CUSTOMER,
    clientId: 'bench',
    scopes: new Set<string>(),
    integration: 'FIRST_PARTY',
  } as const;
  const times: number[] = [];
  const end = performance.now() + ms;
  const pick = (): string => profiles[Math.floor(Math.random() * PROFILES)]!;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() < end) {
        const request = {
          from_profile_id: pick(),
          to_profile_id: profiles[PROFILES + Math.floor(Math.random() * PROFILES)]!,
          asset: 'USD',
          amount: '0.01',
        };
        const startedMs = performance.now();
        await path.submit(insideTransferCommand('PLATFORM', caller, request, { ...SHARED_TABLES, assets }));
        times.push(performance.now() - startedMs);
      }
    }),
  );
  await path.stop();
  return times.sort((a, b) => a - b);
}

async function measureLoad({ database, server }: Parts, auditing: Database): Promise<void> {
  console.log(`\n${CALLERS} callers for ${LOAD_MS / 1_000} s, transfers through the write path:\n`);
  console.log(
    '| | transfers per second | p50 ms | p99 ms | increments |\n| --- | ---: | ---: | ---: | ---: |',
  );
  await callFor(database, LOAD_MS / 4);
  for (const isAudited of [false, true, false, true, false, true]) {
    const done = new AbortController();
    let increments = 0;
    const audits = (async () => {
      if (!isAudited) return;
      while (!done.signal.aborted) {
        await auditIncrement(auditing, assets, { lagMs: 500, wait: true });
        increments += 1;
        await sleep(1_000);
      }
    })();
    const times = await callFor(database, LOAD_MS);
    done.abort();
    await audits;
    const at = (share: number): string => times[Math.floor(times.length * share)]!.toFixed(1);
    const rate = integer(times.length / (LOAD_MS / 1_000));
    console.log(
      `| ${isAudited ? 'with' : 'without'} the audit | ${rate} | ${at(0.5)} | ${at(0.99)} | ${increments} |`,
    );
    // What is left is audited before the next round.
    await increment(auditing, server);
  }
}

async function main(most: number, withLoad: boolean): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-bench-'));
  let server: EmbeddedServer | undefined;
  try {
    const settings = { fsync: 'off', full_page_writes: 'off', maintenance_work_mem: '512MB' };
    server = await startEmbedded({ dataDir: directory, log: () => undefined, settings });
    const { socketDir, port, user } = server;
    const connect = (): Database => connectUnlocked({ socketDir, port, user, database: 'postgres' });
    const [database, auditing] = [connect(), connect()];
    await migrate(database);
    const history = createAuditedHistory(database);
    await history.makeProfiles();
    console.log(`One increment of ${integer(NEW)} transfers, milliseconds of PostgreSQL's processor time:\n`);
    console.log('| stored transfers | increment | rounds |\n| ---: | ---: | --- |');
    const few = Math.min(100_000, most);
    await history.grow(few);
    const before = await measureIncrements({ database, server }, history, few);
    await history.grow(most - few - ROUNDS * NEW);
    const after = await measureIncrements({ database, server }, history, most);
    console.log(`\nRatio: ${(after / before).toFixed(2)}`);
    if (withLoad) await measureLoad({ database, server }, auditing);
    await Promise.all([database.close(), auditing.close()]);
  } finally {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2);
await main(Number(given.find((one) => /^\d+$/.test(one)) ?? 1_000_000), given.includes('--load'));
