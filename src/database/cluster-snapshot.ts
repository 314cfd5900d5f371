import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../limits.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';

/**
 * On a cluster, each server has a snapshot of its own, which it takes when it is first asked. All are of the same moment if nothing is
 * committed between the first and the last of them. So another connection holds writes for the milliseconds that this takes. A standby
 * cannot do that: there, a commit may be in the snapshots of some servers only.
 */
export async function takeSnapshots(
  connection: Connection,
  { transaction }: Pick<Database, 'transaction'>,
): Promise<void> {
  if (connection.shards === undefined) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(async (holder) => {
        // Statements that queue behind it must not time out.
        await holder.query(`set local lock_timeout = ${LIMITS.migrationLockTimeoutMs}`);
        await holder.query(
          `select case when pg_is_in_recovery() then null else (select count(*) from hold_writes()) end`,
        );
        // One connection to each server, for all statements of the transaction.
        await connection.query('set local citus.max_adaptive_executor_pool_size = 1');
        await connection.query('select ask_every_server()');
      });
    } catch (error) {
      if (failureOf(error) !== 'timeout' || attempt === LIMITS.snapshotAttemptsMax) throw error;
      await sleep(LIMITS.lockTimeoutMs);
    }
  }
}
