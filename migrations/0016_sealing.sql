-- Secrets and personal data are sealed by the service, because no key is in the database. A sealed value in a column of type
-- jsonb is a JSON string. The service seals the rows from before in the background; here is how far it has come.
create table sealing_progress (
  name             text primary key,             -- the table
  after_key        text not null default '',     -- of the last row that was looked at
  leased_until_ns  bigint not null default 0,    -- a node is sealing the next rows
  finished         boolean not null default false
);
insert into sealing_progress (name, finished)
values ('signing_keys', not exists (select from signing_keys)),
       ('identities', not exists (select from identities)),
       ('fiat_accounts', not exists (select from fiat_accounts)),
       ('withdrawal_work', not exists (select from withdrawal_work)),
       ('transfers', not exists (select from transfers)),
       ('event_groups', not exists (select from event_groups)),
       ('webhook_deliveries', not exists (select from webhook_deliveries)),
       ('sandbox_payments', not exists (select from sandbox_payments)),
       ('idempotency_keys', not exists (select from idempotency_keys));
