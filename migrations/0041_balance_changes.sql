-- online

-- On a cluster, what a batch of the optimistic lane does to balances, and what they must be before; empty elsewhere. Rows are copied to the
-- shards of their balances, where one statement applies them. That statement alone would be sent to every shard with all its values, as
-- text, and that was most of what a cluster cost. Once applied, a row has no meaning; a background job deletes it.
create table balance_changes (
  batch_id          uuid not null,
  profile_id        uuid not null,
  asset             text not null,
  available         numeric(38, 0) not null,
  held              numeric(38, 0) not null,
  moved_at_ns       bigint not null,
  available_before  numeric(38, 0) not null,
  held_before       numeric(38, 0) not null,
  moved_before_ns   bigint not null,
  primary key (batch_id, profile_id, asset)
);

-- The server counts the rows by itself: a cluster executes a statement that counts those of another by writing them to a file first.
create function apply_balance_changes(batch uuid, expected bigint) returns void language plpgsql as $$
declare
  changed bigint;
begin
  update balances b set available = c.available, held = c.held, moved_at_ns = c.moved_at_ns
  from balance_changes c
  where c.batch_id = batch and b.profile_id = c.profile_id and b.asset = c.asset and b.moved_at_ns = c.moved_before_ns
    and b.available = c.available_before and b.held = c.held_before;
  get diagnostics changed = row_count;
  perform confirm(changed = expected, 'a balance');
end
$$;

-- Whether a transaction of the server that has the row is still running: on a cluster, each server has transactions of its own.
create function is_running(id xid) returns boolean language sql stable as $$
  select exists (select from pg_locks where locktype = 'transactionid' and granted and transactionid = id)
$$;
