import { CLOCK_NS } from '../database/clock.ts';
import type { Database } from '../database/database.ts';
import { createAssets } from '../kernel/asset.ts';
import type { Instant } from '../kernel/instant.ts';
import { createBook, findAmong } from './book.ts';
import type { Command } from './command.ts';
import { createDecider, type Rows } from './decide.ts';
import type { RequestDigests } from './digests.ts';
import { readsOf } from './write-path/batch.ts';

const noKey = (): never => {
  throw new Error('a command that runs alone has no key');
};
const NO_DIGESTS: RequestDigests = { of: noKey, differing: noKey, ofStored: noKey };

/**
 * Runs a command that moves no value and has no ref_id in a transaction of its own, without the queue of the write path: on
 * the command line, which has only the database, and where a command must not wait behind others.
 */
export function runAlone<Answer>(database: Database, command: Command<Answer>): Promise<Answer> {
  if (command.key !== undefined || command.balances.length > 0)
    throw new Error('a command that moves value or has a ref_id needs the write path');
  return database.transaction(async (tx) => {
    const rows: Rows = new Map();
    // In the order of batches, because some tables lock what they load.
    const reads = [...readsOf([command])].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
    for (const [table, keys] of reads) rows.set(table, await table.load!(tx, [...keys]));
    const [clock] = await tx.query<{ now: Instant }>(`select ${CLOCK_NS} as now`);
    const assets = createAssets([]);
    const decider = createDecider(
      {
        book: createBook(findAmong([]), assets),
        assets,
        nowNs: clock!.now,
        row: (table, key) => rows.get(table)?.get(key),
        usedKey: noKey,
        digests: NO_DIGESTS,
      },
      0n,
    );
    const verdict = decider.decide(command);
    if (verdict.kind === 'refused') throw verdict.problem;
    if (verdict.kind === 'bug') throw verdict.error;
    if (verdict.kind === 'replay') throw new Error('a command without a key cannot be a replay');
    const { writes, batchId } = decider.decided();
    for (const table of writes.tables)
      await table.write!(tx, writes.rowsOf(table), batchId, writes.actorsOf(table));
    return verdict.answer as Answer;
  });
}
