/**
 * `npm run bench:ledger`: how many postings a second the write path commits, beside the same rows written with one
 * transaction each, on the same PostgreSQL, in the same run.
 *
 * Fairness:
 * - One embedded server with its ordinary settings and full durability; it is asked, and the run refused otherwise.
 * - Each side has its own database on it, both copied from one template: the same definitions, indexes, profiles and
 *   funds. So neither vacuums, bloats or blocks the other's tables, and each is audited by itself afterwards.
 * - The other side is pgbench with prepared statements (see naive.sql for what was done for its speed), with as many
 *   threads as there are cores and the number of clients that suits it best, chosen anew for each workload. It
 *   needs no JavaScript: what it lacks is only that postings share commits and statements.
 * - Measurements alternate in rounds, the order turning round each time; medians count. The first second of each is
 *   left out, on both sides.
 */
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDatabase, type Database } from '../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { audit } from '../src/ledger/audit.ts';
import { assets, createCallers, fundAll } from './callers.ts';
import { othersCpuUs } from './cpu.ts';
import {
  type Figures,
  formatTable,
  HOT,
  integer,
  MEASURED_SECONDS,
  median,
  medians,
  PROFILES,
  ROUNDS,
  SPREAD,
  WARM_UP_SECONDS,
  type Workload,
} from './figures.ts';
import { findPgbench, runPgbench } from './pgbench.ts';

const CALLERS_MANY = 256;
const CLIENTS_MANY = [8, 16, 32, 64];
const SPEEDUP_MIN = 3;
const HOT_SHARE_MIN = 0.9;
/** Of all cores. Above it the figures say more about the neighbours: pgbench's many processes get many shares. */
const OTHERS_SHARE_MAX = 0.1;

type Variant = {
  readonly side: 'write path' | 'pgbench';
  readonly workload: Workload;
  /** Callers or clients at once. */
  readonly concurrency: number;
  readonly rounds: Figures[];
};

function variantsOf(): Variant[] {
  // Spread and one account stand next to each other: they are compared with each other.
  const variants: Variant[] = [];
  const add = (side: Variant['side'], concurrency: number): void => {
    for (const workload of [SPREAD, HOT]) variants.push({ side, workload, concurrency, rounds: [] });
  };
  add('write path', CALLERS_MANY);
  for (const clients of CLIENTS_MANY) add('pgbench', clients);
  add('write path', 1);
  add('pgbench', 1);
  return variants;
}

/** A sync costs nothing in memory, and a comparison of commits nothing either: then the other usual place. */
async function scratchDirectory(): Promise<string> {
  const TMPFS = 0x01021994;
  const inMemory = (await statfs(tmpdir())).type === TMPFS;
  return mkdtemp(join(inMemory ? '/var/tmp' : tmpdir(), 'ferry-bench-'));
}

async function syncMs(directory: string): Promise<number> {
  const file = await open(join(directory, 'sync-probe'), 'w');
  const page = Buffer.alloc(8192);
  const times: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const started = performance.now();
    await file.write(page, 0, page.length, 0);
    await file.datasync();
    times.push(performance.now() - started);
  }
  await file.close();
  return median(times);
}

async function requireDurability(database: Database): Promise<void> {
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const [row] = await database.query<Record<string, string>>(`show ${setting}`);
    if (row?.[setting] !== 'on')
      throw new Error(`${setting} is ${row?.[setting]}: only durable commits count.`);
  }
}

type Sides = { readonly ferry: Database; readonly naive: Database };

async function prepare(server: EmbeddedServer): Promise<Sides> {
  const connect = (database: string, connectionsMax?: number): Database =>
    connectDatabase(
      { socketDir: server.socketDir, port: server.port, user: server.user, database },
      connectionsMax,
    );
  const administration = connect('postgres', 1);
  await administration.query('create database bench_template');
  const template = connect('bench_template');
  await migrate(template);
  const { writePath } = createCallers(template, server.pid);
  await fundAll(writePath);
  await writePath.stop();
  await template.query('vacuum analyze');
  await template.close();
  for (const name of ['bench_ferry', 'bench_naive'])
    await administration.query(`create database ${name} template bench_template`);
  await administration.query('checkpoint');
  await administration.close();
  return { ferry: connect('bench_ferry'), naive: connect('bench_naive', 1) };
}

