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
  fee_asset       text not null,            -- the coin that the network is paid with
  assigned_at_ns  bigint not null,
  updated_at_ns   bigint not null,
  constraint chain_assignments_end_with_a_transaction check (
    (state in ('SUCCEEDED', 'FAILED')) = (num_nonnulls(tx_hash, fee_units) = 2))
);
-- A slot has one assignment, and beside it at most the cancellation that uses up the slot in its place.
create unique index chain_assignments_slot on chain_assignments (network, lane, slot, (purpose = 'CANCELLATION'));
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
  spent_height bigint,                      -- of the block that spends it
  primary key (network, tx_hash, output)
);
create index chain_coins_free on chain_coins (network, height) where assignment_id is null and spent_height is null;
create index chain_coins_by_height on chain_coins (network, height);
create index chain_coins_spent on chain_coins (network, spent_height) where spent_height is not null;
create index chain_coins_of_assignment on chain_coins (assignment_id) where assignment_id is not null;

-- The slot after the last one: a number on networks that count transactions.
create index chain_assignments_by_number on chain_assignments (network, lane, (slot::numeric)) where slot ~ '^[0-9]+$';

-- Payments that an assignment has taken. The others wait.
alter table rail_payments add column taken boolean not null default false;
create index rail_payments_waiting on rail_payments (rail, accepted_at_ns, key) where state = 'ACCEPTED' and not taken;

-- Which node keeps a lane, or scans a network. A node that has lost its lease can commit nothing.
create table chain_leases (
  network         text not null,
  task            text not null,            -- the lane, or 'scanner'
  holder          uuid not null,
  leased_until_ns bigint not null,
  primary key (network, task)
);

-- Why a lane or the scanner does not go on.
create table chain_stops (
  network         text not null,
  task            text not null,
  code            text not null,
  reason          text not null,
  since_ns        bigint not null,
  needs_operator  boolean not null,         -- otherwise it ends by itself
  primary key (network, task)
);

-- The account that deposit addresses are derived from, and how many there are.
create table chain_accounts (
  network      text primary key,
  xpub         text not null,               -- without hierarchical keys: the first address of the signer's list
  next_number  bigint not null default 0
);

create table chain_addresses (
  network        text not null,
  number         bigint not null,
  id             uuid not null,             -- what the address was asked for
  address        text not null,
  path           text not null,
  created_at_ns  bigint not null,
  primary key (network, number),
  unique (network, id),
  unique (network, address)
);

-- The last blocks that were scanned, so that a reorganisation is noticed.
create table chain_blocks (
  network      text not null,
  height       bigint not null,
  hash         text not null,
  primary key (network, height)
);

-- What blocks paid to our addresses. Rows of blocks that were reorganised away are deleted, unless they were reported.
create table chain_deposits (
  network      text not null,
  tx_hash      text not null,
  place        text not null,               -- the output; otherwise the address and asset
  output       bigint,
  address      text not null,
  asset        text not null,
  units        numeric(78, 0) not null check (units > 0),
  height       bigint not null,
  reported     boolean not null default false,
  primary key (network, tx_hash, place)
);
create index chain_deposits_waiting on chain_deposits (network, height) where not reported;
create index chain_deposits_by_height on chain_deposits (network, height);

-- The audit knows what networks were paid, and what rails and chains say about withdrawals. The views gain parts; the parts of
-- other capabilities stay as they are.
do $$
begin
  execute 'create or replace view expected_postings as ' || rtrim(pg_get_viewdef('expected_postings'::regclass), '; ') || $part$
  union all
  select 'chain assignment', a.id, a.id, a.assigned_at_ns, a.updated_at_ns, a.fee_asset, a.fee_units,
         'network-fees:' || lower(a.network), null::uuid, 'clearing:' || lower(a.network), null::uuid
  from chain_assignments a where a.state in ('SUCCEEDED', 'FAILED') and a.fee_units > 0
  $part$;
  execute 'create or replace view record_faults as ' || rtrim(pg_get_viewdef('record_faults'::regclass), '; ') || $part$
  union all
  select 'payment-agrees', 'rail payment', p.key::text, p.updated_at_ns,
         format('%s units of %s were accepted: no such withdrawal was sent over that rail', p.units, p.asset)
  from rail_payments p
  left join transfers t on t.id = p.key
  left join fiat_accounts f on f.id = t.fiat_account_id
  where (t.direction, t.asset, t.amount_units::numeric, coalesce(t.crypto_network, f.kind))
        is distinct from ('DEBIT', p.asset, p.units, p.rail)
  union all
  select 'payment-agrees', 'chain assignment', a.id::text, a.updated_at_ns,
         format('it pays %s units of %s for %s, and that payment does not agree', o.units, o.asset, o.key)
  from chain_assignments a
  join chain_assignment_payments o on o.assignment_id = a.id
  left join rail_payments p on p.key = o.key
  where (p.rail, p.asset, p.units) is distinct from (a.network, o.asset, o.units)
     or (o.active and p.state is distinct from case a.state when 'SUCCEEDED' then 'COMPLETED' when 'FAILED' then 'FAILED'
                                               else 'ACCEPTED' end)
     or o.active = (a.state = 'SUPERSEDED')
  $part$;
end $$;
