import type { Statement } from '../database/database.ts';
import { formatInstant } from '../kernel/instant.ts';
import { type AuditRow, type Check, overRecords, type Units } from './audit-checks.ts';

/**
 * Cause and effect. The view `expected_postings` lists the postings that the records of every capability require; the entries
 * must be exactly these. The view `record_faults` lists records that contradict each other.
 */

/**
 * Postings of `expected` and of `entries`, relations with the columns of the view and of the table, that differ in number. Both
 * are grouped, never joined with themselves: the planner expects no new entries, and would compare each with every other.
 */
const difference = (expected: string, entries: string): string => `
  with expected as (
    select record, record_id, cause_id, asset, units, from_account,
           coalesce(from_profile_id, to_profile_id, cause_id) as from_owner, to_account,
           coalesce(to_profile_id, from_profile_id, cause_id) as to_owner, count(*) as times
    from ${expected} as required group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
  paired as (
    select cause_id, at_ns, max(delta) as units,
           (array_agg(asset) filter (where delta > 0))[1] as asset,
           (array_agg(account) filter (where delta < 0))[1] as from_account,
           (array_agg(owner_id) filter (where delta < 0))[1] as from_owner,
           (array_agg(account) filter (where delta > 0))[1] as to_account,
           (array_agg(owner_id) filter (where delta > 0))[1] as to_owner
    from ${entries} as e group by cause_id, at_ns, posting having min(delta) < 0 and max(delta) > 0),
  moved as (
    select cause_id, asset, units, from_account, from_owner, to_account, to_owner, count(*) as times, min(at_ns) as at_ns
    from paired group by 1, 2, 3, 4, 5, 6, 7)
  select cause_id, asset, units, from_account, from_owner, to_account, to_owner, record, record_id, at_ns,
         coalesce(expected.times, 0) as required, coalesce(moved.times, 0) as found
  from expected full join moved using (cause_id, asset, units, from_account, from_owner, to_account, to_owner)
  where coalesce(expected.times, 0) <> coalesce(moved.times, 0)`;

const isProfiles = (account: unknown): boolean => account === 'available' || account === 'held';
const party = (account: AuditRow[string] | undefined, owner: AuditRow[string] | undefined): string =>
  isProfiles(account) ? `${account} of profile ${owner}` : String(account);

function describe(row: AuditRow, units: Units): string {
  const { asset, required, found } = row;
  const posting = `${units(asset, row.units)} ${asset} from ${party(row.from_account, row.from_owner)} to ${party(row.to_account, row.to_owner)}`;
  if (row.record === null) {
    return `entries of ${row.cause_id} at ${formatInstant(row.at_ns as bigint)} move ${posting}: no transfer, settlement, conversion, deposit or journal entry requires that`;
  }
  return `${row.record} ${row.record_id} requires ${required} posting(s) of ${posting}, its entries have ${found}`;
}

const check = (sql: string, transfers: string): Check => ({
  rule: 'cause-equals-entries',
  sql,
  transfers,
  line: describe,
});

export const ALL_CAUSES: Check = check(difference('expected_postings', 'entries'), 'true');

/** Causes with a record that changed, or with an entry, in the slice ($1, $2], and that this alone does not explain. */
export const causesToExamine = (seen: string): Statement =>
  overRecords(
    `select distinct cause_id from (${difference(
      '(select * from expected_postings where changed_at_ns > $1 and changed_at_ns <= $2)',
      seen,
    )}) as unexplained`,
    't.updated_at_ns > $1 and t.updated_at_ns <= $2',
  );

/** The transfers of the causes $4: both sides of those inside the service. */
const OF_CAUSES = `t.id = any (array (
  select unnest($4::uuid[]) union select debit_side(unnest($4::uuid[])) union select credit_side(debit_side(unnest($4::uuid[])))))`;

/**
 * The causes $4, with all their entries. There is no index on the cause of an entry, which would slow down every transfer, so
 * they are looked up by the accounts of the expected postings: at the times of the record, or, `anyTime`, from then on.
 */
export function wantedCauses(seen: string, anyTime: boolean): Check {
  const ids = `array (select unnest($4::uuid[]) union select debit_side(unnest($4::uuid[])))`;
  const expected = `(select * from expected_postings where record_id = any (${ids}))`;
  const places = `
    select cause_id, coalesce(from_profile_id, to_profile_id, cause_id) as owner_id, asset, from_account as account,
           since_ns, changed_at_ns from ${expected} as f
    union
    select cause_id, coalesce(to_profile_id, from_profile_id, cause_id), asset, to_account, since_ns, changed_at_ns
    from ${expected} as t`;
  const found = (time: string): string => `
    select e.* from (${places}) as p cross join lateral (
      select * from entries e where e.owner_id = p.owner_id and e.asset = p.asset and e.account = p.account
      and e.cause_id = p.cause_id and ${time}) as e`;
  const lookups = anyTime
    ? found('e.at_ns >= p.since_ns')
    : `${found('e.at_ns = p.since_ns')} union ${found('e.at_ns = p.changed_at_ns')}`;
  return check(
    difference(
      expected,
      `(select s.* from ${seen} as s where s.cause_id = any ($4::uuid[]) union ${lookups})`,
    ),
    OF_CAUSES,
  );
}

/** The causes that are left when all their entries are looked at. */
export const stillUnexplained = (seen: string): Statement =>
  overRecords(`select distinct cause_id from (${wantedCauses(seen, false).sql}) as d`, OF_CAUSES);

/** The transfers that records of other tables name. */
const named = (records: readonly (readonly [table: string, id: string, where: string])[]): string =>
  `t.id = any (array (${records.map(([table, id, where]) => `select ${id} from ${table} where ${where}`).join(' union ')}))`;

/** Keys of payments are text; another one than an id names no transfer. */
const TRANSFER_KEY = `case when key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then key::uuid end`;

const within = (column: string): string => `${column} > $1 and ${column} <= $2`;

export const allRecordFaults: Check = faults('true', 'true');

/** Of the records that changed in the slice ($1, $2]. */
export const recordFaultsInSlice: Check = faults(
  within('changed_at_ns'),
  `${within('t.updated_at_ns')} or ${named([
    ['guaranteed_fees', 'used_by', within('expires_at_ns')],
    ['arrivals', 'transfer_id', within('recorded_at_ns')],
    ['suspense_deposits', 'transfer_id', within('created_at_ns')],
    ['journal_entries', 'transfer_id', within('created_at_ns')],
    ['sandbox_payments', TRANSFER_KEY, within('accepted_at_ns')],
  ])}`,
);

/** Of records of which there are few: they do not say when they changed. */
export const fewRecordFaults: Check = faults(
  'changed_at_ns is null',
  named([
    ['withdrawal_work', 'transfer_id', 'true'],
    ['withdrawal_returns', 'transfer_id', 'true'],
  ]),
);

function faults(where: string, transfers: string): Check {
  return {
    sql: `select rule, record, record_id, detail from record_faults where ${where}`,
    transfers,
    line: (row) => `${row.record} ${row.record_id}: ${row.detail}`,
  };
}
