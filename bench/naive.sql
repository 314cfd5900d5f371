-- One posting, written the ordinary way: one transaction, six round trips, the same rows in the same tables as one
-- command of the write path. Variables from the command line: profiles, debtors (1 = everybody debits one account).
--
-- What was done for its speed: prepared statements; each step is one statement, also for two rows; both sides of an
-- entry pair and both balances are written together; ids are UUIDv7, so that new index entries land at the right end;
-- a hot account has the lowest id, so that nobody holds another lock while waiting for it; the new balances are
-- computed by the client. Numbers become ids by padding them to 32 digits, below 1 µs per transaction.
\set from random(1, :debtors)
\set to 1 + (:from - 1 + random(1, :profiles - 1)) % :profiles
begin;
insert into idempotency_keys (customer_id, space, ref_id, resource_id, request)
values (lpad(:from, 32, '0')::uuid, 'transfers', uuidv7()::text, uuidv7(), 'amount=0000000000000000;asset=0000000000000000;from_profile_id=0000000000000000;operation=0000000000000000;to_profile_id=0000000000000000;')
on conflict do nothing
returning resource_id, customer_id as from_id, lpad(:to, 32, '0')::uuid as to_id \gset
select max(available) filter (where profile_id = :from_id) as from_available,
       max(available) filter (where profile_id = :to_id) as to_available,
       greatest(max(moved_at_ns) + 1, (date_part('epoch', clock_timestamp()) * 1000000)::bigint * 1000) as at_ns
from (select profile_id, available, moved_at_ns from balances
      where profile_id in (:from_id, :to_id) and asset = 'USD'
      order by profile_id for update) as locked \gset
\set from_after :from_available - 1
\set to_after :to_available + 1
insert into entries (owner_id, asset, account, at_ns, line, posting, cause_id, delta, balance_after)
values (:to_id, 'USD', 'available', :at_ns, 0, 0, :resource_id, 1, :to_after),
       (:from_id, 'USD', 'available', :at_ns, 1, 0, :resource_id, -1, :from_after);
update balances
set available = case when profile_id = :from_id then :from_after::numeric else :to_after::numeric end, moved_at_ns = :at_ns
where profile_id in (:from_id, :to_id) and asset = 'USD';
commit;
