/**
 * `npm run bench:reads`: what a page of a hundred transfers costs, with each filter, among ten million of them, nine
 * of which are one customer's. Another number can be given: `npm run bench:reads -- 1000000`.
 *
 * The rows are made by the server, which needs about a quarter of an hour and 15 GB; nothing of it is durable. Pages
 * are read through the stores as the service reads them, one after the other, on one connection: the middle page in
 * each order, again and again, so that what it needs is in memory. A page that is not there costs its blocks once more.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection, Queryable } from '../src/database/database.ts';
import { type EmbeddedServer, startEmbedded } from '../src/database/embedded/server.ts';
import { migrate } from '../src/database/migrate.ts';
import type { Page } from '../src/kernel/paging.ts';
import { balancesAt } from '../src/ledger/balances.ts';
import { listSettlements, type SettlementFilters } from '../src/settlement/list-store.ts';
import { listTransfers, type TransferFilters } from '../src/transfers/list-store.ts';
import { BIG, COMMON, historyId, loadHistory, RARE, START_NS, STEP_NS } from '../test/support/history.ts';
import { blocksRead, explaining, rowsRead } from '../test/support/plans.ts';
import { transferReads } from '../test/support/transfer-reads.ts';
import { connectUnlocked } from '../test/support/vault.ts';
import { integer, median } from './figures.ts';

const ROWS_DEFAULT = 10_000_000;
const ROUNDS = 20;

type Read = {
  readonly title: string;
  /** Rows of the table. */
  readonly rows: number;
  readonly look: (database: Queryable, page: Page) => Promise<unknown>;
};

function readsOf(rows: number, others: number): Read[] {
  const profile_ids = [historyId('profile', COMMON)];
  const transfers = (title: string, filters: TransferFilters): Read => ({
    title: `transfers ${title}`,
    rows,
    look: (database, page) => listTransfers(database, BIG, filters, page),
  });
  const settlements = (title: string, filters: SettlementFilters): Read => ({
    title: `settlements ${title}`,
    rows: others,
    look: (database, page) => listSettlements(database, BIG, filters, page),
  });
  return [
    ...transferReads(rows).map(([title, filters]) => transfers(title, filters)),
    transfers('of a profile with most of them, of a rare type: short pages', {
      profile_ids,
      type: ['CUBIX_DEPOSIT'],
    }),
    settlements('without a filter', {}),
    settlements('that are cancelled', { statuses: ['CANCELLED'] }),
    settlements('of a profile with most of them', { profile_ids }),
    settlements('of a profile with few: short pages', { profile_ids: [historyId('profile', RARE)] }),
    {
      title: 'balances at a time',
      rows: others,
      look: (database, page) => balancesAt(database, historyId('profile', COMMON), page.after!.ns),
    },
  ];
}

const ORDERS = (['created_at', 'updated_at'] as const).flatMap((orderBy) =>
  [true, false].map((descending) => ({ orderBy, descending })),
);

/** Milliseconds of each order, and the most that a statement read in any of them. */
async function measure(connection: Connection, { rows, look }: Read): Promise<string[]> {
  const after = { ns: START_NS + BigInt(Math.floor(rows * 0.55)) * STEP_NS, id: BIG };
  const times: number[] = [];
  const explained = explaining(connection);
  for (const order of ORDERS) {
    const page: Page = { limit: 100, ranges: [], after, ...order };
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedMs = performance.now();
      await look(connection, page);
      rounds.push(performance.now() - startedMs);
    }
    times.push(median(rounds));
    await look(explained, page);
  }
  const most = (of: typeof rowsRead): string => integer(Math.max(...explained.readings.map(of)));
  return [...times.map((ms) => ms.toFixed(1)), most(rowsRead), most(blocksRead)];
}

async function main(rows: number): Promise<void> {
  const others = Math.ceil(rows / 10);
  const directory = await mkdtemp(join(tmpdir(), 'ferry-bench-'));
  let server: EmbeddedServer | undefined;
  const cleanUp = async (): Promise<void> => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const interrupted = (): void => {
    process.on('uncaughtException', () => undefined);
    void cleanUp().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    const settings = { fsync: 'off', full_page_writes: 'off', maintenance_work_mem: '512MB' };
    server = await startEmbedded({ dataDir: directory, log: () => undefined, settings });
    const { socketDir, port, user } = server;
    const database = connectUnlocked({ socketDir, port, user, database: 'postgres' });
    await migrate(database);
    await loadHistory(database, { transfers: rows, others });
    const connection = await database.reserve();
    console.log(
      `${integer(rows)} transfers, ${integer(others)} of everything else; milliseconds for a page of 100.\n`,
    );
    console.log('| | created, desc | created, asc | updated, desc | updated, asc | rows read | blocks |');
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
    for (const read of readsOf(rows, others)) {
      console.log(`| ${[read.title, ...(await measure(connection, read))].join(' | ')} |`);
    }
    connection.discard();
    await database.close();
  } finally {
    await cleanUp();
  }
}

await main(Number(process.argv[2] ?? ROWS_DEFAULT));
