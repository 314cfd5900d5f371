// Fills the service's database with platform transfers as if the service had made them, set-wise: millions in minutes.
import { appendTo } from '../../src/database/binary.ts';
import type { Connection } from '../../src/database/database.ts';
import { packText } from '../../src/events/pack.ts';
import { sandboxOf } from '../../test/support/process.ts';
import { integer, PROFILES } from '../figures.ts';
import type { Stage } from './stage.ts';

/**
 * Profiles are neighbours in pairs: in one step the odd one of each pair pays the even one, in the next step it gets the
 * unit back. So after an even number of steps all balances are what they were, and every running balance is known
 * without looking at the one before.
 */
const PAIRS = PROFILES / 2;
const TRANSFERS_OF_TWO_STEPS = 2 * PAIRS;
const CHUNK_TRANSFERS = 250 * TRANSFERS_OF_TWO_STEPS;
/** As many as the service commits together when it is busy: their events are one group. */
const TRANSFERS_IN_GROUP = 256;

const TABLES = '{transfers,entries,event_groups,idempotency_keys}';
/** Packed at once. */
const GROUPS_AT_ONCE = 20;

/** $1 the first number, $2 the number after the last one. */
const TRANSFERS = `
  create temp table loading as
  select number, (number - $1::bigint) / ${TRANSFERS_IN_GROUP} as group_number,
         2 * ((number - $1::bigint) % ${TRANSFERS_IN_GROUP}) as line,
         overlay(own.id placing '0' from 36)::uuid as group_id, overlay(own.id placing '1' from 36)::uuid as debit_id,
         overlay(own.id placing '2' from 36)::uuid as credit_id,
         source.profile_id as from_id, source.available - (1 - step % 2) as from_after,
         target.profile_id as to_id, target.available + (1 - step % 2) as to_after,
         start.at_ns + number - $1::bigint + 1 as at_ns, 'load-' || lpad(number::text, 13, '0') as ref_id
  from (select number, number / ${PAIRS} as step, 2 * (number % ${PAIRS}) + 1 as odd
        from generate_series($1::bigint, $2::bigint - 1) as number) as numbered
  cross join lateral (select uuidv7()::text as id where number is not null) as own
  join balances source on source.asset = 'USD' and source.profile_id = lpad((odd + step % 2)::text, 32, '0')::uuid
  join balances target on target.asset = 'USD' and target.profile_id = lpad((odd + 1 - step % 2)::text, 32, '0')::uuid
  cross join (select greatest(max(moved_at_ns), (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000) as at_ns
              from balances) as start
  order by number`;

/** Each of them writes one table from the temporary one; $1 is the customer. */
const ROWS = [
  'create index on loading (group_number)',
  `create temp table loading_groups as
   select group_number, (left(uuidv7()::text, 32) || '0000')::uuid as batch_id, max(at_ns) as at_ns
   from loading group by group_number order by group_number`,
  `insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
   select $1::uuid, 'transfers', ref_id, debit_id,
          'amount=0000000000000000;asset=0000000000000000;from_profile_id=0000000000000000;operation=0000000000000000;to_profile_id=0000000000000000;'
   from loading`,
  `insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
   select side.owner_id, 'USD', 'available', at_ns, side.line, 0, group_id, side.delta, side.balance_after
   from loading, lateral (values (to_id, 0, 1, to_after), (from_id, 1, -1, from_after))
                         as side (owner_id, line, delta, balance_after)`,
  `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units,
                          balance_asset, balance_units, created_at_ns, updated_at_ns, ref_id, group_id, batch_id)
   select side.id, $1::uuid, side.profile_id, 'PLATFORM_TRANSFER_' || direction, direction, 'COMPLETED', 'USD', 1, 0,
          'USD', 1, l.at_ns, l.at_ns, side.ref_id, group_id, batch_id
   from loading l join loading_groups using (group_number),
        lateral (values (debit_id, from_id, 'DEBIT', ref_id), (credit_id, to_id, 'CREDIT', null))
                as side (id, profile_id, direction, ref_id)`,
];

/** Afterwards. */
const ENDS = [
  `update event_sequence s set position = s.position + made.count, at_ns = greatest(s.at_ns, made.at_ns)
   from (select count(*) as count, max(at_ns) as at_ns from loading_groups) as made`,
  `update balances set moved_at_ns = (select max(at_ns) from loading)
   where asset = 'USD' and profile_id in (select from_id from loading union select to_id from loading)`,
  'drop table loading, loading_groups',
];

type Group = {
  readonly batchId: string;
  readonly atNs: bigint;
  readonly position: bigint;
  readonly text: string;
};

