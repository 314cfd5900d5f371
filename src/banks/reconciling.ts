import { type Instant, parseInstant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { importStatement } from '../reconciliation/reconcile.ts';
import { plainId } from './ids.ts';
import { fenced } from './lease-store.ts';
import type { BankParts } from './parts.ts';
import { linesOfStatement, markReconciled, nextUnreconciled } from './received-store.ts';

const startOf = (day: string, otherwise: Instant): Instant => parseInstant(`${day}T00:00:00Z`) ?? otherwise;

/**
 * Puts the lines of each statement beside the movements of `clearing:<rail>`: what is on one side only is listed there, with its
 * age. The same statement again changes nothing, so a crash in between repeats it.
 */
export async function reconcileStatements(parts: BankParts): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail, currency } = settings;
  for (;;) {
    const statement = await nextUnreconciled(database, rail);
    if (statement === undefined) return;
    const entries = await linesOfStatement(database, rail, statement);
    const lines = entries.map(({ reference, key, direction, units, bookedOn }) => ({
      atNs: startOf(bookedOn, clock.now()),
      units: direction === 'CRDT' ? units : -units,
      references: [...(key === null ? [] : [plainId(key)]), reference],
    }));
    const { statementId } = statement;
    const order = {
      account: `clearing:${rail}`,
      asset: currency.code,
      statementId,
      format: 'CAMT053' as const,
      lines,
      actor: `rail:${rail}`,
    };
    try {
      if (lines.length > 0) await importStatement(database, order);
    } catch (error) {
      // An operator has imported a statement with the same id and other lines.
      if (!(error instanceof Problem)) throw error;
      log.error({ rail, statementId, why: error.message }, 'a statement of the bank could not be reconciled');
    }
    await fenced(database, lease, (tx) => markReconciled(tx, rail, statement));
  }
}
