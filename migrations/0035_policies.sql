-- online
-- Withdrawal policies. A change appends a version; a version never changes.
create table policies (
  id              uuid primary key,
  customer_id     uuid,                     -- whose withdrawals, and who may change it; null: the operator's, for all customers
  name            text not null,
  version         integer not null check (version > 0),
  enabled         boolean not null,
  created_at_ns   bigint not null,
  updated_at_ns   bigint not null
);
create unique index policies_by_name on policies (customer_id, name) nulls not distinct;
create index policies_by_time on policies (created_at_ns, id);

create table policy_versions (
  policy_id      uuid not null references policies,
  version        integer not null check (version > 0),
  document       jsonb not null,
  enabled        boolean not null,
  changed_by     text not null,             -- 'client:…'
  reason         text not null,
  created_at_ns  bigint not null,
  primary key (policy_id, version)
);

-- Incremented by every change of the policies of an owner: a withdrawal is decided on the policies that are in force.
create table policy_epochs (
  owner  text primary key,                  -- 'operator', or the id of the customer
  epoch  bigint not null
);

-- Destinations that a customer has listed, or used for the first time.
create table policy_destinations (
  customer_id   uuid not null,
  destination   text not null,              -- 'BITCOIN/bc1…', 'fiat_account/01981b41-…'
  id            uuid not null unique,
  listed        boolean not null,           -- false: only used
  label         text,
  added_by      text not null,
  created_at_ns bigint not null,
  primary key (customer_id, destination)
);
create index policy_destinations_by_time on policy_destinations (customer_id, created_at_ns, id) where listed;

-- What withdrawals use of the limits. Kept for 31 days.
create table withdrawal_uses (
  transfer_id  uuid primary key,
  customer_id  uuid not null,
  profile_id   uuid not null,
  rail         text not null,
  asset        text not null,
  units        numeric(38, 0) not null check (units > 0),
  destination  text not null,
  at_ns        bigint not null,
  released     boolean not null default false   -- the withdrawal has FAILED: it uses nothing
);
create index withdrawal_uses_by_customer on withdrawal_uses (customer_id, asset, at_ns) include (units, profile_id, rail) where not released;
create index withdrawal_uses_by_profile on withdrawal_uses (profile_id, asset, at_ns) include (units, rail) where not released;
create index withdrawal_uses_by_asset on withdrawal_uses (asset, at_ns) include (units, customer_id, rail) where not released;
create index withdrawal_uses_by_time on withdrawal_uses (at_ns);

-- What a withdrawal still waits for because of a policy; null if nothing.
alter table withdrawal_work add column holds jsonb;
create index withdrawal_work_held on withdrawal_work (transfer_id) where holds is not null;

-- What operators may know about a withdrawal and its customer may not: reasons of rails, of screening and of people.
create table withdrawal_notes (
  id           uuid primary key,
  transfer_id  uuid not null,
  kind         text not null,
  detail       text not null,               -- sealed
  noted_by     text not null,
  at_ns        bigint not null
);
create index withdrawal_notes_of_transfer on withdrawal_notes (transfer_id, at_ns, id);

-- Why a payment failed, for operators; `detail` is what the customer is shown.
alter table rail_payments add column private_detail text;

-- The names of customers, for the originators of payments.
create view customer_names as select id, name from customers;
