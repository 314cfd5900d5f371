// What was acknowledged must be there, once, and the books must balance: else the figures are of no interest.
import type { Database } from '../../src/database/database.ts';
import { auditEverything } from '../../src/ledger/audit.ts';
import { ENTRY_CHECKS } from '../../src/ledger/audit-checks.ts';
import { integer } from '../figures.ts';
import { assets } from '../profiles.ts';
import { eventCounts } from './event-counts.ts';
import type { Operations } from './operations.ts';
import { FERRY, NAIVE, requireCleanLedger, type Stage } from './stage.ts';

type Counts = Readonly<Record<string, number>>;

async function countsIn(database: Database): Promise<Counts> {
  // A snapshot has all the time that it needs, also for millions of rows.
  const [rows, events] = await database.snapshot(async (tx) => [
    await tx.query<{ name: string; count: number }>(
      `select type as name, count(*)::integer as count from transfers group by type
       union all select 'keys of platform transfers', count(*)::integer from idempotency_keys
         where resource_id in (select id from transfers where type = 'PLATFORM_TRANSFER_DEBIT')
       union all select 'settlement transactions', count(*)::integer from settlement_transactions`,
    ),
    await eventCounts(tx),
  ]);
  return Object.fromEntries([...rows.map(({ name, count }) => [name, count] as const), ...events]);
}

/** Throws where a count is another one than the load was told. */
async function requireCounts(stage: Stage, name: string, expected: Counts): Promise<void> {
  const counts = await stage.using(name, countsIn);
  for (const [what, count] of Object.entries(expected)) {
    const found = counts[what] ?? 0;
    if (found !== count) throw new Error(`${name}: ${found} rows of ${what}, ${count} were acknowledged`);
  }
}

/** `transfers` are the platform transfers that were acknowledged, and stored before the load began. */
export async function checkFerry(
  stage: Stage,
  name: string,
  transfers: number,
  operations?: Operations,
): Promise<void> {
  await requireCleanLedger(stage, name);
  const totalOf = (operation: string): number =>
    operations?.all.find((one) => one.name === operation)?.measured.total ?? 0;
  await requireCounts(stage, name, {
    PLATFORM_TRANSFER_DEBIT: transfers,
    PLATFORM_TRANSFER_CREDIT: transfers,
    'transfer.platform_transfer_debit.completed': transfers,
    'transfer.platform_transfer_credit.completed': transfers,
    'keys of platform transfers': transfers,
    WIRE_WITHDRAWAL: totalOf('fiat withdrawal created'),
    CRYPTO_WITHDRAWAL: totalOf('crypto withdrawal created'),
    'settlement transactions': totalOf('settlement created and affirmed'),
  });
  console.log(`${name}: ${integer(transfers)} transfers acknowledged, all of them there.`);
}

/** The naive transfers have entries and records as Ferry's do, but not its ids: the audit of the entries alone applies. */
async function requireBalancedEntries(stage: Stage, name: string): Promise<void> {
  const { violations } = await stage.using(name, (database) =>
    auditEverything(database, assets, ENTRY_CHECKS),
  );
  if (violations.length === 0) return;
  throw new Error(`the audit of ${name} found violations:\n${violations.map(({ line }) => line).join('\n')}`);
}

export async function checkBoth(
  stage: Stage,
  totals: { readonly ferry: number; readonly naive: number },
  operations: Operations,
): Promise<void> {
  await checkFerry(stage, FERRY, totals.ferry, operations);
  await requireBalancedEntries(stage, NAIVE);
  await requireCounts(stage, NAIVE, {
    PLATFORM_TRANSFER_DEBIT: totals.naive,
    PLATFORM_TRANSFER_CREDIT: totals.naive,
    'transfer.platform_transfer_debit.completed': totals.naive,
    'keys of platform transfers': totals.naive,
  });
  console.log(`${NAIVE}: ${integer(totals.naive)} transfers committed, all of them there.`);
}
