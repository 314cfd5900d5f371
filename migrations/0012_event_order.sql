-- Events get their places in the order in which they were written, which is that of the locks that were held meanwhile:
-- whoever changes a resource again writes after the one before has committed. The instants of a group cannot tell: one
-- that is ahead of the clock, since a balance is, would move the whole group behind later ones.
alter table event_groups add column written_ns bigint;
alter table event_groups alter column written_ns
  set default (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000;
-- Those that have a place need it no more.
update event_groups set written_ns = at_ns where position is null;
drop index event_groups_waiting;
create index event_groups_waiting on event_groups (written_ns, batch_id, customer_id) where position is null;
