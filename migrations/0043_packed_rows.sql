-- On a cluster, the rows of a batch for one shard as one row, which is never stored: the server that has the shard unpacks it into the shards
-- of other tables that are beside it. The coordinator decodes and encodes every row that is copied to a distributed table, and begins and ends
-- a COPY in each shard of each table; that was three quarters of what it did. On one server, which is never sent any, it does the same with
-- the tables themselves.
create table packed_rows (
  shard_key  uuid not null,    -- an id of the shard
  target     text not null,    -- the table that the rows belong to
  names      text not null,    -- of its columns
  columns    text[] not null,  -- each an array of its values
  primary key (shard_key, target)   -- without one, shards could not be moved while they are written
);

-- The statement that unpacks rows into `destination`, whose range of hashes is from `low` to `high`; the list of the columns' types comes first.
create function unpacking(target text, destination text, names text[], low integer, high integer) returns text language plpgsql stable as $$
declare
  types text;
  arrays text := (select string_agg('$' || place, ', ' order by place) from generate_subscripts(names, 1) as place);
  change text;
  failed text := quote_literal('a shard');
begin
  if target = 'balances' then
    types := 'uuid[], text[], numeric[], numeric[], bigint[], numeric[], numeric[], bigint[]';
    change := format('update %s b set available = c.available, held = c.held, moved_at_ns = c.moved_at_ns
      from unnest(%s) as c (profile_id, asset, available, held, moved_at_ns, available_before, held_before, moved_before_ns)
      where b.profile_id = c.profile_id and b.asset = c.asset and b.moved_at_ns = c.moved_before_ns
        and b.available = c.available_before and b.held = c.held_before returning 1', destination, arrays);
    failed := format('case when count(*) < cardinality($1) and exists (select from unnest($1) as id where uuid_hash(id) not between %s and %s)
      then %s else %L end', low, high, failed, 'a balance');
  else
    select string_agg(format_type(a.atttypid, null) || '[]', ', ' order by place) into types
    from unnest(names) with ordinality as n (name, place)
    join pg_attribute a on a.attrelid = target::regclass and a.attname = n.name;
    change := format('insert into %s (%s) select c.* from unnest(%s) as c (key) where uuid_hash(c.key) between %s and %s returning 1',
                     destination, (select string_agg(quote_ident(name), ', ' order by place) from unnest(names) with ordinality as n (name, place)),
                     arrays, low, high);
  end if;
  return format('(%s) as with changed as (%s) select confirm(count(*) = cardinality($1), %s) from changed', types, change, failed);
end
$$;

-- Prepares it in this session, and returns the text that executes it with the columns. A shard has the same id and the same range for life.
create function prepare_unpacking(prepared text, schema text, shard text, target text, names text[]) returns text language plpgsql as $$
declare
  destination text := target;
  low integer := -2147483648;
  high integer := 2147483647;
begin
  if shard <> '' then
    select own.shardminvalue, own.shardmaxvalue, target || '_' || beside.shardid into strict low, high, destination
    from pg_dist_shard own
    join pg_dist_shard beside on beside.logicalrelid = target::regclass and beside.shardminvalue = own.shardminvalue
    where own.shardid = shard::bigint;
  end if;
  -- A statement that was prepared stays when the transaction is rolled back; the setting that says so does not.
  if not exists (select from pg_prepared_statements p where p.name = prepared) then
    execute format('prepare %I %s', prepared, unpacking(target, format('%I.%I', schema, destination), names, low, high));
  end if;
  return format('execute %I (%s)', prepared, (select string_agg('%L', ', ') from unnest(names)));
end
$$;

-- Prepared once in each session: to plan it takes longer than to execute it. A setting of the session says how it is executed, because nothing
-- else is looked up as fast.
create function unpack_rows() returns trigger language plpgsql as $$
declare
  shard text := substr(tg_table_name, length('packed_rows_') + 1);
  setting text := 'ferry.unpack_' || new.target || shard;
  execution text := current_setting(setting, true);
begin
  if execution is null or execution = '' then
    execution := set_config(setting, prepare_unpacking('unpack_' || new.target || shard, tg_table_schema, shard, new.target,
                                                       string_to_array(new.names, ',')), false);
  end if;
  execute format(execution, variadic new.columns);
  return null;
end
$$;

create trigger packed_rows_are_unpacked before insert on packed_rows for each row execute function unpack_rows();

-- What it replaces.
create or replace function ask_every_server() returns bigint language plpgsql as $$
begin
  return (select count(*) from packed_rows);
end
$$;
drop function apply_balance_changes(uuid, bigint);
drop table balance_changes;
