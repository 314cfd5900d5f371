-- online
-- Treasury: what the service moves between its own wallets, and what it holds where.

-- What an assignment moves that pays no withdrawal: sweeps, gas for them, and what goes to the cold wallet.
create table chain_moves (
  assignment_id  uuid not null references chain_assignments,
  position       integer not null,
  asset          text not null,
  units          numeric(38, 0) not null check (units > 0),
  address        text not null,             -- where it goes
  primary key (assignment_id, position)
);

-- Of the block that has the transaction: what a block shows is compared with what was booked up to it.
alter table chain_assignments add column height bigint;

-- What deposit addresses hold. A row is read again after a block that changed it.
create table chain_unswept (
  network         text not null,
  address         text not null,
  asset           text not null,
  path            text not null,
  units           numeric(78, 0) not null default 0,
  changed_height  bigint not null,
  read_height     bigint not null default -1,
  primary key (network, address, asset)
);

-- The last look at the wallets of a network, at a final block.
create table chain_wallets (
  network           text not null,
  asset             text not null,
  hot_units         numeric(78, 0) not null,
  cold_units        numeric(78, 0),          -- null without a cold address
  height            bigint not null,
  hash              text not null,
  observed_at_ns    bigint not null,
  gas_payments      bigint,                  -- of the coin: payments whose fee the poorest lane can pay
  difference_units  numeric(78, 0) not null, -- what the chain has more than the ledger explains
  differs_since_ns  bigint,                  -- null while there is no difference
  primary key (network, asset)
);

-- What the cold wallet has paid to the hot one.
create table chain_refills (
  id             uuid primary key,
  network        text not null,
  tx_hash        text not null,
  place          text not null,
  asset          text not null,
  units          numeric(38, 0) not null check (units > 0),
  fee_asset      text not null,
  fee_units      numeric(38, 0) not null check (fee_units >= 0),
  height         bigint not null,
  booked         boolean not null default false,
  seen_at_ns     bigint not null,
  updated_at_ns  bigint not null,
  unique (network, tx_hash, place)
);
create index chain_refills_waiting on chain_refills (network, height) where not booked;
create index chain_refills_by_height on chain_refills (network, height);
create index chain_refills_by_change on chain_refills using brin (updated_at_ns)
  with (pages_per_range = 32, autosummarize = on);

-- The accounts of the service that mirror wallets.
create view treasury_ledger as
  select account, asset, sum(part) as units
  from (select account, asset, balance as part from system_balances
        union all select account, asset, delta from system_deltas) as parts
  where account like 'clearing:%' or account like 'cold:%' or account like 'network-fees:%'
  group by account, asset;

-- Payments that chains have made, and whether the ledger shows them.
create view treasury_payments as
  select a.network, p.asset, p.units, a.height, a.updated_at_ns, t.status <> 'PENDING' as booked
  from chain_assignments a
  join chain_assignment_payments p on p.assignment_id = a.id and p.active
  join transfers t on t.id = p.key
  where a.state = 'SUCCEEDED';

-- Deposits that were reported, and whose effect is not committed yet.
create view treasury_notices as
  select d.network, d.asset, d.units
  from rail_notices n
  join chain_deposits d on d.network = n.rail and d.tx_hash = split_part(n.source_key, ' ', 1)
                       and d.tx_hash || ' ' || d.place = n.source_key;

do $$
begin
  execute 'create or replace view expected_postings as ' || rtrim(pg_get_viewdef('expected_postings'::regclass), '; ') || $part$
  union all
  select 'chain assignment', a.id, a.id, a.assigned_at_ns, a.updated_at_ns, m.asset, m.units,
         'cold:' || lower(a.network), null::uuid, 'clearing:' || lower(a.network), null::uuid
  from chain_assignments a join chain_moves m on m.assignment_id = a.id
  where a.purpose = 'TO_COLD' and a.state = 'SUCCEEDED'
  union all
  select 'chain refill', r.id, r.id, r.seen_at_ns, r.updated_at_ns, r.asset, r.units,
         'clearing:' || lower(r.network), null::uuid, 'cold:' || lower(r.network), null::uuid
  from chain_refills r where r.booked
  union all
  select 'chain refill', r.id, r.id, r.seen_at_ns, r.updated_at_ns, r.fee_asset, r.fee_units,
         'network-fees:' || lower(r.network), null::uuid, 'cold:' || lower(r.network), null::uuid
  from chain_refills r where r.booked and r.fee_units > 0
  $part$;
  execute 'create or replace view record_faults as ' || rtrim(pg_get_viewdef('record_faults'::regclass), '; ') || $part$
  union all
  select 'move-agrees', 'chain assignment', a.id::text, a.updated_at_ns,
         format('its purpose is %s, and it has %s moves', a.purpose, (select count(*) from chain_moves m where m.assignment_id = a.id))
  from chain_assignments a
  where (a.purpose = 'TO_COLD' and (select count(*) from chain_moves m where m.assignment_id = a.id) <> 1)
     or (a.purpose in ('PAYMENTS', 'CANCELLATION') and exists (select from chain_moves m where m.assignment_id = a.id))
  $part$;
end $$;
