-- online
-- What a bank or a chain says is on an account at a time, beside what the ledger says.
create table reconciliation_balances (
  id              uuid primary key,
  account         text not null,
  asset           text not null,
  at_ns           bigint not null,
  reference       text not null,   -- the statement or the block
  units           numeric(78, 0) not null,
  ledger_units    numeric(78, 0) not null,   -- of the same time, as the bank sees it
  actor           text not null,
  created_at_ns   bigint not null,
  unique (account, asset, at_ns, reference)
);
create index reconciliation_balances_by_time on reconciliation_balances (account, created_at_ns, id);
