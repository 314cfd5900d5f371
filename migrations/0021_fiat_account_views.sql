-- online
-- Who has seen the whole number of a fiat account, and which version of the account. Rows are only ever added.
create table fiat_account_views (
  id               uuid primary key,
  fiat_account_id  uuid not null,
  customer_id      uuid not null,   -- of the reviewer, not of the account's owner
  client_id        text not null,
  digest           text not null,   -- keyed: of what was shown, which cannot be found from it
  created_at_ns    bigint not null
);
create index fiat_account_views_by_account on fiat_account_views (fiat_account_id, created_at_ns, id);
