-- What users see: customers and who may act for them, profiles, identities, transfers, settlements, events.

create table customers (
  id             uuid primary key,
  name           text not null unique,
  integration    text not null check (integration in ('FIRST_PARTY', 'THIRD_PARTY')),
  created_at_ns  bigint not null
);

-- OAuth2 clients. Secrets are kept as scrypt hashes only.
create table clients (
  id              text primary key,
  customer_id     uuid not null references customers,
  name            text not null,
  scopes          text[] not null,
  secret_hash     text not null,
  created_at_ns   bigint not null,
  disabled_at_ns  bigint
);
create index clients_by_customer on clients (customer_id);

-- Keys that sign access tokens, shared by all nodes. A retired key still verifies until its last token has expired.
create table signing_keys (
  id             text primary key,
  private_jwk    jsonb not null,
  public_jwk     jsonb not null,
  created_at_ns  bigint not null,
  retired_at_ns  bigint
);

create table identities (
  id                   uuid primary key,
  customer_id          uuid not null,
  type                 text not null check (type in ('PERSON', 'INSTITUTION')),
  person_details       jsonb,
  institution_details  jsonb,
  status               text not null check (status in ('APPROVED', 'DISABLED')),
  ref_id               text,
  metadata             jsonb,
  created_at_ns        bigint not null,
  updated_at_ns        bigint not null,
  constraint identities_one_kind_of_details check ((type = 'PERSON') = (person_details is not null)
                                                and (type = 'INSTITUTION') = (institution_details is not null))
);
create index identities_by_customer on identities (customer_id, created_at_ns, id);
create index identities_by_update on identities (customer_id, updated_at_ns, id);

create table accounts (
  id             uuid primary key,
  customer_id    uuid not null,
  identity_id    uuid not null,
  type           text not null,
  description    text,
  profile_id     uuid,
  ref_id         text,
  metadata       jsonb,
  created_at_ns  bigint not null,
  updated_at_ns  bigint not null
);
create index accounts_by_customer on accounts (customer_id, created_at_ns, id);
create index accounts_by_update on accounts (customer_id, updated_at_ns, id);

create table account_members (
  id             uuid primary key,
  customer_id    uuid not null,
  account_id     uuid not null,
  identity_id    uuid not null,
  roles          text[] not null check (cardinality(roles) > 0),
  created_at_ns  bigint not null,
  unique (account_id, identity_id)
);

create table profiles (
  id             uuid primary key,
  customer_id    uuid not null,
  nickname       text not null,
  type           text not null check (type in ('DEFAULT', 'NORMAL')),
  description    text,
  account_id     uuid,
  status         text not null default 'ACTIVE' check (status in ('ACTIVE', 'DISABLED')),
  created_at_ns  bigint not null,
  unique (customer_id, nickname)
);
create index profiles_by_customer on profiles (customer_id, created_at_ns, id);
create unique index profiles_one_default on profiles (customer_id) where type = 'DEFAULT';

create table fiat_accounts (
  id                         uuid primary key,
  customer_id                uuid not null,
  status                     text not null check (status in ('PENDING', 'APPROVED', 'REJECTED')),
  kind                       text not null check (kind in ('wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit')),
  fiat_account_owner         jsonb not null,
  fiat_network_instructions  jsonb not null,
  ref_id                     text,
  identity_id                uuid,
  account_id                 uuid,
  metadata                   jsonb,
  created_at_ns              bigint not null,
  updated_at_ns              bigint not null,
  deleted_at_ns              bigint
);
create index fiat_accounts_by_customer on fiat_accounts (customer_id, created_at_ns, id);
-- The queue of the operators who review.
create index fiat_accounts_pending on fiat_accounts (created_at_ns, id) where status = 'PENDING' and deleted_at_ns is null;

