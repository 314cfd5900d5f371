-- online

-- On a cluster: nothing that moves value is committed while the caller's transaction has this lock, on no server. So snapshots that the
-- servers take meanwhile are of the same moment. It waits for the commits under way. The role that serves may not lock these tables itself.
create function hold_writes() returns void language plpgsql security definer set search_path from current as $$
begin
  lock table balances, transfers in share mode;
end
$$;

-- Asks every server that has rows of distributed tables, of which this one is the shortest.
create function ask_every_server() returns bigint language plpgsql as $$
begin
  return (select count(*) from balance_changes);
end
$$;
