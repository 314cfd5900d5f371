-- A node may decide on what it remembers, if the same transaction confirms it. This undoes a transaction that was
-- decided on something that is no longer so; its code makes the commands be decided anew.
create function confirm(is_so boolean, what text) returns void language plpgsql as $$
begin
  if is_so is not true then
    raise exception '% changed since it was read', what using errcode = 'serialization_failure';
  end if;
end
$$;

-- Profiles that nobody may use, of which there are hardly any: to confirm that none of hundreds is one of them.
create index profiles_disabled on profiles (id) where status <> 'ACTIVE';
