import type { Database } from '../database/database.ts';
import type { Assets } from '../kernel/asset.ts';
import { LIMITS } from '../limits.ts';
import { ALL_CAUSES, allRecordFaults } from './audit-causes.ts';
import { checkpointViolations, totalViolations } from './audit-checkpoints.ts';
import { type Check, ENTRY_CHECKS, runCheck, unitsIn, type Violation } from './audit-checks.ts';

export type { Violation } from './audit-checks.ts';

export type AuditReport = {
  readonly violations: readonly Violation[];
  /** There are more violations than are listed. */
  readonly truncated: boolean;
  readonly entryCount: bigint;
  readonly accountCount: bigint;
};

export const ALL_CHECKS: readonly Check[] = [...ENTRY_CHECKS, ALL_CAUSES, allRecordFaults];

/**
 * Verifies everything that is stored, in one snapshot: for a replica or a backup, because a long snapshot slows down a primary.
 * Only reads.
 */
export async function auditEverything(
  database: Database,
  assets: Assets,
  checks: readonly Check[] = ALL_CHECKS,
): Promise<AuditReport> {
  const units = unitsIn(assets);
  return database.snapshot(async (tx) => {
    const violations: Violation[] = [];
    for (const check of checks) violations.push(...(await runCheck(tx, check, units, [], 1)));
    violations.push(...(await checkpointViolations(tx)), ...(await totalViolations(tx, units)));
    const [counts] = await tx.query<{ entries: bigint; accounts: bigint }>(
      'select (select count(*) from entries) as entries, (select count(*) from balances) as accounts',
    );
    return {
      violations: violations.slice(0, LIMITS.auditViolationsMax),
      truncated: violations.length > LIMITS.auditViolationsMax,
      entryCount: counts!.entries,
      accountCount: counts!.accounts,
    };
  });
}
