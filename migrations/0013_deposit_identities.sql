-- What arrived, and what became of it: one row for each deposit, credited or kept in suspense. The unique indexes are what
-- makes a deposit arrive once, whatever is reported, in whatever spelling, on however many nodes.
create table arrivals (
  rail                 text not null,       -- a fiat kind or a crypto network
  -- The operator's own account that was paid: the address on a chain, the account at a bank. Null only for bank deposits
  -- from before this table, whose account nobody recorded: they stand for the reference at every account.
  account              text,
  transaction          text not null,       -- the hash on a chain, the bank's reference
  -- The output, log or instruction; null at banks, and where all of an asset that an address got counts as one.
  output_number        bigint check (output_number between 0 and 4294967295),
  asset                text not null,
  amount_units         numeric(78, 0) not null check (amount_units > 0),
  memo                 text,                -- normalised; null on a chain
  transfer_id          uuid,
  suspense_deposit_id  uuid,
  constraint arrivals_became_one_thing check (num_nonnulls(transfer_id, suspense_deposit_id) = 1),
  constraint arrivals_on_chains_have_an_address check (memo is not null or account is not null)
);
create unique index arrivals_of_addresses on arrivals (rail, transaction, account, asset, output_number)
  nulls not distinct;
create unique index arrivals_of_outputs on arrivals (rail, transaction, output_number) where output_number is not null;
create unique index arrivals_of_references on arrivals (rail, transaction, account) nulls not distinct
  where memo is not null;

-- Deposits so far were known by a text: "transaction:number", "transaction:address:asset", or the bank's reference. Where
-- several texts were one output ("1" and "01"), the first one stands for it. A number that no chain has cannot be reported
-- any more; what its transaction paid to the address is known as a whole.
with old as (
  select substr(space, length('arrivals:') + 1) as rail, ref_id, resource_id, request::jsonb as request
  from idempotency_keys
  where customer_id = '00000000-0000-0000-0000-000000000000' and space like 'arrivals:%'),
named as (
  select *, request ->> 'asset' as asset, request ->> 'sent_to' as sent_to,
         case when rail = upper(rail) then substring(ref_id from ':([0-9]+)$')::numeric end as number,
         rail <> upper(rail) as is_bank
  from old)
insert into arrivals (rail, account, transaction, output_number, asset, amount_units, memo, transfer_id,
                      suspense_deposit_id)
  select n.rail,
         case when not n.is_bank then n.sent_to end,
         case
           when n.is_bank then btrim(n.ref_id)
           when n.number is not null then regexp_replace(n.ref_id, ':[0-9]+$', '')
           when right(n.ref_id, length(n.sent_to || n.asset) + 2) = ':' || n.sent_to || ':' || n.asset
             then left(n.ref_id, -(length(n.sent_to || n.asset) + 2))
           else split_part(n.ref_id, ':', 1)
         end,
         case when n.number <= 4294967295 then n.number end,
         n.asset, (n.request ->> 'amount_units')::numeric,
         case when n.is_bank then regexp_replace(upper(n.sent_to), '[^0-9A-Z]', '', 'g') end,
         case when s.id is null then n.resource_id end, s.id
  from named n left join suspense_deposits s on s.id = n.resource_id
  order by n.resource_id
  on conflict do nothing;
delete from idempotency_keys
where customer_id = '00000000-0000-0000-0000-000000000000' and space like 'arrivals:%';

-- What the ledger cannot post, since it does not know the asset or cannot hold the amount, is kept all the same: `booked`
-- says whether its value is on the account 'suspense'.
alter table suspense_deposits
  alter column amount_units type numeric(78, 0),
  add column account text,                  -- the operator's own account at a bank
  add column booked boolean not null default true;

-- Reports of rails that were not asked to pay are contradictions, too, and do not take the place of later ones.
alter table rail_contradictions
  drop constraint rail_contradictions_pkey,
  drop constraint rail_contradictions_recorded_check,
  add primary key (transfer_id, rail, reported, recorded),
  add check (recorded in ('PENDING', 'COMPLETED', 'FAILED'));
