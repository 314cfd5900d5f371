-- The database enforces what it can. Nothing here is checked in the hot path but comparisons within a row.

alter table transfers
  add constraint transfers_total check (
    balance_asset <> asset
    or balance_units = amount_units + case direction when 'DEBIT' then fee_units else -fee_units end) not valid,
  add constraint transfers_inside_have_no_fee check (group_id is null or (fee_units = 0 and balance_asset = asset)) not valid;
alter table transfers validate constraint transfers_total;
alter table transfers validate constraint transfers_inside_have_no_fee;

-- A guaranteed fee is for one withdrawal, an arrival becomes one thing, and a suspense deposit ends once.
create unique index transfers_fee_used_once on transfers (fee_id) where fee_id is not null;
create unique index guaranteed_fees_used_once on guaranteed_fees (used_by) where used_by is not null;
drop index arrivals_of_transfers, suspense_deposits_of_transfers;
create unique index arrivals_of_transfers on arrivals (transfer_id) where transfer_id is not null;
create unique index arrivals_of_suspense_deposits on arrivals (suspense_deposit_id) where suspense_deposit_id is not null;
create unique index suspense_deposits_of_transfers on suspense_deposits (transfer_id) where transfer_id is not null;

-- Records that refer to each other, of tables that transfers inside the service do not write. Checked at commit, because the
-- rows of a batch are written in any order.
alter table arrivals
  add constraint arrivals_transfer foreign key (transfer_id) references transfers deferrable initially deferred,
  add constraint arrivals_suspense foreign key (suspense_deposit_id) references suspense_deposits
    deferrable initially deferred,
  add constraint arrivals_journal foreign key (journal_entry_id) references journal_entries deferrable initially deferred;
alter table suspense_deposits
  add constraint suspense_transfer foreign key (transfer_id) references transfers deferrable initially deferred,
  add constraint suspense_journal foreign key (journal_entry_id) references journal_entries deferrable initially deferred,
  add constraint suspense_returned_by foreign key (returned_by) references journal_entries deferrable initially deferred;
alter table journal_entries
  add constraint journal_transfer foreign key (transfer_id) references transfers deferrable initially deferred,
  add constraint journal_suspense foreign key (suspense_deposit_id) references suspense_deposits
    deferrable initially deferred;
alter table withdrawal_returns
  add constraint returns_transfer foreign key (transfer_id) references transfers deferrable initially deferred;
alter table guaranteed_fees
  add constraint fees_used_by foreign key (used_by) references transfers deferrable initially deferred;
alter table account_members
  add constraint members_account foreign key (account_id) references accounts deferrable initially deferred,
  add constraint members_identity foreign key (identity_id) references identities deferrable initially deferred;

-- Insert-only. Only `ferry repair-instants` moves entries, and only those that are ahead of the clock.
create trigger entries_never_change before update or truncate on entries
  for each statement execute function refuse_change();
create trigger entries_stay before delete on entries for each row
  when (old.at_ns <= (extract(epoch from now()) * 1000000)::bigint * 1000)
  execute function refuse_change();
create trigger audit_checkpoints_insert_only before update or delete or truncate on audit_checkpoints
  for each statement execute function refuse_change();
-- Of these only the state changes.
create trigger transfers_stay before delete or truncate on transfers for each statement execute function refuse_change();
create trigger transfers_keep_value
  before update of id, customer_id, profile_id, type, direction, asset, amount_units, fee_units, balance_asset, balance_units,
                   created_at_ns, group_id, fiat_account_id, crypto_network, destination_address, fee_id on transfers
  for each statement execute function refuse_change();
create trigger settlements_stay before delete or truncate on settlement_transactions
  for each statement execute function refuse_change();
create trigger settlements_keep_value
  before update of id, customer_id, target_customer_id, source_profile_id, target_profile_id, legs, created_at_ns
  on settlement_transactions for each statement execute function refuse_change();
create trigger suspense_deposits_stay before delete or truncate on suspense_deposits
  for each statement execute function refuse_change();
create trigger suspense_deposits_keep_value
  before update of id, rail, reference, asset, amount_units, created_at_ns, booked, journal_entry_id on suspense_deposits
  for each statement execute function refuse_change();
create trigger arrivals_keep_value before update on arrivals for each statement execute function refuse_change();