/** Both ledgers must be clean, and hold exactly what each side says that it wrote. */
async function verify(database: Database, name: string, postings: number): Promise<void> {
  const report = await audit(database, assets);
  for (const { line } of report.violations) console.error(`${name}: ${line}`);
  if (report.violations.length > 0) throw new Error(`the audit of ${name} found violations`);
  const expected = BigInt(2 * (PROFILES + postings));
  if (report.entryCount !== expected)
    throw new Error(`${name} has ${report.entryCount} entries, ${expected} were written`);
  console.log(`Audit of ${name}: clean, ${integer(Number(report.entryCount))} entries.`);
}

async function measure(server: EmbeddedServer, sides: Sides, program: string): Promise<Variant[]> {
  const variants = variantsOf();
  const callers = createCallers(sides.ferry, server.pid);
  const target = {
    program,
    socketDir: server.socketDir,
    port: server.port,
    user: server.user,
    database: 'bench_naive',
    postmasterPid: server.pid,
    threads: availableParallelism(),
  };
  const totals = { 'write path': 0, pgbench: 0 };
  const runOne = async ({ side, workload, concurrency }: Variant, label: string): Promise<Figures> => {
    const figures = await (side === 'write path'
      ? callers.run(workload, concurrency)
      : runPgbench(target, workload, concurrency));
    totals[side] += figures.total;
    const who = side === 'write path' ? 'callers' : 'clients';
    console.log(
      `${label}: ${side}, ${workload.name}, ${concurrency} ${who}: ${integer(figures.perSecond)} postings/s`,
    );
    return figures;
  };

  for (const variant of variants.slice(0, 4)) await runOne(variant, 'warm-up');
  for (let round = 1; round <= ROUNDS; round += 1) {
    const order = round % 2 === 1 ? variants : variants.toReversed();
    for (const variant of order) variant.rounds.push(await runOne(variant, `round ${round}/${ROUNDS}`));
  }
  await callers.writePath.stop();
  console.log('');
  await verify(sides.ferry, 'the write path', totals['write path']);
  await verify(sides.naive, 'pgbench', totals.pgbench);
  return variants;
}

type Pair = {
  readonly ferry: Figures;
  readonly naive: Figures;
  readonly clients: number;
  readonly ratio: number;
};

