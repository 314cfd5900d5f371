import type { Queryable } from '../database/database.ts';
import { canonicalText } from '../kernel/canonical.ts';
import { formatInstant, type Instant } from '../kernel/instant.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { type Check, runCheck, type Units, type Violation } from './audit-checks.ts';

/** The sum of an account over all entries so far. `available` and `held` are those of all profiles together. */
export type Total = { readonly account: string; readonly asset: string; readonly units: string };

/** How far the audit has come. */
export type Progress = {
  /** Everything up to this instant was audited. */
  readonly untilNs: Instant;
  /** The file of the entries, and the last row of it: rows behind it are newer, whatever their instants. */
  readonly heap: string;
  readonly place: string;
  readonly entries: bigint;
  readonly totals: readonly Total[];
  /** The last balance that was swept, as `profile/asset`. */
  readonly sweptTo: string;
};

export type Checkpoint = Progress & {
  readonly number: bigint;
  readonly madeAtNs: Instant;
  readonly signature: string;
};

/** The signature covers the one before, so that no checkpoint can be changed, exchanged or left out. */
function signatureOf(vault: Vault, checkpoint: Omit<Checkpoint, 'signature'>, previous: string): string {
  const { number, untilNs, heap, place, entries, totals, sweptTo, madeAtNs } = checkpoint;
  const numbers = [number, untilNs, entries, madeAtNs].map(String);
  const sums = totals.map(({ account, asset, units }) => [account, asset, units]);
  return vault.digester('audit_checkpoints.signature')(
    canonicalText([...numbers, heap, place, sums, sweptTo, previous]),
  );
}

const COLUMNS = `number, until_ns as "untilNs", heap, place, entries, totals, swept_to as "sweptTo",
  made_at_ns as "madeAtNs", signature`;

function verified(
  vault: Vault,
  checkpoint: Checkpoint,
  before: Checkpoint | undefined,
): Violation | undefined {
  const { number, untilNs } = checkpoint;
  const rule = 'checkpoint-is-signed';
  if (number !== (before?.number ?? 0n) + 1n) {
    return { rule, line: `audit checkpoint ${number - 1n} is missing` };
  }
  if (checkpoint.signature === signatureOf(vault, checkpoint, before?.signature ?? '')) return undefined;
  return {
    rule,
    line: `audit checkpoint ${number} up to ${formatInstant(untilNs)} was changed, or not made by this service`,
  };
}

/** The last checkpoint, or what is wrong with it or with the one before. */
export async function lastCheckpoint(
  database: Queryable,
): Promise<{ readonly checkpoint?: Checkpoint; readonly violation?: Violation }> {
  const rows = await database.query<Checkpoint>(
    `select ${COLUMNS} from audit_checkpoints order by number desc limit 2`,
  );
  const [checkpoint, before] = rows;
  if (checkpoint === undefined) return {};
  const violation = verified(database.vault(), checkpoint, before);
  return violation === undefined ? { checkpoint } : { violation };
}

/** Everything that is wrong with the chain of checkpoints. */
export async function checkpointViolations(database: Queryable): Promise<Violation[]> {
  const violations: Violation[] = [];
  let before: Checkpoint | undefined;
  for (;;) {
    const rows: Checkpoint[] = await database.query<Checkpoint>(
      `select ${COLUMNS} from audit_checkpoints where number > $1 order by number limit $2`,
      [before?.number ?? 0n, LIMITS.auditCheckpointsMax],
    );
    if (rows.length === 0) return violations;
    for (const row of rows) {
      const violation = verified(database.vault(), row, before);
      if (violation !== undefined) violations.push(violation);
      before = row;
    }
  }
}

/** What the last checkpoint has added up, counted again in one snapshot. */
export async function totalViolations(database: Queryable, units: Units): Promise<Violation[]> {
  const { checkpoint } = await lastCheckpoint(database);
  if (checkpoint === undefined) return [];
  const { number, untilNs, totals } = checkpoint;
  const check: Check = {
    rule: 'checkpoint-equals-entries',
    sql: `select account, asset, coalesce(counted.units, 0) as counted, coalesce(t.units, 0) as audited
          from (select account, asset, sum(delta) as units from entries where at_ns <= $1 group by account, asset) as counted
          full join jsonb_to_recordset($2::jsonb) as t (account text, asset text, units numeric) using (account, asset)
          where coalesce(counted.units, 0) <> coalesce(t.units, 0)`,
    line: (row, format) =>
      `the entries of ${row.account} ${row.asset} up to ${formatInstant(untilNs)} sum to ${format(row.asset, row.counted)}, at checkpoint ${number} they summed to ${format(row.asset, row.audited)}`,
  };
  return runCheck(database, check, units, [untilNs, JSON.stringify(totals)], 1);
}

export async function storeCheckpoint(
  database: Queryable,
  progress: Progress,
  before: Checkpoint | undefined,
  madeAtNs: Instant,
): Promise<Checkpoint> {
  const content = { ...progress, number: (before?.number ?? 0n) + 1n, madeAtNs };
  const signature = signatureOf(database.vault(), content, before?.signature ?? '');
  const { number, untilNs, heap, place, entries, totals, sweptTo } = content;
  await database.query(
    `insert into audit_checkpoints (number, until_ns, heap, place, entries, totals, swept_to, made_at_ns, signature)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9)`,
    [number, untilNs, heap, place, entries, JSON.stringify(totals), sweptTo, madeAtNs, signature],
  );
  return { ...content, signature };
}