create table transfers (
  id                   uuid primary key,
  customer_id          uuid not null,
  profile_id           uuid not null,
  type                 text not null,
  direction            text not null check (direction in ('CREDIT', 'DEBIT')),
  status               text not null check (status in ('PENDING', 'COMPLETED', 'FAILED')),
  asset                text not null,
  amount_units         numeric(38, 0) not null check (amount_units > 0),
  fee_units            numeric(38, 0) not null check (fee_units >= 0),
  -- What the balance changes by, and in which asset: differs from asset only where the transfer converts.
  balance_asset        text not null,
  balance_units        numeric(38, 0) not null check (balance_units > 0),
  created_at_ns        bigint not null,
  updated_at_ns        bigint not null,
  identity_id          uuid,
  account_id           uuid,
  ref_id               text,
  group_id             uuid,
  metadata             jsonb,
  memo                 text,
  fiat_account_id      uuid,
  destination_address  text,
  crypto_network       text,
  crypto_tx_hash       text,
  crypto_tx_index      text,
  notional_value       text,
  secondary_status     jsonb,
  status_details       jsonb,
  beneficiary          jsonb,
  fee_id               uuid
);
create index transfers_by_customer on transfers (customer_id, created_at_ns, id);
create index transfers_by_update on transfers (customer_id, updated_at_ns, id);
create index transfers_by_tx_hash on transfers (crypto_tx_hash) where crypto_tx_hash is not null;
create index transfers_by_profile on transfers (profile_id, created_at_ns, id);
create index transfers_by_group on transfers (group_id) where group_id is not null;
create index transfers_pending on transfers (profile_id, balance_asset) where status = 'PENDING';

-- What pending withdrawals reserve; the audit holds it against the ledger.
create view expected_holds as
  select profile_id, balance_asset as asset, balance_units as units
  from transfers where status = 'PENDING' and direction = 'DEBIT';

-- A promise of a fee for one withdrawal.
create table guaranteed_fees (
  id                   uuid primary key,
  customer_id          uuid not null,
  asset                text not null,
  crypto_network       text not null,
  destination_address  text not null,
  amount_units         numeric(38, 0) not null check (amount_units > 0),
  fee_units            numeric(38, 0) not null check (fee_units >= 0),
  created_at_ns        bigint not null,
  expires_at_ns        bigint not null,
  used_by              uuid
);

create table settlement_transactions (
  id                  uuid primary key,
  customer_id         uuid not null,        -- owner of the source profile
  target_customer_id  uuid not null,
  ref_id              text not null,
  source_profile_id   uuid not null,
  target_profile_id   uuid not null,
  window_start_ns     bigint not null,
  window_end_ns       bigint not null,
  status              text not null check (status in ('PENDING', 'SETTLED', 'EXPIRED', 'CANCELLED', 'AFFIRMED')),
  secondary_status    jsonb,
  -- [{id, direction, asset, units}], units as text; at most 100, always read and written together
  legs                jsonb not null,
  created_at_ns       bigint not null,
  updated_at_ns       bigint not null,
  constraint settlement_window_is_not_empty check (window_end_ns > window_start_ns),
  constraint settlement_parties_differ check (source_profile_id <> target_profile_id)
);
create index settlement_by_customer on settlement_transactions (customer_id, created_at_ns, id);
create index settlement_by_target on settlement_transactions (target_customer_id, created_at_ns, id);
create unique index settlement_by_ref_id on settlement_transactions (customer_id, ref_id);
create index settlement_by_update on settlement_transactions (customer_id, updated_at_ns, id);
create index settlement_by_target_update on settlement_transactions (target_customer_id, updated_at_ns, id);

-- Every change of state, in the transaction that made it. The resource is kept whole, as it was.
create table events (
  id             uuid primary key,
  customer_id    uuid not null,
  type           text not null,
  resource_id    uuid not null,
  at_ns          bigint not null,
  resource       json not null
);

-- Facts about the installation itself, such as that the sandbox has its demo data.
create table installation (
  name   text primary key,
  value  text not null
);
