import { plainArray, textArray } from '../database/array.ts';
import type { Queryable } from '../database/database.ts';
import type { Instant } from '../kernel/instant.ts';
import { resourcesOfAny } from '../ledger/keys.ts';
import { LIMITS } from '../limits.ts';

export const HIT_TYPES = [
  'TRANSFER',
  'CUSTOMER',
  'PROFILE',
  'IDENTITY',
  'ACCOUNT',
  'FIAT_ACCOUNT',
  'DEPOSIT_ADDRESS',
  'SETTLEMENT',
  'JOURNAL_ENTRY',
  'SUSPENSE_DEPOSIT',
  'APPROVAL',
  'FREEZE',
  'POLICY',
  'PERSON',
] as const;
export type HitType = (typeof HIT_TYPES)[number];

export const MATCHES = ['ID', 'REF_ID', 'HASH', 'ADDRESS', 'NAME', 'AMOUNT'] as const;
export type Match = (typeof MATCHES)[number];

export type Hit = {
  readonly type: HitType;
  readonly id: string;
  readonly matched: Match;
  readonly customerId: string | null;
  /** What it is, for people: the type of a transfer, the name of a customer. */
  readonly label: string;
  readonly status: string | null;
  readonly asset: string | null;
  readonly units: bigint | null;
  readonly createdAtNs: Instant;
};

/** A select of one table, with the columns of a hit. */
type Part = {
  readonly type: HitType;
  /** The table. */
  readonly source: string;
  readonly customer?: string;
  readonly label: string;
  readonly status?: string;
  readonly asset?: string;
  readonly units?: string;
};

const TRANSFER: Part = {
  type: 'TRANSFER',
  source: 'transfers',
  label: 'x.type',
  status: 'x.status',
  asset: 'x.asset',
  units: 'x.amount_units',
};
const CUSTOMER: Part = { type: 'CUSTOMER', source: 'customers', customer: 'x.id', label: 'x.name' };
const ADDRESS: Part = {
  type: 'DEPOSIT_ADDRESS',
  source: 'deposit_addresses',
  label: `x.crypto_network || ' ' || x.address`,
};
const SUSPENSE: Part = {
  type: 'SUSPENSE_DEPOSIT',
  source: 'suspense_deposits',
  customer: 'null::uuid',
  label: `x.rail || ' ' || x.reference`,
  status: `case when x.transfer_id is not null then 'CREDITED' when x.returned_by is not null then 'RETURNED' else 'OPEN' end`,
  asset: 'x.asset',
  units: 'x.amount_units',
};

/** Every kind of thing that has an id. */
const WITH_ID: readonly Part[] = [
  TRANSFER,
  CUSTOMER,
  { type: 'PROFILE', source: 'profiles', label: 'x.nickname', status: 'x.status' },
  { type: 'IDENTITY', source: 'identities', label: 'x.type', status: 'x.status' },
  { type: 'ACCOUNT', source: 'accounts', label: 'x.type' },
  { type: 'FIAT_ACCOUNT', source: 'fiat_accounts', label: 'x.kind', status: 'x.status' },
  ADDRESS,
  { type: 'SETTLEMENT', source: 'settlement_transactions', label: 'x.ref_id', status: 'x.status' },
  {
    type: 'JOURNAL_ENTRY',
    source: 'journal_entries',
    label: 'x.kind',
    asset: 'x.asset',
    units: 'x.amount_units',
  },
  SUSPENSE,
  { type: 'APPROVAL', source: 'approvals', label: 'x.summary', status: 'x.status' },
  {
    type: 'FREEZE',
    source: 'freezes',
    customer: 'null::uuid',
    label: 'x.scope',
    status: `case when x.lifted_at_ns is null then 'IN_FORCE' else 'LIFTED' end`,
  },
  { type: 'POLICY', source: 'policies', label: 'x.name' },
  { type: 'PERSON', source: 'people', label: `array_to_string(x.roles, ', ')` },
];

function select({ type, source, ...columns }: Part, matched: Match, where: string, rows = source): string {
  const { customer = 'x.customer_id', label, status, asset, units } = columns;
  return `select '${type}' as type, x.id::text as id, '${matched}' as matched, ${customer} as "customerId", ${label} as label,
    ${status ?? 'null::text'} as status, ${asset ?? 'null::text'} as asset, ${units ?? 'null::numeric'} as units,
    x.created_at_ns as "createdAtNs" from ${rows} x where ${where}`;
}

const BY_ID = WITH_ID.map((part) => select(part, 'ID', 'x.id = any ($1::uuid[])')).join('\n union all\n');

/** Things with these ids, each by its primary key. */
export const hitsById = (database: Queryable, ids: readonly string[]): Promise<Hit[]> =>
  database.query<Hit>(BY_ID, [plainArray(ids)]);

/** Spaces of idempotency keys whose resources can be found. */
const SPACES = [
  'transfers',
  'settlement_transactions',
  'identities',
  'accounts',
  'fiat_accounts',
  'deposit_addresses',
  'journal_entries',
  'approvals',
];

/** The resources that any customer created with this ref_id. */
export async function idsByRefId(database: Queryable, refId: string): Promise<string[]> {
  const customers = await database.query<{ id: string }>(
    `select c.id from customers c order by c.created_at_ns desc limit ${LIMITS.searchCustomersMax}`,
  );
  return resourcesOfAny(
    database,
    customers.map(({ id }) => id),
    { spaces: SPACES, refId, rowsMax: LIMITS.searchHitsMax },
  );
}

const BY_TEXT = [
  select(TRANSFER, 'HASH', 'x.crypto_tx_hash = $1'),
  select(ADDRESS, 'ADDRESS', 'x.crypto_network = any ($3::text[]) and x.address = $1'),
  `(${select(CUSTOMER, 'NAME', `x.name ilike $2 order by x.name limit ${LIMITS.searchHitsMax}`)})`,
  `(${select(SUSPENSE, 'HASH', `x.transfer_id is null and strpos(x.reference, $1) > 0 order by x.created_at_ns desc limit ${LIMITS.searchHitsMax}`)})`,
].join('\n union all\n');

const likeText = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** By transaction, deposit address, name of a customer, or reference of a deposit in suspense. */
export const hitsByText = (database: Queryable, text: string, networks: readonly string[]): Promise<Hit[]> =>
  database.query<Hit>(BY_TEXT, [text, likeText(text), textArray(networks)]);

export type AmountOf = { readonly asset: string; readonly units: bigint };

/** Ids begin with the time, so the primary key has the latest transfers at its end. */
const LATEST = `(select * from transfers order by id desc limit ${LIMITS.searchTransfersMax})`;
const AMONG = '(x.asset, x.amount_units) in (select * from unnest($1::text[], $2::numeric[]))';
const BY_AMOUNT = [
  `(${select(TRANSFER, 'AMOUNT', `${AMONG} order by x.id desc limit ${LIMITS.searchHitsMax}`, LATEST)})`,
  `(${select(SUSPENSE, 'AMOUNT', `x.transfer_id is null and ${AMONG} order by x.created_at_ns desc limit ${LIMITS.searchHitsMax}`)})`,
].join('\n union all\n');

/** Among the latest transfers and the deposits that are still in suspense: amounts have no index. */
export const hitsByAmount = (database: Queryable, amounts: readonly AmountOf[]): Promise<Hit[]> =>
  database.query<Hit>(BY_AMOUNT, [
    textArray(amounts.map(({ asset }) => asset)),
    plainArray(amounts.map(({ units }) => units.toString())),
  ]);
