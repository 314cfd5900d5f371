import type { Connection, Database } from '../../src/database/database.ts';

/**
 * Many rows, made by the server itself: one customer has nearly all of them, and in the middle of its history is
 * everything that is rare, a few of each. A scan of the history for a rare row is long in either order.
 */
const KINDS = {
  customer: '00000001',
  profile: '00000002',
  identity: '00000003',
  account: '00000004',
  transfer: '00000005',
  settlement: '00000006',
  group: '00000008',
  endpoint: '00000009',
  delivery: '0000000a',
  fiatAccount: '0000000b',
  way: '0000000c',
} as const;
type Kind = keyof typeof KINDS;

export function historyId(kind: Kind, n: number): string {
  return `${KINDS[kind]}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
}

const id = (kind: Kind, n: string): string =>
  `('${KINDS[kind]}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;

/** The customer with nearly all rows, its profile with most of them, and values with only a few rows. */
export const BIG = historyId('customer', 0);
export const COMMON = 1;
export const RARE = 2;
/** There are many more, of other customers. */
export const OTHERS = 100;

export const START_NS = 1_700_000_000_000_000_000n;
export const STEP_NS = 1_000_000n;
const at = `${START_NS} + n * ${STEP_NS}`;
/** Nine of ten are the big customer's. */
const customer = id('customer', 'case when n % 10 = 0 and not rare then 1 + n / 10 % 100 else 0 end');
const owned = (kind: Kind): string =>
  id(kind, `case when rare then ${RARE} when n % 10 = 0 then ${OTHERS} + n / 10 % 100 else ${COMMON} end`);
const rows = (count: number): string =>
  `(select n, abs(n - ${Math.floor(count / 2)}) <= 10 as rare from generate_series(1, ${count}::bigint) n) numbered`;

/** Old transfers are withdrawals and deposits, new ones are internal, as when a customer's business changes. */
const transfers = (count: number): string => `
  insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                         balance_asset, balance_units, created_at_ns, updated_at_ns, identity_id, account_id, ref_id,
                         group_id, crypto_network, crypto_tx_hash)
  select ${id('transfer', `n * 4 + case when type not like '%TRANSFER%' then 3 when type like '%DEBIT' then 1 else 2 end`)},
    ${customer}, ${owned('profile')}, type,
    case when type like '%DEBIT' or type like '%WITHDRAWAL' then 'DEBIT' else 'CREDIT' end,
    status, 'USD', 100, 0, 'USD', 100, ${at},
    ${at} + case when type like '%WITHDRAWAL' and status <> 'PENDING' then n % 1000 * 10 * ${STEP_NS} else 0 end,
    case when n % 3 = 0 or rare then ${owned('identity')} end,
    case when n % 3 = 0 or rare then ${owned('account')} end, 'ref-' || n,
    case when type like '%TRANSFER%' then ${id('transfer', 'n * 4')} end,
    case when type like 'CRYPTO%' then 'BITCOIN' end, case when type like 'CRYPTO%' then 'hash-' || n end
  from (
    select n, rare,
      case when rare then (array['INTERNAL_TRANSFER_DEBIT', 'INTERNAL_TRANSFER_CREDIT', 'WIRE_WITHDRAWAL',
                                 'WIRE_WITHDRAWAL', 'CUBIX_DEPOSIT'])[1 + (n % 5)::integer]
           when n % 4 = 0 then 'CRYPTO_DEPOSIT'
           when n < ${count} * 0.4 then 'CRYPTO_WITHDRAWAL'
           when n % 2 = 0 then 'PLATFORM_TRANSFER_DEBIT' else 'PLATFORM_TRANSFER_CREDIT' end as type,
      case when rare and n % 5 = 2 then 'FAILED' when rare and n % 5 = 3 then 'PENDING' else 'COMPLETED' end as status
    from ${rows(count)}) typed`;

const keys = `
  insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
  select customer_id, 'transfers', ref_id, id, '{}' from transfers`;

/** The big customer is the source of one half, the target of the other half, and sometimes both. */
const settlements = (count: number): string => `
  insert into settlement_transactions
  select ${id('settlement', 'n')}, source, target, 'ref-' || n,
    case when source = '${BIG}' then ${owned('profile')} else ${id('profile', `${OTHERS} * 2 + n % 100`)} end,
    case when source <> '${BIG}' then ${owned('profile')} else ${id('profile', `${OTHERS} * 2 + n % 100`)} end,
    ${at}, ${at} + 1, case when rare then (array['PENDING', 'AFFIRMED', 'CANCELLED', 'EXPIRED'])[1 + (n % 4)::integer]
                           else 'SETTLED' end,
    null, '[{"asset": "USD", "units": "1"}]'::jsonb, ${at}, ${at} + n % 1000 * 10 * ${STEP_NS}
  from (select n, rare, case when n % 2 = 0 or n % 9 = 0 then '${BIG}'::uuid else ${id('customer', '1 + n % 100')} end as source,
               case when n % 2 = 1 or n % 9 = 0 then '${BIG}'::uuid else ${id('customer', '1 + n % 100')} end as target
        from ${rows(count)}) parties`;

const balances = `
  insert into balances (profile_id, asset, available)
  select ${id('profile', 'n')}, asset, 1 from generate_series(1, 5000) n, unnest(array['USD', 'BTC', 'ETH']) asset`;

const entries = (count: number): string => `
  insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
  select ${owned('profile')}, case when rare then 'ETH' when n % 2 = 0 then 'USD' else 'BTC' end,
    case when n % 5 = 0 then 'held' else 'available' end, ${at}, 0, 0, ${id('transfer', 'n')}, 1, n
  from ${rows(count)}`;

/** Each position has one group in its own batch. */
const batch = (position: string): string => id('group', `(${position}) * 65536`);

export function historyEventId(position: number, line: number): string {
  return historyId('group', position * 65_536 + line);
}

/** Ten events in each group, with one rare type. They are not compressed, which does not matter for plans. */
const events = (count: number): string[] => [
  `insert into event_groups (batch_id, customer_id, at_ns, position, lines, last_line, types, events, records, actors)
   select ${batch('n')}, ${customer}, ${START_NS} + n * 10 * ${STEP_NS}, n, 10, 10, written.types, written.events, '', '{}'
   from ${rows(Math.floor(count / 10))} cross join lateral (
     select array_agg(distinct type) as types,
       convert_to(string_agg(format(E'%s %s %s %s {}\\n', line, type, ${id('transfer', 'n * 10 + line')},
                                    ${START_NS} + ((n - 1) * 10 + line) * ${STEP_NS}), '' order by line), 'UTF8') as events
     from (select line, case when line = 5 and abs(n - ${Math.floor(count / 20)}) <= 3 then 'transfer.failed'
                             else 'transfer.completed' end as type
           from generate_series(1, 10) line) as typed) as written`,
  `insert into event_resources (resource_id, batch_id)
   select ${id('transfer', 'n * 10 + line')}, ${batch('n')}
   from generate_series(1, ${Math.floor(count / 10)}::bigint) n, generate_series(1, 10) line`,
  `update event_sequence set position = ${Math.floor(count / 10)}`,
  `insert into event_marks (at_ns, position) select at_ns, position from event_groups where position % 100 = 0`,
];

const deliveries = (count: number): string[] => [
  `insert into webhook_endpoints (id, customer_id, url, event_types, enabled, created_at_ns, updated_at_ns, deleted_at_ns)
   select ${id('endpoint', 'n')}, ${customer}, 'https://example.com', array['*'], true, ${at}, ${at},
     case when n > 5 then ${at} end from ${rows(1_000)}`,
  `insert into webhook_deliveries (id, endpoint_id, customer_id, event_id, event_at_ns, position, line, resource_id,
                                   trigger, status, due_at_ms, created_at_ns, updated_at_ns)
   select ${id('delivery', 'n')}, ${id('endpoint', `case when n % 10 = 0 and not rare then ${OTHERS} else ${COMMON} end`)}, ${customer},
     ${id('group', 'position * 65536 + 1 + n % 10')}, ${at}, position, 1 + n % 10, ${id('transfer', 'n')}, 'EVENT',
     case when rare then 'FAILED' else 'DELIVERED' end, 0, ${at}, ${at}
   from ${rows(count)},
     -- Nine of ten groups are the big customer's.
     lateral (select (n - 1) / 100 * 10 + 1 + n % 9 as position) as place`,
];

const work = (count: number): string => `
  insert into withdrawal_work (transfer_id, profile_id, customer_id, rail, state, due_at_ns, fiat_account_id)
  select ${id('transfer', 'n')}, ${owned('profile')}, ${customer}, case when n % 10 = 0 then 'wire' else 'BITCOIN' end, 'QUEUED',
    case when rare then 0 else 9000000000000000000 end, ${owned('fiatAccount')} from ${rows(count)}`;

/** Identities, accounts, profiles, bank accounts and ways to pay in. */
const parties = (count: number): string[] => [
  `insert into identities (id, customer_id, type, person_details, status, ref_id, created_at_ns, updated_at_ns)
   select ${id('identity', 'n')}, ${customer}, 'PERSON', '{}', 'APPROVED', 'ref-' || n, ${at}, ${at} from ${rows(count)}`,
  `insert into accounts (id, customer_id, identity_id, type, ref_id, created_at_ns, updated_at_ns)
   select ${id('account', 'n')}, ${customer}, ${owned('identity')}, 'BROKERAGE', 'ref-' || n, ${at}, ${at} + n % 7
   from ${rows(count)}`,
  `insert into account_members (id, customer_id, account_id, identity_id, roles, created_at_ns)
   select ${id('account', 'n')}, ${customer}, ${id('account', 'n')}, ${id('identity', 'n')}, array['OWNER'], ${at}
   from ${rows(count)}`,
  `insert into profiles (id, customer_id, nickname, type, account_id, created_at_ns)
   select ${id('profile', 'n')}, ${customer}, 'name-' || n, 'NORMAL', ${owned('account')}, ${at} from ${rows(count)}`,
  `insert into fiat_accounts (id, customer_id, status, kind, fiat_account_owner, fiat_network_instructions, ref_id,
                              identity_id, account_id, created_at_ns, updated_at_ns, deleted_at_ns)
   select ${id('fiatAccount', 'n')}, ${customer}, case when rare then 'PENDING' else 'APPROVED' end, 'wire', '{}', '{}',
     'ref-' || n, ${owned('identity')}, ${owned('account')}, ${at}, ${at} + n % 7, case when n % 3 = 0 then ${at} end
   from ${rows(count)}`,
  `insert into deposit_addresses (id, customer_id, profile_id, crypto_network, address, ref_id, created_at_ns)
   select ${id('way', 'n')}, ${customer}, ${owned('profile')}, case when rare then 'SOLANA' else 'BITCOIN' end,
     'address-' || n, 'ref-' || n, ${at} from ${rows(count)}`,
  `insert into fiat_deposit_instructions (id, customer_id, profile_id, kind, memo_id, instructions, ref_id, created_at_ns)
   select ${id('way', 'n')}, ${customer}, ${owned('profile')}, 'wire', 'memo-' || n, '{}', 'ref-' || n, ${at}
   from ${rows(count)}`,
  `insert into suspense_deposits (id, rail, reference, asset, amount_units, sent_to, reason, created_at_ns)
   select ${id('way', 'n')}, 'wire', 'n', 'USD', 1, '', '', ${at} from ${rows(count)}`,
  `insert into rail_contradictions (transfer_id, rail, reported, recorded, detail, at_ns)
   select ${id('transfer', 'n')}, 'wire', 'COMPLETED', 'FAILED', '', ${at} from ${rows(count)}`,
];

const others = (count: number): string[] => [
  settlements(count),
  balances,
  entries(count),
  ...events(count),
  ...deliveries(count),
  work(count),
  ...parties(count),
];

/** How many transfers, and how many rows of everything else. */
export type HistorySize = { readonly transfers?: number; readonly others?: number };

/** Unlogged tables and indexes that are built at the end: a fifth of the time. */
async function quickly(connection: Connection, load: () => Promise<void>): Promise<void> {
  const indexes = await connection.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class t on t.oid = i.indrelid
     where t.relnamespace = 'public'::regnamespace and not i.indisunique`,
  );
  for (const { name } of indexes) await connection.query(`drop index ${name}`);
  const tables = await connection.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class c
     where relkind = 'r' and relnamespace = 'public'::regnamespace
       and not exists (select from pg_constraint where contype = 'f' and c.oid in (conrelid, confrelid))`,
  );
  for (const { name } of tables) await connection.query(`alter table ${name} set unlogged`);
  await load();
  for (const { definition } of indexes) await connection.query(definition);
}

export async function loadHistory(database: Database, size: HistorySize): Promise<void> {
  const connection = await database.reserve({ patient: true });
  try {
    await connection.query('set statement_timeout = 0');
    await connection.query('set synchronous_commit = off');
    await quickly(connection, async () => {
      if (size.transfers !== undefined) {
        await connection.query(transfers(size.transfers));
        await connection.query(keys);
      }
      for (const statement of size.others === undefined ? [] : others(size.others))
        await connection.query(statement);
    });
    await connection.query('vacuum analyze');
  } finally {
    connection.discard();
  }
}
