-- The operator's journal: movements of value that no customer requested, each with its reason, reference and actor.
--
-- A journal entry moves value itself, in its own postings (the entries of the ledger with cause_id = id are exactly
-- journal_postings), or through one transfer that it creates or ends (transfer_id), whose entries have the transfer as cause.
create table journal_entries (
  id                   uuid primary key,
  kind                 text not null check (kind in (
                         'OPENING_BALANCE', 'MANUAL_DEPOSIT', 'TREASURY_FUNDING', 'WITHDRAWAL_RETURN', 'SUSPENSE_CREDIT',
                         'SUSPENSE_RETURN', 'SWEEP', 'TREASURY_PAYOUT', 'WRITE_OFF', 'CORRECTION', 'REVERSAL',
                         'WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION')),
  customer_id          uuid not null,     -- the customer of the client that booked it
  actor                text not null,     -- that client
  ref_id               text not null,
  reason               text not null,     -- for operators only
  reference            text not null,     -- the bank's reference, the transaction, or the number of a case
  note                 text,              -- for the customers concerned
  created_at_ns        bigint not null,
  asset                text,
  amount_units         numeric(78, 0) check (amount_units > 0),
  rail                 text,
  account              text,              -- the operator's own account at the bank, or an address
  output_number        bigint check (output_number between 0 and 4294967295),
  -- What filters find it by.
  profile_ids          uuid[] not null,
  assets               text[] not null,
  -- What it corrects, reverses, returns or ends, as the operator named it.
  corrects_type        text check (corrects_type in ('TRANSFER', 'SETTLEMENT', 'JOURNAL_ENTRY')),
  corrects_id          uuid,
  corrects_leg_id      uuid,
  -- The cause of the entries that it corrects: the transfer or its group, the settlement or its leg, the journal entry.
  corrects_cause_id    uuid,
  transfer_id          uuid,
  suspense_deposit_id  uuid,
  outcome              text check (outcome in ('PAID', 'NOT_PAID')),
  unique (customer_id, ref_id),
  constraint journal_corrections_have_a_target check (
    num_nonnulls(corrects_type, corrects_id, corrects_cause_id) in (0, 3)
    and (kind not in ('CORRECTION', 'REVERSAL', 'WITHDRAWAL_RETURN', 'WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION')
         or corrects_id is not null)),
  constraint journal_resolutions_have_an_outcome check ((kind = 'WITHDRAWAL_RESOLUTION') = (outcome is not null)),
  constraint journal_arrivals_have_an_account check (
    kind not in ('OPENING_BALANCE', 'MANUAL_DEPOSIT', 'TREASURY_FUNDING', 'WITHDRAWAL_RETURN')
    or num_nonnulls(rail, account, asset, amount_units) = 4),
  constraint journal_entries_through_a_transfer check (
    (kind in ('MANUAL_DEPOSIT', 'SUSPENSE_CREDIT', 'WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION')) = (transfer_id is not null))
);
create unique index journal_one_reversal on journal_entries (corrects_cause_id) where kind = 'REVERSAL';
create index journal_by_cause on journal_entries (corrects_cause_id) where corrects_cause_id is not null;
create index journal_by_time on journal_entries (created_at_ns, id);
create index journal_by_kind on journal_entries (kind, created_at_ns, id);
create index journal_by_profile on journal_entries using gin (profile_ids);
create index journal_by_transfer on journal_entries (transfer_id) where transfer_id is not null;

create table journal_postings (
  journal_entry_id  uuid not null references journal_entries,
  posting           smallint not null,
  asset             text not null,
  units             numeric(38, 0) not null check (units > 0),
  from_account      text not null,
  from_profile_id   uuid,
  to_account        text not null,
  to_profile_id     uuid,
  primary key (journal_entry_id, posting),
  constraint journal_postings_from_profiles check ((from_account = 'available') = (from_profile_id is not null)),
  constraint journal_postings_to_profiles check ((to_account = 'available') = (to_profile_id is not null))
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is insert-only: book a correction or a reversal instead', tg_table_name;
end $$;
create trigger journal_entries_insert_only before update or delete or truncate on journal_entries
  for each statement execute function refuse_change();
create trigger journal_postings_insert_only before update or delete or truncate on journal_postings
  for each statement execute function refuse_change();

-- What came back of a withdrawal that was paid: never more than its amount.
create table withdrawal_returns (
  transfer_id     uuid primary key,
  amount_units    numeric(38, 0) not null check (amount_units > 0),
  returned_units  numeric(38, 0) not null,
  constraint withdrawal_returns_at_most_the_amount check (returned_units between 0 and amount_units)
);

-- A deposit that an operator booked by hand is an arrival as well, so that a rail that reports it later finds it.
alter table arrivals
  add column journal_entry_id uuid,        -- the journal entry that booked it by hand
  drop constraint arrivals_became_one_thing,
  add constraint arrivals_became_one_thing check (
    num_nonnulls(transfer_id, suspense_deposit_id) = 1
    or (journal_entry_id is not null and num_nonnulls(transfer_id, suspense_deposit_id) = 0));
create index arrivals_of_transfers on arrivals (transfer_id) where transfer_id is not null;
create index arrivals_of_journal_entries on arrivals (journal_entry_id) where journal_entry_id is not null;

alter table suspense_deposits
  add column journal_entry_id uuid,        -- the journal entry that put the value into suspense
  add column returned_by uuid,             -- the journal entry that returned it to the sender
  add constraint suspense_deposits_end_once check (num_nonnulls(transfer_id, returned_by) <= 1);
create index suspense_deposits_of_transfers on suspense_deposits (transfer_id) where transfer_id is not null;
