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
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { connectDatabase, connectWritePath, type Database } from '../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded/server.ts';
import { migrate } from '../src/database/migrate.ts';
import { auditEverything } from '../src/ledger/audit.ts';
import { ENTRY_CHECKS } from '../src/ledger/audit-checks.ts';
import { unlocked } from '../test/support/vault.ts';
import { createCallers } from './callers.ts';
import {
  type Figures,
  formatTable,
  HOT,
  integer,
  MEASURED_SECONDS,
  medians,
  PROFILES,
  ROUNDS,
  SPREAD,
  WARM_UP_SECONDS,
  type Workload,
} from './figures.ts';
import {
  cleanUpWhenInterrupted,
  describeMachine,
  machineLine,
  requireDurability,
  scratchDirectory,
  watchOthers,
} from './machine.ts';
import { findPgbench, PGBENCH_MISSING, type PgbenchScript, runPgbench } from './pgbench.ts';
import { assets, fund, profileIds } from './profiles.ts';

const CALLERS_MANY = 256;
const CLIENTS_MANY = [8, 16, 32, 64];
const SPEEDUP_MIN = 3;
const HOT_SHARE_MIN = 0.9;
const SCRIPT = fileURLToPath(new URL('naive.sql', import.meta.url));

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

type Sides = { readonly ferry: Database; readonly naive: Database };

async function prepare(server: EmbeddedServer): Promise<Sides> {
  const { socketDir, port, user } = server;
  const connect = (database: string): Database =>
    unlocked(connectWritePath({ socketDir, port, user, database }));
  const administration = connectDatabase({ socketDir, port, user, database: 'postgres' }, 1);
  await administration.query('create database bench_template');
  const template = connect('bench_template');
  await migrate(template);
  const { writePath } = createCallers(template, server.pid);
  await fund(writePath, profileIds(PROFILES), 'USD');
  await writePath.stop();
  await template.query('vacuum analyze');
  await template.close();
  for (const name of ['bench_ferry', 'bench_naive'])
    await administration.query(`create database ${name} template bench_template`);
  await administration.query('checkpoint');
  await administration.close();
  return { ferry: connect('bench_ferry'), naive: connect('bench_naive') };
}

/** Both ledgers must be clean, and hold exactly what each side says that it wrote. */
async function verify(database: Database, name: string, postings: number): Promise<void> {
  const report = await auditEverything(database, assets, ENTRY_CHECKS);
  for (const { line } of report.violations) console.error(`${name}: ${line}`);
  if (report.violations.length > 0) throw new Error(`the audit of ${name} found violations`);
  const expected = BigInt(2 * (PROFILES + postings));
  if (report.entryCount !== expected)
    throw new Error(`${name} has ${report.entryCount} entries, ${expected} were written`);
  console.log(`Audit of ${name}: clean, ${integer(Number(report.entryCount))} entries.`);
}

function scriptFor({ debtors }: Workload): PgbenchScript {
  return { path: SCRIPT, variables: { profiles: PROFILES, debtors } };
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
      : runPgbench(target, scriptFor(workload), concurrency));
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
  cleanUpWhenInterrupted(cleanUp);
  try {
    console.log(
      `About ${Math.ceil(((4 + 14 * ROUNDS) * (WARM_UP_SECONDS + MEASURED_SECONDS) + 15) / 60)} minutes.`,
    );
    server = await startEmbedded({ dataDir: directory, log: () => undefined });
    const sides = await prepare(server);
    await requireDurability(sides.ferry);
    await requireDurability(sides.naive);
    console.log(machineLine(await describeMachine(directory, sides.ferry)));
    const reportOthers = watchOthers(server.pid);
    const variants = await measure(server, sides, program);
    reportOthers();
    await sides.ferry.close();
    await sides.naive.close();
    return judge(variants);
  } finally {
    await cleanUp();
  }
}

const program = findPgbench();
if (program === undefined) {
  console.error(PGBENCH_MISSING);
  process.exitCode = 1;
} else {
  process.exitCode = (await main(program)) ? 0 : 1;
}
