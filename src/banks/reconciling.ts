import type { Actor } from '../kernel/actor.ts';
import { type Instant, NS_PER_SECOND, parseInstant } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import { BANK_LIMITS } from '../limits-banks.ts';
import { recordBalance } from '../reconciliation/balances.ts';
import { importStatement } from '../reconciliation/reconcile.ts';
import { plainId } from './ids.ts';
import { fenced } from './lease-store.ts';
import type { BankParts } from './parts.ts';
import {
  linesOfStatement,
  markCompared,
  markReconciled,
  type OpenStatement,
  openStatements,
} from './received-store.ts';

const startOf = (day: string): Instant | undefined => parseInstant(`${day}T00:00:00Z`);
const DAY_NS = 86_400n * NS_PER_SECOND;

/** The worker of the rail, under the name that statements have shown since before there were actors. */
const railActor = (rail: string): Actor => ({ kind: 'worker', id: `rail:${rail}` });

/** Puts the lines of a statement beside the movements of `clearing:<rail>`: what is on one side only is listed with its age. */
async function reconcile(parts: BankParts, statement: OpenStatement): Promise<void> {
  const { database, settings, clock, lease, log } = parts;
  const { rail, currency } = settings;
  const { statementId } = statement;
  const entries = await linesOfStatement(database, rail, statement);
  const lines = entries.map(({ reference, key, direction, units, bookedOn }) => ({
    atNs: startOf(bookedOn) ?? clock.now(),
    units: direction === 'CRDT' ? units : -units,
    references: [...(key === null ? [] : [plainId(key)]), reference],
  }));
  const order = {
    account: `clearing:${rail}`,
    asset: currency.code,
    statementId,
    format: 'CAMT053' as const,
    lines,
    by: railActor(rail),
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

/** Compares the closing balance with the ledger at the end of that day, once the day is over. */
async function compare(parts: BankParts, statement: OpenStatement): Promise<void> {
  const { database, settings, lease } = parts;
  const { rail, currency } = settings;
  const { statementId: reference, closingDate, closingUnits: units } = statement;
  const day = startOf(closingDate);
  if (day !== undefined) {
    const [account, asset, by] = [`clearing:${rail}`, currency.code, railActor(rail)];
    const reported = { account, asset, atNs: day + DAY_NS, reference, units, by };
    if ((await recordBalance(database, reported)) === undefined) return;
  }
  await fenced(database, lease, (tx) => markCompared(tx, rail, statement));
}

/** Repeated after a crash: the same statement, or the same balance, again changes nothing. */
export async function reconcileStatements(parts: BankParts): Promise<void> {
  const { database, settings } = parts;
  for (const statement of await openStatements(database, settings.rail, BANK_LIMITS.statementsMax)) {
    if (!statement.reconciled) await reconcile(parts, statement);
    await compare(parts, statement);
  }
}
