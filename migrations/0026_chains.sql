-- What the service sends over chains, and what it finds on them.

-- An assignment is one transaction on a chain, whatever its version: the payments that it makes, and the nonce, coins or durable
-- nonce that only one transaction can use. It is committed before anything is signed.
create table chain_assignments (
  id              uuid primary key,
  network         text not null,
  lane            text not null,            -- the sending address, or the name of the wallet
  purpose         text not null check (purpose in ('PAYMENTS', 'CANCELLATION', 'SWEEP', 'TO_COLD', 'UPKEEP')),
  slot            text,                     -- null if only the coins make it unique
  details         jsonb not null,
  state           text not null default 'ASSIGNED' check (state in ('ASSIGNED', 'SUCCEEDED', 'FAILED', 'SUPERSEDED')),
  tx_hash         text,                     -- of the version that was executed
  fee_units       numeric(78, 0) check (fee_units >= 0),
  assigned_at_ns  bigint not null,
  updated_at_ns   bigint not null,
  unique (network, lane, slot),
  constraint chain_assignments_end_with_a_transaction check (
    (state in ('SUCCEEDED', 'FAILED')) = (num_nonnulls(tx_hash, fee_units) = 2))
);
create index chain_assignments_open on chain_assignments (network, lane, assigned_at_ns, id) where state = 'ASSIGNED';
create index chain_assignments_by_change on chain_assignments using brin (updated_at_ns)
  with (pages_per_range = 32, autosummarize = on);

create table chain_assignment_payments (
  assignment_id  uuid not null references chain_assignments,
  position       integer not null,          -- of its output or instruction
  key            uuid not null references rail_payments,
  asset          text not null,
  units          numeric(38, 0) not null check (units > 0),
  address        text not null,
  active         boolean not null default true,   -- false once the chain has proven that it can never be executed
  primary key (assignment_id, position)
);
-- A payment has one assignment that can be executed, or none.
create unique index chain_assignment_of_payment on chain_assignment_payments (key) where active;

create table chain_versions (
  assignment_id    uuid not null references chain_assignments,
  number           integer not null,
  hash             text not null,
  bytes            text not null,           -- only stored bytes are ever broadcast
  fee_units_max    numeric(78, 0) not null,
  fee_rate         numeric(78, 0) not null,
  signed_at_ns     bigint not null,
  broadcast_at_ns  bigint,
  primary key (assignment_id, number)
);
create index chain_versions_by_hash on chain_versions (hash);

-- Outputs that the keys of the wallet can spend (UTXO networks).
create table chain_coins (
  network      text not null,
  tx_hash      text not null,
  output       bigint not null,
  units        numeric(38, 0) not null check (units > 0),
  address      text not null,
  path         text not null,
  height       bigint,                      -- null while it is in no block
  assignment_id uuid references chain_assignments,  -- which spends it
  primary key (network, tx_hash, output)
);
create index chain_coins_free on chain_coins (network, height) where assignment_id is null;
create index chain_coins_of_assignment on chain_coins (assignment_id) where assignment_id is not null;
