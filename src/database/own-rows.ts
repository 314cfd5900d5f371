import { quoted } from './grants.ts';

/**
 * The second wall between customers. What a customer reads, it reads through views that have only its own rows: a statement
 * that forgets its condition on the customer finds nothing of another one. The views have the names of their tables, in a
 * schema of their own; statements of a customer run with that schema as their only search path (`Database.of`), so they
 * cannot name a table that is not listed here. They are plain views, so a statement is planned as if their condition were
 * its own; without security_barrier, because all SQL is the service's.
 */
export const OWN_SCHEMA = 'customer_reads';

/** Set for the transaction, see `ENTER`. Without a customer there are no rows. */
const CUSTOMER = `nullif(current_setting('ferry.customer_id', true), '')::uuid`;

/** Sent together with each statement of a customer, and in force for that statement only. */
export const ENTER = `select set_config('search_path', '${OWN_SCHEMA}, pg_temp', true),
  set_config('ferry.customer_id', $1, true)`;

const OWN = `t.customer_id = ${CUSTOMER}`;
/** `offset 0` keeps it out of the joins that the planner chooses from. */
const ofProfile = (column: string): string =>
  `exists (select from profiles p where p.id = t.${column} and p.customer_id = ${CUSTOMER} offset 0)`;
/** Ids and positions: nothing of any customer. */
const NOBODYS = 'true';

/** Which rows of a table a customer sees. Others are not readable for customers at all. */
export const OWN_ROWS: Readonly<Record<string, string>> = {
  identities: OWN,
  accounts: OWN,
  account_members: OWN,
  profiles: OWN,
  balances: ofProfile('profile_id'),
  entries: ofProfile('owner_id'),
  idempotency_keys: OWN,
  fiat_accounts: OWN,
  deposit_addresses: OWN,
  fiat_deposit_instructions: OWN,
  transfers: OWN,
  // Both parties see it.
  settlement_transactions: `${CUSTOMER} in (t.customer_id, t.target_customer_id)`,
  event_groups: OWN,
  event_resources: NOBODYS,
  event_sequence: NOBODYS,
  event_marks: NOBODYS,
  webhook_endpoints: OWN,
  webhook_progress: OWN,
  webhook_deliveries: OWN,
};

/** Statements that create the views of the existing tables of a schema, or bring them up to date. */
export function viewStatements(schema: string, existing: ReadonlySet<string>): string[] {
  return Object.entries(OWN_ROWS)
    .filter(([table]) => existing.has(table))
    .map(([table, condition]) => {
      const [view, from] = [OWN_SCHEMA, schema].map((one) => `${quoted(one)}.${quoted(table)}`);
      return `create or replace view ${view} as select * from ${from} t where ${condition}`;
    });
}
