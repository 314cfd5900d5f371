-- All packed rows for the shards of one server go to one shard of packed_rows there, so that a batch has one COPY for each server instead of
-- one for each shard: Citus begins and ends these one after another, and sends those of different servers at the same time.
--
-- A COPY to packed_rows stops moves and splits of all shards of its group until the transaction ends, because it locks what Citus knows about
-- each of them. After it, the node lets the coordinator confirm that the shards are still where they were when it read that.
alter table packed_rows add column shard bigint;   -- the id of the shard of balances with the same range

-- The setting of the session has the shard of the table, too: if that has left the server since, the statement must not be executed, because
-- the server's log would show it, with everything that it was given.
--
-- Plans are made once, while a shard may still be empty.
create or replace function unpack_rows() returns trigger language plpgsql
  set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  prepared text := concat('unpack_', new.target, '_', new.shard);
  known text := current_setting('ferry.' || prepared, true);
  destination text;
  low integer;
  high integer;
  names text[];
  types text;
  arrays text;
  change text;
  failed text := quote_literal('a shard');
  problem text;
begin
  if starts_with(known, new.names || ':') then
    known := substr(known, length(new.names) + 2);
    destination := split_part(known, ':', 1);
    known := substr(known, length(destination) + 2);
  else
    known := null;
    select own.shardminvalue, own.shardmaxvalue, new.target || '_' || beside.shardid into low, high, destination
    from pg_dist_shard own
    join pg_dist_shard beside on beside.logicalrelid = format('%I.%I', tg_table_schema, new.target)::regclass
      and beside.shardminvalue = own.shardminvalue and beside.shardmaxvalue = own.shardmaxvalue
    where own.shardid = new.shard;
  end if;
  if destination is null or to_regclass(format('%I.%I', tg_table_schema, destination)) is null then
    raise 'a shard changed since it was read' using errcode = 'serialization_failure';
  end if;
  if known is null then
    names := string_to_array(new.names, ',');
    arrays := (select string_agg('$' || place, ', ' order by place) from generate_subscripts(names, 1) as place);
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
    known := format('execute %I (%s)', prepared, (select string_agg('%L', ', ') from unnest(names)));
    perform set_config('ferry.' || prepared, concat_ws(':', new.names, destination, known), false);
  end if;
  execute format(known, variadic new.columns) into problem;
  -- Raised here, not by the statement, for the same reason.
  if problem is not null then
    raise '% changed since it was read', problem using errcode = 'serialization_failure';
  end if;
  return null;
end
$$;
