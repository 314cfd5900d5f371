-- Files that are exchanged with banks.

-- Payments that a file has taken. The others wait.
alter table rail_payments add column if not exists taken boolean not null default false;
create index if not exists rail_payments_waiting on rail_payments (rail, accepted_at_ns, key) where state = 'ACCEPTED' and not taken;

-- Which node exchanges files with the bank.
create table bank_leases (
  rail             text primary key,
  holder           uuid not null,
  leased_until_ns  bigint not null
);

-- A file of payments. Its bytes are committed before anything of it is sent, and never change.
create table bank_files (
  id              uuid primary key,         -- its digits are the message id
  rail            text not null,
  name            text not null,
  bytes           text not null,            -- sealed
  sha256          text not null,
  payments        integer not null check (payments > 0),
  units           numeric(38, 0) not null check (units > 0),
  execution_date  text not null,
  state           text not null default 'MADE'
                  check (state in ('MADE', 'STAGED', 'UPLOADED', 'ACKNOWLEDGED', 'PART', 'REJECTED', 'ASKED')),
  staged_as       text,                     -- the name under which it lies at the bank before it counts
  detail          text,                     -- what the bank said last
  made_at_ns      bigint not null,
  uploaded_at_ns  bigint,
  updated_at_ns   bigint not null,
  unique (rail, name),
  constraint bank_files_are_staged_under_a_name check (state <> 'STAGED' or staged_as is not null)
);
create index bank_files_to_send on bank_files (rail, id) where state in ('MADE', 'STAGED');
create index bank_files_unanswered on bank_files (rail, uploaded_at_ns) where state in ('UPLOADED', 'ASKED');

create table bank_file_payments (
  file_id  uuid not null references bank_files,
  key      uuid not null references rail_payments,
  units    numeric(38, 0) not null check (units > 0),
  outcome  text check (outcome in ('COMPLETED', 'FAILED')),
  primary key (file_id, key)
);
-- A payment is in one file: a refused one fails, and is not sent again.
create unique index bank_file_of_payment on bank_file_payments (key);

-- What the bank has sent. The same bytes have an effect once; unacceptable ones have none, and are kept with the reason.
create table bank_received (
  id              uuid primary key,
  rail            text not null,
  name            text not null,
  sha256          text not null,
  bytes           text,                     -- sealed; null if the file was too large to take
  message         text,                     -- 'camt.053'
  error           text,
  received_at_ns  bigint not null,
  unique (rail, sha256)
);
create index bank_received_aside on bank_received (rail, received_at_ns) where error is not null;

-- Booked entries of the account. A notification and a statement have the same ones.
create table bank_entries (
  rail            text not null,
  account         text not null,
  reference       text not null,            -- the bank's own
  direction       text not null check (direction in ('CRDT', 'DBIT')),
  asset           text not null,
  units           numeric(38, 0) not null check (units > 0),
  booked_on       text not null,
  effect          text not null check (effect in ('DEPOSIT', 'RETURN', 'PAYMENT', 'NONE')),
  key             uuid,                     -- of the payment that it is about
  details         text not null,            -- sealed: who sent it, and what is written on it
  received_id     uuid not null references bank_received,
  statement_id    text,                     -- of the statement that has it
  created_at_ns   bigint not null,
  primary key (rail, account, reference, direction)
);
create index bank_entries_of_statements on bank_entries (rail, account, statement_id);
create index bank_entries_of_payments on bank_entries (key) where effect = 'PAYMENT';

create table bank_statements (
  rail            text not null,
  account         text not null,
  statement_id    text not null,
  received_id     uuid not null references bank_received,
  asset           text not null,
  opening_units   numeric(38, 0) not null,
  closing_units   numeric(38, 0) not null,
  closing_date    text not null,
  reconciled      boolean not null default false,   -- its lines are beside the ledger
  compared        boolean not null default false,   -- its closing balance was compared with the ledger of that time
  created_at_ns   bigint not null,
  primary key (rail, account, statement_id)
);
create index bank_statements_unreconciled on bank_statements (rail, created_at_ns) where not reconciled or not compared;

-- What an operator has to look at: what the bank says and Ferry cannot explain.
create table bank_findings (
  id              uuid primary key,
  rail            text not null,
  source_key      text not null,            -- the same finding again has the same key
  kind            text not null,
  finding         text not null,            -- a sentence, without names and account numbers
  received_id     uuid references bank_received,
  created_at_ns   bigint not null,
  unique (rail, source_key)
);
create index bank_findings_by_time on bank_findings (rail, created_at_ns);