/** The write path's medians beside those of the number of clients that was best for pgbench. */
function pairOf(variants: readonly Variant[], workload: Workload, callers: number): Pair {
  const ofWorkload = variants.filter((variant) => variant.workload === workload);
  const ferry = ofWorkload.find(({ side, concurrency }) => side === 'write path' && concurrency === callers)!;
  const [best] = ofWorkload
    .filter(({ side, concurrency }) => side === 'pgbench' && (callers === 1) === (concurrency === 1))
    .map(({ concurrency, rounds }) => ({ concurrency, figures: medians(rounds) }))
    .toSorted((a, b) => b.figures.perSecond - a.figures.perSecond);
  const ferryFigures = medians(ferry.rounds);
  return {
    ferry: ferryFigures,
    naive: best!.figures,
    clients: best!.concurrency,
    ratio: ferryFigures.perSecond / best!.figures.perSecond,
  };
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function printTable(pairs: readonly { workload: Workload; callers: number; pair: Pair }[]): void {
  const rows = [['', '', 'postings/s', 'ratio', 'batch', 'client CPU µs', 'PostgreSQL CPU µs']];
  for (const { workload, callers, pair } of pairs) {
    const row = (title: string, who: string, figures: Figures, ratio: string): string[] => [
      title,
      who,
      integer(figures.perSecond),
      ratio,
      figures.batchSize.toFixed(figures.batchSize < 10 ? 1 : 0),
      integer(figures.clientCpuUs),
      integer(figures.serverCpuUs),
    ];
    const title = `${plural(callers, 'caller')}, ${workload.name}`;
    rows.push(row(title, 'write path', pair.ferry, pair.ratio.toFixed(2)));
    rows.push(row('', `pgbench, ${plural(pair.clients, 'client')}`, pair.naive, '1'));
  }
  console.log(`\n${formatTable(rows)}\n`);
}

/** A machine that is busy with something else favours whoever has more processes, so it has to be said. */
function reportOthers(othersUs: number, ms: number): void {
  const share = othersUs / (ms * 1000 * availableParallelism());
  if (!(share > OTHERS_SHARE_MAX)) return;
  console.log(
    `\nOther processes took ${Math.round(share * 100)}% of the machine during the run: do not trust these figures, ` +
      'except for the CPU time per posting, and that only roughly.',
  );
}

/** Says what came out; true when both targets hold. */
function judge(variants: readonly Variant[]): boolean {
  const pairs = [1, CALLERS_MANY].flatMap((callers) =>
    [SPREAD, HOT].map((workload) => ({ workload, callers, pair: pairOf(variants, workload, callers) })),
  );
  printTable(pairs);
  const many = (workload: Workload): Pair =>
    pairs.find((one) => one.callers === CALLERS_MANY && one.workload === workload)!.pair;
  const naiveBest = Math.max(...pairs.map(({ pair }) => pair.naive.perSecond));
  const speedup = many(SPREAD).ferry.perSecond / naiveBest;
  const hotShare = many(HOT).ferry.perSecond / many(SPREAD).ferry.perSecond;
  const fast = speedup >= SPEEDUP_MIN;
  const steady = hotShare >= HOT_SHARE_MIN;
  console.log(
    `${fast && steady ? 'Both targets hold' : 'Target missed'}: ` +
      `${CALLERS_MANY} callers are ${speedup.toFixed(2)} times as fast as the best of pgbench ` +
      `(${fast ? 'ok' : 'MISSED'}, at least ${SPEEDUP_MIN}), and one account reaches ` +
      `${Math.round(hotShare * 100)}% of the spread figure (${steady ? 'ok' : 'MISSED'}, at least ${HOT_SHARE_MIN * 100}%).`,
  );
  return fast && steady;
}

async function main(program: string): Promise<boolean> {
  const directory = await scratchDirectory();
  let server: EmbeddedServer | undefined;
  const cleanUp = async (): Promise<void> => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  // The server is a process of its own and would outlive an interrupted run.
  const interrupted = (): void => {
    // What the measurement says when its server goes away is of no interest any more.
    process.on('uncaughtException', () => undefined);
    void cleanUp().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    console.log(
      `About ${Math.ceil(((4 + 14 * ROUNDS) * (WARM_UP_SECONDS + MEASURED_SECONDS) + 15) / 60)} minutes.`,
    );
    server = await startEmbedded({ dataDir: directory, log: () => undefined });
    const sides = await prepare(server);
    await requireDurability(sides.ferry);
    await requireDurability(sides.naive);
    const [version] = await sides.ferry.query<{ server_version: string }>('show server_version');
    console.log(
      `PostgreSQL ${version!.server_version}, fsync and synchronous_commit on; ${availableParallelism()} cores; ` +
        `a synced write takes ${(await syncMs(directory)).toFixed(2)} ms; ${integer(PROFILES)} profiles.`,
    );
    const [startedMs, othersUs] = [performance.now(), othersCpuUs(server.pid)];
    const variants = await measure(server, sides, program);
    reportOthers(othersCpuUs(server.pid) - othersUs, performance.now() - startedMs);
    await sides.ferry.close();
    await sides.naive.close();
    return judge(variants);
  } finally {
    await cleanUp();
  }
}

const program = findPgbench();
if (program === undefined) {
  console.error(
    'pgbench is needed for the comparison: install it with `apt-get install postgresql` (or put it on the PATH).',
  );
  process.exitCode = 1;
} else {
  process.exitCode = (await main(program)) ? 0 : 1;
}
