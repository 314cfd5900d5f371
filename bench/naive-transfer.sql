-- One platform transfer, written the ordinary way: one transaction, one round trip per step, the same columns of the
-- same tables that the service writes. Variables from the command line: customer (whose profiles these are), profiles,
-- debtors (1 = every transfer leaves one profile).
--
-- What was done for its speed: prepared statements; each step is one statement, also for two rows; ids are UUIDv7 and
-- ref_ids count up, so that new index entries land at the right end; a hot profile has the lowest id, so that nobody
-- holds another lock while waiting for it; the new balances are computed by the client; texts that the service makes of
-- the request are constants of the same length; the event is one line of text, as the service stores few of them. And it
-- does less: no token, no check of the profiles, one event instead of two, which nobody gives its place in the feed.
\set from random(1, :debtors)
\set to 1 + (:from - 1 + random(1, :profiles - 1)) % :profiles
begin;
insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
values (:customer, 'transfers', (date_part('epoch', clock_timestamp()) * 1000000)::bigint || '-' || :client_id::integer, uuidv7(), 'amount=0000000000000000;asset=0000000000000000;from_profile_id=0000000000000000;operation=0000000000000000;to_profile_id=0000000000000000;')
on conflict do nothing
returning resource_id as debit_id, uuidv7() as credit_id, uuidv7() as group_id, ref_id, lpad(:from, 32, '0')::uuid as from_id, lpad(:to, 32, '0')::uuid as to_id \gset
select max(available) filter (where profile_id = :from_id) as from_available,
       max(available) filter (where profile_id = :to_id) as to_available,
       greatest(max(moved_at_ns) + 1, (date_part('epoch', clock_timestamp()) * 1000000)::bigint * 1000) as at_ns
from (select profile_id, available, moved_at_ns from balances
      where profile_id in (:from_id, :to_id) and asset = 'USD'
      order by profile_id for update) as locked \gset
\set from_after :from_available - 1
\set to_after :to_available + 1
update balances
set available = case when profile_id = :from_id then :from_after::numeric else :to_after::numeric end, moved_at_ns = :at_ns
where profile_id in (:from_id, :to_id) and asset = 'USD';
insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
values (:to_id, 'USD', 'available', :at_ns, 0, 0, :group_id, 1, :to_after),
       (:from_id, 'USD', 'available', :at_ns, 1, 0, :group_id, -1, :from_after);
insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units, balance_asset, balance_units, created_at_ns, updated_at_ns, ref_id, group_id, batch_id)
values (:debit_id, :customer, :from_id, 'PLATFORM_TRANSFER_DEBIT', 'DEBIT', 'COMPLETED', 'USD', 1, 0, 'USD', 1, :at_ns, :at_ns, :ref_id, :group_id, :group_id),
       (:credit_id, :customer, :to_id, 'PLATFORM_TRANSFER_CREDIT', 'CREDIT', 'COMPLETED', 'USD', 1, 0, 'USD', 1, :at_ns, :at_ns, null, :group_id, :group_id);
insert into event_groups (batch_id, customer_id, at_ns, lines, last_line, types, events, records, actors)
values (:group_id, :customer, :at_ns, 1, 1, '{transfer.platform_transfer_debit.completed}', convert_to('1 transfer.platform_transfer_debit.completed ' || :debit_id || ' ' || :at_ns || E' {"id":"00000000-0000-0000-0000-000000000000","customer_id":"00000000-0000-0000-0000-000000000000","profile_id":"00000000-0000-0000-0000-000000000000","amount":"0.01","total":"0.01","fee":"0","asset":"USD","direction":"DEBIT","type":"PLATFORM_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2000-01-01T00:00:00.000000001Z","updated_at":"2000-01-01T00:00:00.000000001Z","ref_id":"0000000000000000000","balance_asset":"USD","auto_conversion":{},"group_id":"00000000-0000-0000-0000-000000000000"}\n', 'UTF8'), '', convert_to('{"kind":"client","id":"naive"}' || E'\n1 ' || :group_id || E'\n', 'UTF8'));
commit;
