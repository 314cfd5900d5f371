-- The audit joins cause and effect: every entry belongs to one record, and every record has exactly its entries.

-- Append-only tables are in the order of time, so a block range index finds what is new, and costs inserts next to nothing.
create index entries_by_time on entries using brin (at_ns) with (pages_per_range = 32, autosummarize = on);
create index transfers_by_change on transfers using brin (updated_at_ns) with (pages_per_range = 32, autosummarize = on);
create index settlement_by_change on settlement_transactions using brin (updated_at_ns)
  with (pages_per_range = 32, autosummarize = on);

create index guaranteed_fees_by_expiry on guaranteed_fees using brin (expires_at_ns);
create index sandbox_payments_by_time on sandbox_payments using brin (accepted_at_ns);

-- Every table has a primary key: without one, a publication for all tables makes updates and deletes fail.
alter table system_deltas add column id uuid primary key default gen_random_uuid();
alter table arrivals
  add column id uuid primary key default gen_random_uuid(),
  add column recorded_at_ns bigint not null default (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000;
create index arrivals_by_time on arrivals (recorded_at_ns);

-- The credit side of a transfer inside the service, from the id of its debit side: they differ in the last digit.
create function credit_side(debit_id uuid) returns uuid language sql immutable parallel safe as $$
  select overlay(debit_id::text placing translate(right(debit_id::text, 1), '159d', '26ae') from 36)::uuid
$$;
-- The debit side, from the id of the group, which is the cause of its entries.
create function debit_side(group_id uuid) returns uuid language sql immutable parallel safe as $$
  select overlay(group_id::text placing translate(right(group_id::text, 1), '048c', '159d') from 36)::uuid
$$;

-- The postings that the records of all capabilities require, in their present state. A capability whose records move value
-- contributes a part. record_id is a primary key; entries of the record are at since_ns or later.
create view expected_postings as
  -- Transfers inside the service. The cause of both sides is their group.
  select 'transfer' as record, d.id as record_id, d.group_id as cause_id, d.created_at_ns as since_ns,
         d.updated_at_ns as changed_at_ns, d.asset, d.amount_units as units,
         'available' as from_account, d.profile_id as from_profile_id,
         'available' as to_account, c.profile_id as to_profile_id
  from transfers d left join transfers c on c.id = credit_side(d.id)
  where d.group_id is not null and d.direction = 'DEBIT'
  union all
  -- Withdrawals: the total is held; in the end it is paid and charged, or returns.
  select 'transfer', t.id, t.id, t.created_at_ns, t.updated_at_ns, p.asset, p.units, p.from_account, p.from_profile_id,
         p.to_account, p.to_profile_id
  from transfers t
  left join fiat_accounts f on f.id = t.fiat_account_id
  cross join lateral (values
    (true, t.balance_asset, t.balance_units, 'available', t.profile_id, 'held', t.profile_id),
    (t.status = 'FAILED', t.balance_asset, t.balance_units, 'held', t.profile_id, 'available', t.profile_id),
    (t.status = 'COMPLETED' and t.balance_asset <> t.asset, t.balance_asset, t.balance_units,
     'held', t.profile_id, 'conversion', null),
    (t.status = 'COMPLETED', t.asset, t.amount_units,
     case when t.balance_asset <> t.asset then 'conversion' else 'held' end,
     case when t.balance_asset = t.asset then t.profile_id end,
     'clearing:' || lower(coalesce(t.crypto_network, f.kind)), null),
    (t.status = 'COMPLETED' and t.fee_units > 0, t.asset, t.fee_units,
     case when t.balance_asset <> t.asset then 'conversion' else 'held' end,
     case when t.balance_asset = t.asset then t.profile_id end, 'fees', null)
  ) as p (applies, asset, units, from_account, from_profile_id, to_account, to_profile_id)
  where t.group_id is null and t.direction = 'DEBIT' and p.applies
  union all
  -- Deposits: from the rail that reported them, from where an operator booked them, or out of suspense.
  select 'transfer', t.id, t.id, t.created_at_ns, t.updated_at_ns, t.balance_asset, p.units, p.from_account, null::uuid,
         p.to_account, p.to_profile_id
  from transfers t
  left join suspense_deposits s on s.transfer_id = t.id
  left join journal_entries j on j.transfer_id = t.id and j.kind = 'MANUAL_DEPOSIT'
  left join arrivals a on a.transfer_id = t.id
  cross join lateral (select case when s.booked then 'suspense'
                                  else 'clearing:' || lower(coalesce(s.rail, j.rail, a.rail, t.crypto_network, 'wire'))
                             end as account) as origin
  cross join lateral (values
    (t.balance_units, origin.account, 'available', t.profile_id),
    (t.fee_units, origin.account, 'fees', null)
  ) as p (units, from_account, to_account, to_profile_id)
  where t.group_id is null and t.direction = 'CREDIT' and t.status = 'COMPLETED' and p.units > 0
  union all
  -- Settlement transactions: one posting for each leg.
  select 'settlement transaction', t.id, t.id, t.created_at_ns, t.updated_at_ns, leg.asset, leg.units, 'available',
         case when leg.direction = 'DELIVER' then t.source_profile_id else t.target_profile_id end, 'available',
         case when leg.direction = 'DELIVER' then t.target_profile_id else t.source_profile_id end
  from settlement_transactions t
  cross join lateral jsonb_to_recordset(t.legs) as leg (direction text, asset text, units numeric)
  where t.status = 'SETTLED'
  union all
  -- Deposits that nobody could be credited with. Those of journal entries have their postings there.
  select 'suspense deposit', s.id, s.id, s.created_at_ns, s.created_at_ns, s.asset, s.amount_units,
         'clearing:' || lower(s.rail), null, 'suspense', null
  from suspense_deposits s where s.booked and s.journal_entry_id is null
  union all
  select 'journal entry', j.id, j.id, j.created_at_ns, j.created_at_ns, p.asset, p.units, p.from_account,
         p.from_profile_id, p.to_account, p.to_profile_id
  from journal_entries j join journal_postings p on p.journal_entry_id = j.id;

-- Contradictions between records, each with the row that is wrong. changed_at_ns is null where all rows are few: they are
-- checked every time.
create view record_faults as
  select 'transfer-total' as rule, 'transfer' as record, t.id::text as record_id, t.updated_at_ns as changed_at_ns,
         format('its amount, fee and total do not agree: %s, %s and %s units', t.amount_units, t.fee_units, t.balance_units)
           as detail
  from transfers t
  left join assets a on a.code = t.asset
  left join assets b on b.code = t.balance_asset
  where (t.group_id is not null and (t.fee_units <> 0 or t.balance_asset <> t.asset))
     or (t.balance_units::numeric * power(10::numeric, case when t.asset = t.balance_asset then 0 else a.decimals end)
         <> (t.amount_units + case t.direction when 'DEBIT' then t.fee_units else -t.fee_units end)
            * power(10::numeric, case when t.asset = t.balance_asset then 0 else b.decimals end))
  union all
  select 'transfer-sides', 'transfer', d.id::text, d.updated_at_ns,
         case when c.id is null then format('its credit side %s is missing', credit_side(d.id))
              else format('its credit side %s differs', c.id) end
  from transfers d left join transfers c on c.id = credit_side(d.id)
  where d.group_id is not null and d.direction = 'DEBIT'
    and (c.id is null or d.id <> debit_side(d.group_id)
         or (c.group_id, c.direction, c.asset, c.amount_units, c.balance_units, c.created_at_ns, c.type)
            is distinct from (d.group_id, 'CREDIT', d.asset, d.amount_units, d.balance_units, d.created_at_ns,
                              replace(d.type, 'DEBIT', 'CREDIT')))
  union all
  select 'transfer-sides', 'transfer', c.id::text, c.updated_at_ns, format('its debit side %s is missing', debit_side(c.group_id))
  from transfers c left join transfers d on d.id = debit_side(c.group_id)
  where c.group_id is not null and c.direction = 'CREDIT'
    and (d.direction is distinct from 'DEBIT' or c.id <> credit_side(debit_side(c.group_id)))
  union all
  select 'record-owner', 'transfer', t.id::text, t.updated_at_ns,
         format('profile %s does not belong to customer %s', t.profile_id, t.customer_id)
  from transfers t left join profiles p on p.id = t.profile_id
  where p.customer_id is distinct from t.customer_id
  union all
  select 'record-owner', 'settlement transaction', t.id::text, t.updated_at_ns, 'its profiles do not belong to its customers'
  from settlement_transactions t
  left join profiles s on s.id = t.source_profile_id
  left join profiles g on g.id = t.target_profile_id
  where s.customer_id is distinct from t.customer_id or g.customer_id is distinct from t.target_customer_id
  union all
  select 'fee-used-once', 'transfer', t.id::text, t.updated_at_ns,
         format('it does not agree with the guaranteed fee %s, which was used by %s', t.fee_id,
                coalesce(g.used_by::text, 'nothing'))
  from transfers t left join guaranteed_fees g on g.id = t.fee_id
  where t.fee_id is not null
    and ((g.used_by, g.customer_id, g.asset, g.crypto_network, g.fee_units)
         is distinct from (t.id, t.customer_id, t.asset, t.crypto_network, t.fee_units)
         or t.amount_units > g.amount_units)
  union all
  select 'fee-used-once', 'guaranteed fee', g.id::text, g.expires_at_ns, format('it was not used by transfer %s', g.used_by)
  from guaranteed_fees g left join transfers t on t.id = g.used_by
  where g.used_by is not null and t.fee_id is distinct from g.id
  union all
  select 'withdrawal-work', 'transfer', t.id::text, t.updated_at_ns, 'it is PENDING, and nothing is left to do about it'
  from transfers t left join withdrawal_work w on w.transfer_id = t.id
  where t.status = 'PENDING' and w.transfer_id is null
  union all
  select 'withdrawal-work', 'withdrawal work', w.transfer_id::text, null, 'there is no such pending withdrawal over that rail'
  from withdrawal_work w
  left join transfers t on t.id = w.transfer_id
  left join fiat_accounts f on f.id = t.fiat_account_id
  where t.status is distinct from 'PENDING' or t.direction <> 'DEBIT' or w.rail <> coalesce(t.crypto_network, f.kind)
  union all
  -- The sandbox credits deposits that no rail has reported.
  select 'deposit-arrived', 'transfer', t.id::text, t.updated_at_ns, 'no rail and no operator has reported this deposit'
  from transfers t
  where t.group_id is null and t.direction = 'CREDIT'
    and exists (select from installation i where i.name = 'mode' and i.value = 'production')
    and not exists (select from arrivals a where a.transfer_id = t.id)
    and not exists (select from suspense_deposits s where s.transfer_id = t.id)
    and not exists (select from journal_entries j where j.transfer_id = t.id and j.kind = 'MANUAL_DEPOSIT')
  union all
  select 'arrival-agrees', 'arrival', a.id::text, a.recorded_at_ns,
         format('%s units of %s arrived over %s, and %s does not agree', a.amount_units, a.asset, a.rail,
                case when a.transfer_id is not null then 'transfer ' || a.transfer_id
                     when a.suspense_deposit_id is not null then 'suspense deposit ' || a.suspense_deposit_id
                     else 'journal entry ' || a.journal_entry_id end)
  from arrivals a
  left join transfers t on t.id = a.transfer_id
  left join suspense_deposits s on s.id = a.suspense_deposit_id
  left join journal_entries j on j.id = a.journal_entry_id
  where (a.transfer_id is not null
         and (t.direction, t.status, t.asset, t.amount_units::numeric)
             is distinct from ('CREDIT', 'COMPLETED', a.asset, a.amount_units::numeric))
     or (a.suspense_deposit_id is not null
         and (s.rail, s.asset, s.amount_units) is distinct from (a.rail, a.asset, a.amount_units))
     or (a.journal_entry_id is not null
         and (j.rail, j.asset, j.amount_units) is distinct from (a.rail, a.asset, a.amount_units))
  union all
  select 'suspense-agrees', 'suspense deposit', s.id::text, s.created_at_ns,
         case when t.id is not null or s.transfer_id is not null then format('transfer %s did not credit it', s.transfer_id)
              when s.returned_by is not null then format('journal entry %s did not return it', s.returned_by)
              else 'nothing has put it into suspense' end
  from suspense_deposits s
  left join transfers t on t.id = s.transfer_id
  left join journal_entries r on r.id = s.returned_by
  left join journal_entries j on j.id = s.journal_entry_id
  left join arrivals a on a.suspense_deposit_id = s.id
  where (s.transfer_id is not null
         and (t.direction, t.asset, t.amount_units::numeric) is distinct from ('CREDIT', s.asset, s.amount_units::numeric))
     or (s.returned_by is not null
         and (r.kind, r.suspense_deposit_id) is distinct from ('SUSPENSE_RETURN', s.id))
     or (s.journal_entry_id is null and a.suspense_deposit_id is null)
     or (s.journal_entry_id is not null and j.suspense_deposit_id is distinct from s.id)
  union all
  -- Journal entries that act through a transfer or a suspense deposit.
  select 'journal-agrees', 'journal entry', j.id::text, j.created_at_ns,
         case when j.transfer_id is not null then format('transfer %s does not agree', j.transfer_id)
              else format('suspense deposit %s does not agree', j.suspense_deposit_id) end
  from journal_entries j
  left join transfers t on t.id = j.transfer_id
  left join suspense_deposits s on s.id = j.suspense_deposit_id
  where (j.kind in ('MANUAL_DEPOSIT', 'SUSPENSE_CREDIT')
         and (t.direction, t.status, t.asset, t.amount_units::numeric)
             is distinct from ('CREDIT', 'COMPLETED', j.asset, j.amount_units::numeric))
     or (j.kind in ('WITHDRAWAL_RESOLUTION', 'WITHDRAWAL_CANCELLATION')
         and (t.direction, t.status, t.balance_units::numeric)
             is distinct from ('DEBIT', case j.outcome when 'PAID' then 'COMPLETED' else 'FAILED' end, j.amount_units::numeric))
     or (j.kind = 'SUSPENSE_CREDIT' and s.transfer_id is distinct from j.transfer_id)
     or (j.kind = 'SUSPENSE_RETURN' and s.returned_by is distinct from j.id)
  union all
  -- Journal entries with postings of their own: the first one has the amount, between the accounts of the kind.
  select 'journal-agrees', 'journal entry', j.id::text, j.created_at_ns, 'its postings do not agree with its kind and amount'
  from journal_entries j
  left join suspense_deposits s on s.id = j.suspense_deposit_id
  left join journal_postings p on p.journal_entry_id = j.id and p.posting = 0
  cross join lateral (select count(*) as postings from journal_postings o where o.journal_entry_id = j.id) as own
  where case
    when j.transfer_id is not null or (j.kind = 'SUSPENSE_RETURN' and not s.booked) then own.postings <> 0
    when j.kind = 'REVERSAL' then own.postings = 0
    else own.postings <> case when p.to_account = 'conversion' and j.kind = 'WITHDRAWAL_RETURN' then 2 else 1 end
      or (p.asset, p.units::numeric) is distinct from (j.asset, j.amount_units::numeric)
      or not case j.kind
        when 'OPENING_BALANCE' then p.from_account = 'clearing:' || lower(j.rail) and p.to_account = 'available'
        when 'TREASURY_FUNDING' then p.from_account = 'clearing:' || lower(j.rail) and p.to_account = 'treasury'
        when 'WITHDRAWAL_RETURN' then p.from_account = 'clearing:' || lower(j.rail)
          and p.to_account in ('available', 'suspense', 'conversion')
        when 'SUSPENSE_RETURN' then p.from_account = 'suspense' and p.to_account = 'clearing:' || lower(j.rail)
        when 'TREASURY_PAYOUT' then p.from_account = 'treasury' and p.to_account = 'clearing:' || lower(j.rail)
        when 'WRITE_OFF' then (p.from_account = 'treasury' and p.to_account = 'clearing:' || lower(j.rail))
          or (j.rail is null and p.from_account = 'available' and p.to_account = 'treasury')
        when 'SWEEP' then 'treasury' in (p.from_account, p.to_account)
          and (p.from_account in ('fees', 'conversion') or p.to_account = 'conversion')
        else true end
    end
  union all
  select 'returns-agree', 'withdrawal return', w.transfer_id::text, null,
         format('%s of %s units came back; its journal entries sum to %s', w.returned_units, w.amount_units, booked.units)
  from withdrawal_returns w
  left join transfers t on t.id = w.transfer_id
  cross join lateral (
    select coalesce(sum(j.amount_units), 0) as units from journal_entries j
    where j.corrects_cause_id = w.transfer_id and j.kind = 'WITHDRAWAL_RETURN'
      and not exists (select from journal_entries r where r.kind = 'REVERSAL' and r.corrects_cause_id = j.id)) as booked
  where w.returned_units <> booked.units
     or (t.direction, t.status, t.amount_units) is distinct from ('DEBIT', 'COMPLETED', w.amount_units)
  union all
  -- What the simulated rails were asked to pay.
  select 'payment-agrees', 'payment', p.rail || ' ' || p.key, p.accepted_at_ns,
         format('%s units of %s were paid: no such withdrawal was sent over that rail', p.amount_units, p.asset)
  from sandbox_payments p
  left join transfers t on t.id::text = p.key
  left join fiat_accounts f on f.id = t.fiat_account_id
  where p.accepted_at_ns is not null
    and (t.direction, t.asset, t.amount_units, coalesce(t.crypto_network, f.kind))
        is distinct from ('DEBIT', p.asset, p.amount_units, p.rail);

-- How far the audit has come. Each checkpoint is signed with a key that is not in the database, together with the signature of
-- the one before.
create table audit_checkpoints (
  number      bigint primary key check (number > 0),
  until_ns    bigint not null,    -- entries and records up to this instant were audited
  heap        text not null,      -- the file of the entries
  place       text not null,      -- the last row of it: later ones are newer, whatever their instants
  entries     numeric not null,   -- how many were audited
  totals      jsonb not null,     -- the sum of each account, by account and asset; units as text
  swept_to    text not null,      -- the last balance that was compared with its last entry
  made_at_ns  bigint not null,
  signature   text not null
);
