-- The ledger: what everything else stands on.
--
-- Amounts are integers in the asset's smallest unit. Times that end in _ns are nanoseconds since 1970 (UTC).
-- Written for one server and for a distributed one alike: no sequence, no foreign key and no table lock in the
-- write path, and each hot row carries the profile that owns it.

-- What a profile has of an asset. The row is also the lock for all that happens to it: whoever moves value from or
-- to the profile holds this row until commit.
create table balances (
  profile_id   uuid not null,
  asset        text not null,
  available    numeric(38, 0) not null default 0,
  held         numeric(38, 0) not null default 0,
  -- Instant of the last entry. Entries of one row are strictly ordered in time, also when the clock goes back.
  moved_at_ns  bigint not null default 0,
  primary key (profile_id, asset),
  constraint balances_available_not_negative check (available >= 0),
  constraint balances_held_not_negative check (held >= 0)
) with (fillfactor = 50); -- room for updates in the same page: no index entry changes when a balance does

-- Both sides of every posting: a positive and a negative delta of one asset that share cause_id, at_ns and posting.
-- account: 'available' or 'held' of the owner's balance row, or an account of the service ('fees', 'clearing:wire').
-- Entries of the service's accounts carry the profile that caused them, so that they are stored beside it.
create table entries (
  owner_id       uuid not null,
  asset          text not null,
  account        text not null,
  at_ns          bigint not null,
  line           smallint not null,   -- order within one account and instant; credits before debits
  posting        smallint not null,   -- which of the cause's postings at that instant
  cause_id       uuid not null,       -- the transfer, transfer group or settlement that moved the value
  delta          numeric(38, 0) not null,
  balance_after  numeric(38, 0),
  primary key (owner_id, asset, account, at_ns, line),
  constraint entries_delta_not_zero check (delta <> 0),
  constraint entries_balance_after_not_negative check (balance_after >= 0),
  constraint entries_balance_after_of_profiles check ((account in ('available', 'held')) = (balance_after is not null))
);

create index entries_of_system_accounts on entries (account, asset, at_ns) where balance_after is null;

-- The accounts of the service may go negative and are never locked by the write path: each batch appends what it
-- changed, and a background job folds that into one row per account. Their balance is the sum of both tables.
create table system_balances (
  account  text not null,
  asset    text not null,
  balance  numeric not null,
  primary key (account, asset)
);

create table system_deltas (
  account  text not null,
  asset    text not null,
  delta    numeric not null
);

-- One row per ref_id ever accepted. The request is kept in canonical form, so that a replay can be told from
-- another request, and the answer can name what differs.
create table idempotency_keys (
  customer_id  uuid not null,
  space        text not null,
  ref_id       text not null,
  resource_id  uuid not null,
  request      text not null,
  primary key (customer_id, space, ref_id)
);
