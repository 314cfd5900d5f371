-- online
-- Reconciliation: what banks and chains say happened on an account, beside what the ledger says.

-- An account of the ledger that statements were imported for, from the start of the first one.
create table reconciled_accounts (
  account    text not null,
  asset      text not null,
  from_ns    bigint not null,
  copied_ns  bigint not null,     -- entries of the ledger up to here are items
  primary key (account, asset)
);

create table reconciliation_statements (
  id             uuid primary key,
  account        text not null,
  statement_id   text not null,   -- as the bank names it
  asset          text not null,
  format         text not null check (format in ('CAMT053', 'CSV')),
  digest         text not null,   -- of its lines: the same statement can be imported again
  line_count     integer not null,
  actor          text not null,
  created_at_ns  bigint not null,
  unique (account, statement_id)
);

-- Items that belong together: their amounts on both sides are equal.
create table reconciliation_matches (
  id             uuid primary key,
  account        text not null,
  actor          text,            -- null: matched by reference and amount
  reason         text,
  created_at_ns  bigint not null,
  removed_by     text,
  removed_because text,
  removed_at_ns  bigint
);

create table reconciliation_items (
  id             uuid primary key,
  side           text not null check (side in ('LEDGER', 'STATEMENT')),
  account        text not null,
  asset          text not null,
  units          numeric(38, 0) not null check (units <> 0),  -- positive: value came in, as the bank sees it
  reference      text not null,   -- as people know it
  created_at_ns  bigint not null, -- when it was booked
  cause_id       uuid,            -- of the entries of the ledger
  statement_id   uuid references reconciliation_statements,
  match_id       uuid references reconciliation_matches,
  constraint reconciliation_items_of_one_side check ((side = 'LEDGER') = (cause_id is not null)
    and (side = 'STATEMENT') = (statement_id is not null))
);
create unique index reconciliation_items_of_the_ledger on reconciliation_items (account, asset, cause_id, created_at_ns)
  where side = 'LEDGER';
create index reconciliation_open_items on reconciliation_items (account, side, created_at_ns, id) where match_id is null;
create index reconciliation_items_of_matches on reconciliation_items (match_id) where match_id is not null;

-- The normalized references of items: two items with one in common, and with equal amounts, belong together.
create table reconciliation_references (
  account  text not null,
  asset    text not null,
  ref      text not null,
  units    numeric(38, 0) not null,
  item_id  uuid not null references reconciliation_items,
  primary key (account, asset, ref, units, item_id)
);