/** The events of some groups, as lines of text: $1 is the customer, $2 the first group and $3 the one after the last. */
const GROUPS = `
  select batch_id as "batchId", g.at_ns as "atNs", s.position + group_number + 1 as position,
         string_agg(format(E'%s transfer.platform_transfer_%s.completed %s %s {"id":"%s","customer_id":"%s","profile_id":"%s","amount":"0.01","total":"0.01","fee":"0","asset":"USD","direction":"%s","type":"PLATFORM_TRANSFER_%s","status":"COMPLETED","created_at":"2000-01-01T00:00:00.000000001Z","updated_at":"2000-01-01T00:00:00.000000001Z","balance_asset":"USD","auto_conversion":{},"group_id":"%s"}\\n',
                           l.line + side.line, lower(direction), side.id, l.at_ns, side.id, $1::uuid, side.profile_id,
                           direction, direction, l.group_id), '' order by l.line + side.line) as text
  from loading_groups g join loading l using (group_number), event_sequence s,
       lateral (values (1, debit_id, from_id, 'DEBIT'), (2, credit_id, to_id, 'CREDIT'))
               as side (line, id, profile_id, direction)
  where group_number >= $2::bigint and group_number < $3::bigint
  group by batch_id, g.at_ns, s.position, group_number`;

/** Packed here, as the service does it: the server cannot, and not packed they would take seven times the room. */
async function loadEvents(connection: Connection, customer: string): Promise<void> {
  const linesOf = ({ text }: Group): number => text.split('\n').length - 1;
  const types = ['transfer.platform_transfer_debit.completed', 'transfer.platform_transfer_credit.completed'];
  const append = appendTo<Group>('event_groups', [
    { name: 'batch_id', type: 'uuid', value: (group) => group.batchId },
    { name: 'customer_id', type: 'uuid', value: () => customer },
    { name: 'at_ns', type: 'bigint', value: (group) => group.atNs },
    { name: 'position', type: 'bigint', value: (group) => group.position },
    { name: 'lines', type: 'integer', value: linesOf },
    { name: 'last_line', type: 'integer', value: linesOf },
    { name: 'types', type: 'text[]', value: () => types },
    { name: 'events', type: 'bytea', value: (group) => packText(group.text) },
    { name: 'records', type: 'bytea', value: () => Buffer.alloc(0) },
    { name: 'actors', type: 'bytea', value: () => Buffer.from('{}') },
  ]);
  for (let first = 0; ; first += GROUPS_AT_ONCE) {
    const groups = await connection.query<Group>(GROUPS, [customer, first, first + GROUPS_AT_ONCE]);
    if (groups.length === 0) return;
    await append(connection, groups);
  }
}

/** Without the indexes that no rule needs, which are made again at once in the end. */
async function withoutIndexes(connection: Connection, work: () => Promise<void>): Promise<void> {
  const indexes = await connection.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
     where i.indrelid = any ($1::regclass[]) and c.oid is null and not i.indisunique`,
    [TABLES],
  );
  for (const { name } of indexes) await connection.query(`drop index ${name}`);
  await work();
  console.log('making the indexes …');
  for (const { definition } of indexes) await connection.query(definition);
}

async function loadChunk(connection: Connection, customer: string, from: number, to: number): Promise<void> {
  await connection.query('begin');
  await connection.query(TRANSFERS, [from, to]);
  await connection.query('analyze loading');
  for (const statement of ROWS) await connection.query(statement, statement.includes('$1') ? [customer] : []);
  await connection.query('analyze loading_groups');
  await loadEvents(connection, customer);
  for (const statement of ENDS) await connection.query(statement);
  await connection.commit();
}

/** The number of transfers is rounded up to whole steps; says how many there are. `first` was loaded before. */
export async function loadTransfers(
  stage: Stage,
  name: string,
  first: number,
  count: number,
): Promise<number> {
  const customer = sandboxOf(stage.directory).customers[0]!.customer_id;
  const end = first + Math.ceil(count / TRANSFERS_OF_TWO_STEPS) * TRANSFERS_OF_TWO_STEPS;
  await stage.using(name, async (database) => {
    const connection = await database.reserve({ patient: true });
    try {
      await connection.query('set statement_timeout = 0');
      await connection.query('set idle_in_transaction_session_timeout = 0');
      await connection.query('set enable_seqscan = on');
      await connection.query(`set maintenance_work_mem = '512MB'`);
      await withoutIndexes(connection, async () => {
        for (let from = first; from < end; from += CHUNK_TRANSFERS) {
          const to = Math.min(from + CHUNK_TRANSFERS, end);
          await loadChunk(connection, customer, from, to);
          console.log(`${integer(to - first)} of ${integer(end - first)} transfers loaded`);
        }
      });
      console.log('vacuuming …');
      await connection.query('vacuum (analyze)');
      await connection.query('checkpoint');
    } finally {
      connection.discard();
    }
  });
  return end - first;
}
