-- online

-- Changes balances, provided that each still is what the node has cached: what `changeBalances` does in one statement. A cluster executes a
-- statement that counts the rows of another by writing them to a file first; here, the server counts them by itself.
create function change_balances(
  profile_ids uuid[], assets text[], availables numeric[], helds numeric[], instants bigint[],
  instants_before bigint[], availables_before numeric[], helds_before numeric[]
) returns void language plpgsql as $$
declare
  changed bigint;
begin
  update balances b set available = c.available, held = c.held, moved_at_ns = c.moved_at_ns
  from unnest(profile_ids, assets, availables, helds, instants, instants_before, availables_before, helds_before)
         as c (profile_id, asset, available, held, moved_at_ns, moved_before_ns, available_before, held_before)
  where b.profile_id = any (profile_ids) and b.profile_id = c.profile_id and b.asset = c.asset
    and b.moved_at_ns = c.moved_before_ns and b.available = c.available_before and b.held = c.held_before;
  get diagnostics changed = row_count;
  perform confirm(changed = cardinality(profile_ids), 'a balance');
end
$$;
