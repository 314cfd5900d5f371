-- What the settlement engine finds its work by. It never reads all transactions: each statement of it walks one of
-- these indexes, which hold only transactions that are open.

-- Affirmed and not tried since: to be tried from the start of the window on. Trying in vain leaves a secondary status.
create index settlement_due on settlement_transactions (window_start_ns, created_at_ns, id)
  where status = 'AFFIRMED' and secondary_status is null;

-- To be expired from the end of the window on.
create index settlement_ends on settlement_transactions (window_end_ns) where status in ('PENDING', 'AFFIRMED');

-- Tried in vain, by party, oldest first.
create index settlement_waiting_source on settlement_transactions (source_profile_id, created_at_ns, id)
  where status = 'AFFIRMED' and secondary_status is not null;
create index settlement_waiting_target on settlement_transactions (target_profile_id, created_at_ns, id)
  where status = 'AFFIRMED' and secondary_status is not null;

-- Balances that transactions wait for, and the least that was available when one of them was last tried. Written in
-- the transaction in which the record of the one that waits begins to say so.
create table settlement_waits (
  profile_id  uuid not null,
  asset       text not null,
  seen_units  numeric(38, 0) not null,
  until_ns    bigint not null,          -- the last window of those that wait; later the row is of no use
  version     bigint not null default 0, -- grows when somebody begins to wait: whoever tried the others leaves it then
  primary key (profile_id, asset)
);

-- Balances that have grown since: whoever waits for them is to be tried again, whatever became of the wake-up.
create view settlement_grown as
  select w.profile_id, w.asset, w.version, b.available
  from settlement_waits w join balances b using (profile_id, asset)
  where b.available > w.seen_units;
