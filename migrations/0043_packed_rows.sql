-- On a cluster, a node sends the rows of a batch that belong to one shard of a table as one row of packed_rows. A trigger of that shard inserts
-- them into the shard of the table that is on the same server. The packed row is never stored. The coordinator decodes and encodes every
-- row that is copied to a distributed table, and begins and ends a COPY in each shard of each table: that was three quarters of its work.
--
-- On one server the trigger does the same with the tables themselves. Only tests send any there.
create table packed_rows (
  shard_key  uuid not null,    -- an id of the shard
  target     text not null,    -- the table that the rows belong to
  names      text not null,    -- of its columns; the first is the one that it is distributed by
  columns    text[] not null,  -- each an array of its values
  primary key (shard_key, target),   -- without one, shards could not be moved while they are written
  constraint packed_rows_are_not_stored check (false)   -- if the trigger does not run, what it would have written must not be lost
);

-- The statement is prepared once in each session, because to plan it takes longer than to execute it. A setting of the session has the names
-- of the columns and the text that executes the statement: nothing else is looked up as fast. A rollback undoes the setting, not the
-- statement. A shard has the same id and the same range for life.
--
-- All in one function: a cluster has the functions of triggers on every server, and their names are found in any schema.
create function unpack_rows() returns trigger language plpgsql as $$
declare
  shard text := substr(tg_table_name, length('packed_rows_') + 1);
  prepared text := 'unpack_' || new.target || shard;
  known text := current_setting('ferry.' || prepared, true);
  destination text := new.target;
  low integer := -2147483648;
  high integer := 2147483647;
  names text[];
  types text;
  arrays text;
  change text;
  failed text := quote_literal('a shard');
  problem text;
begin
  if known is null or not starts_with(known, new.names || ':') then
    names := string_to_array(new.names, ',');
    arrays := (select string_agg('$' || place, ', ' order by place) from generate_subscripts(names, 1) as place);
    if shard <> '' then
      select own.shardminvalue, own.shardmaxvalue, new.target || '_' || beside.shardid into strict low, high, destination
      from pg_dist_shard own
      join pg_dist_shard beside on beside.logicalrelid = format('%I.%I', tg_table_schema, new.target)::regclass
        and beside.shardminvalue = own.shardminvalue and beside.shardmaxvalue = own.shardmaxvalue
      where own.shardid = shard::bigint;
    end if;
    if new.target = 'balances' then
      if new.names <> 'profile_id,asset,available,held,moved_at_ns,available_before,held_before,moved_before_ns' then
        raise 'balances are not changed by %', new.names;
      end if;
      types := 'uuid[], text[], numeric[], numeric[], bigint[], numeric[], numeric[], bigint[]';
      change := format('update %I.%I b set available = c.available, held = c.held, moved_at_ns = c.moved_at_ns from unnest(%s) as c (%s)
        where b.profile_id = c.profile_id and b.asset = c.asset and b.moved_at_ns = c.moved_before_ns
          and b.available = c.available_before and b.held = c.held_before returning 1', tg_table_schema, destination, arrays, new.names);
      failed := format('case when exists (select from unnest($1) as id where uuid_hash(id) not between %s and %s) then %s else %L end',
                       low, high, failed, 'a balance');
    else
      select string_agg(format_type(a.atttypid, null) || '[]', ', ' order by place) into types
      from unnest(names) with ordinality as n (name, place)
      join pg_attribute a on a.attrelid = format('%I.%I', tg_table_schema, new.target)::regclass and a.attname = n.name;
      change := format('insert into %I.%I (%s) select c.* from unnest(%s) as c (key) where uuid_hash(c.key) between %s and %s returning 1',
                       tg_table_schema, destination,
                       (select string_agg(quote_ident(name), ', ' order by place) from unnest(names) with ordinality as n (name, place)),
                       arrays, low, high);
    end if;
    if exists (select from pg_prepared_statements p where p.name = prepared) then
      execute format('deallocate %I', prepared);
    end if;
    execute format('prepare %I (%s) as with changed as (%s) select case when count(*) <> cardinality($1) then %s end from changed',
                   prepared, types, change, failed);
    known := set_config('ferry.' || prepared, format('%s:execute %I (%s)', new.names, prepared,
                                                     (select string_agg('%L', ', ') from unnest(names))), false);
  end if;
  execute format(substr(known, length(new.names) + 2), variadic new.columns) into problem;
  -- Raised here, not by the statement: the server's log would show it, with everything that it was given.
  if problem is not null then
    raise '% changed since it was read', problem using errcode = 'serialization_failure';
  end if;
  return null;
end
$$;

create trigger packed_rows_are_unpacked before insert on packed_rows for each row execute function unpack_rows();

-- It replaces the copied changes of balances.
drop function apply_balance_changes(uuid, bigint);
drop table balance_changes;

create or replace function ask_every_server() returns bigint language plpgsql as $$
begin
  return (select count(*) from packed_rows);
end
$$;

-- What a trigger does to a shard takes no lock on the coordinator but that on packed_rows.
create or replace function hold_writes() returns void language plpgsql security definer set search_path from current as $$
begin
  lock table balances, transfers, packed_rows in share mode;
end
$$;
-- The role that serves is granted it with all functions; others, such as that of the signer, could stop payments with it.
revoke execute on function hold_writes() from public;
