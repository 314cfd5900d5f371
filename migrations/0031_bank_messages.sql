-- online
-- Messages between banks beside files of payments, and files that wait for a decision after the bank has refused them.

-- Networks prescribe how the ids of their messages look. Null: the digits of the file's id.
alter table bank_files add column message_id text;
create unique index bank_files_by_message on bank_files (rail, message_id) where message_id is not null;

-- HELD: the bank has refused the whole file, and an operator decides whether its payments are sent again.
alter table bank_files drop constraint bank_files_state_check;
alter table bank_files add constraint bank_files_state_check
  check (state in ('MADE', 'STAGED', 'UPLOADED', 'ACKNOWLEDGED', 'PART', 'REJECTED', 'ASKED', 'HELD'));

-- Credits that the network has announced and not settled yet. Settled ones are in bank_entries under the same id.
create table bank_announced (
  rail           text not null,
  message_id     text not null,
  report         text not null,            -- sealed: the entry, as it is booked once it has settled
  state          text not null default 'ANNOUNCED' check (state in ('ANNOUNCED', 'SETTLED', 'REFUSED')),
  received_id    uuid not null references bank_received,
  created_at_ns  bigint not null,
  primary key (rail, message_id)
);
