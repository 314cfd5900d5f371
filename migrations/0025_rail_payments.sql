-- Payments that rails with a queue of their own have accepted (chains, files for banks), and what rails have reported.

create table rail_payments (
  key             uuid primary key,         -- the transfer's id
  rail            text not null,
  asset           text not null,
  units           numeric(38, 0) not null check (units > 0),
  payment         jsonb not null,           -- sealed: destination, parties, memo
  state           text not null default 'ACCEPTED' check (state in ('ACCEPTED', 'COMPLETED', 'FAILED')),
  detail          text,                     -- of its end: shown to the customer
  tx_hash         text,
  tx_index        text,
  confirmations   integer,
  required        integer,
  accepted_at_ns  bigint not null,
  updated_at_ns   bigint not null,
  constraint rail_payments_end_with_a_detail check (state = 'ACCEPTED' or detail is not null)
);
-- Work of the rails: few rows, however many have ended.
create index rail_payments_open on rail_payments (rail, accepted_at_ns, key) where state = 'ACCEPTED';
create index rail_payments_by_change on rail_payments using brin (updated_at_ns) with (pages_per_range = 32, autosummarize = on);

-- Deleted once their effect is committed.
create table rail_notices (
  id             uuid primary key,
  rail           text not null,
  source_key     text not null,             -- the same report again has the same key
  notice         jsonb not null,            -- sealed
  created_at_ns  bigint not null,
  unique (rail, source_key)
);
create index rail_notices_by_time on rail_notices (rail, created_at_ns, id);
