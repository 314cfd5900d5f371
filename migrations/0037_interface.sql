-- online
-- When a profile was last changed; null: never. Its updated_at is this, or the time of its creation.
alter table profiles add column changed_at_ns bigint;
create index profiles_by_update on profiles (customer_id, coalesce(changed_at_ns, created_at_ns), id);
create index profiles_by_account_update on profiles (customer_id, account_id, coalesce(changed_at_ns, created_at_ns), id)
  where account_id is not null;

-- The reason of the last review, as the customer is shown it.
alter table fiat_accounts add column reason text;

-- Lists with deleted accounts merge the indexes of the others with these.
create index fiat_accounts_deleted_by_status on fiat_accounts (customer_id, status, created_at_ns, id)
  where deleted_at_ns is not null;
create index fiat_accounts_deleted_by_status_update on fiat_accounts (customer_id, status, updated_at_ns, id)
  where deleted_at_ns is not null;
create index fiat_accounts_deleted_by_identity on fiat_accounts (customer_id, identity_id, created_at_ns, id)
  where deleted_at_ns is not null and identity_id is not null;
create index fiat_accounts_deleted_by_identity_update on fiat_accounts (customer_id, identity_id, updated_at_ns, id)
  where deleted_at_ns is not null and identity_id is not null;
create index fiat_accounts_deleted_by_account on fiat_accounts (customer_id, account_id, created_at_ns, id)
  where deleted_at_ns is not null and account_id is not null;
create index fiat_accounts_deleted_by_account_update on fiat_accounts (customer_id, account_id, updated_at_ns, id)
  where deleted_at_ns is not null and account_id is not null;

create index deposit_addresses_by_identity on deposit_addresses (customer_id, identity_id, created_at_ns, id)
  where identity_id is not null;
create index fiat_deposit_instructions_by_identity on fiat_deposit_instructions (customer_id, identity_id, created_at_ns, id)
  where identity_id is not null;

-- Conversions between USD and the operator-minted stablecoin, one to one. A conversion never changes.
create table conversions (
  id               uuid primary key,
  customer_id      uuid not null,
  profile_id       uuid not null references profiles,
  source_asset     text not null,
  source_units     numeric(38, 0) not null check (source_units > 0),
  source_decimals  smallint not null check (source_decimals >= 0),
  target_asset     text not null check (target_asset <> source_asset),
  target_units     numeric(38, 0) not null check (target_units > 0),
  target_decimals  smallint not null check (target_decimals >= 0),
  ref_id           text,
  identity_id      uuid,
  account_id       uuid,
  metadata         jsonb,
  created_at_ns    bigint not null,
  constraint conversions_keep_the_value check (
    source_units * power(10::numeric, target_decimals) = target_units * power(10::numeric, source_decimals))
);
create index conversions_by_customer on conversions (customer_id, created_at_ns, id);
create index conversions_by_profile on conversions (customer_id, profile_id, created_at_ns, id);
create index conversions_by_change on conversions using brin (created_at_ns) with (pages_per_range = 32, autosummarize = on);

do $$
begin
  execute 'create or replace view expected_postings as ' || rtrim(pg_get_viewdef('expected_postings'::regclass), '; ') || $part$
  union all
  select 'conversion', c.id, c.id, c.created_at_ns, c.created_at_ns, c.source_asset, c.source_units,
         'available', c.profile_id, 'conversion', null::uuid
  from conversions c
  union all
  select 'conversion', c.id, c.id, c.created_at_ns, c.created_at_ns, c.target_asset, c.target_units,
         'conversion', null::uuid, 'available', c.profile_id
  from conversions c
  $part$;
  execute 'create or replace view record_faults as ' || rtrim(pg_get_viewdef('record_faults'::regclass), '; ') || $part$
  union all
  select 'conversion-agrees', 'conversion', c.id::text, c.created_at_ns, 'its profile belongs to another customer'
  from conversions c join profiles p on p.id = c.profile_id where p.customer_id <> c.customer_id
  $part$;
end $$;
