-- online
-- A freeze stops everything that moves value of a profile, an identity, a customer or the whole platform, until it is lifted.
create table freezes (
  id              uuid primary key,
  scope           text not null check (scope in ('PLATFORM', 'CUSTOMER', 'IDENTITY', 'PROFILE')),
  subject_id      uuid,                     -- null for the platform
  reason          text not null,            -- for operators only
  frozen_by       text not null,            -- 'client:…' or 'cli'
  created_at_ns   bigint not null,
  lifted_by       text,
  lifted_because  text,
  lifted_at_ns    bigint,
  constraint freezes_have_a_subject check ((scope = 'PLATFORM') = (subject_id is null)),
  constraint freezes_are_lifted_by_somebody check (num_nonnulls(lifted_by, lifted_because, lifted_at_ns) in (0, 3))
);
-- One in force for each subject. This is what transactions read: hardly any rows.
create unique index freezes_in_force_once on freezes (scope, subject_id) nulls not distinct where lifted_at_ns is null;
create index freezes_by_time on freezes (created_at_ns, id);

-- A freeze was lifted: what waited for it has to become due. Deleted when that is done.
create table freeze_wakes (
  freeze_id  uuid primary key references freezes
);

create view freezes_in_force as select id, scope, subject_id from freezes where lifted_at_ns is null;

-- An identity freezes the profiles of the accounts that it owns.
create view frozen_profiles as
  select p.id from profiles p where exists (
    select from freezes f where f.lifted_at_ns is null and (
      f.scope = 'PLATFORM' or f.subject_id in (p.id, p.customer_id)
      or f.subject_id = (select a.identity_id from accounts a where a.id = p.account_id)));

create view frozen_identities as
  select i.id from identities i where exists (
    select from freezes f where f.lifted_at_ns is null and (f.scope = 'PLATFORM' or f.subject_id in (i.id, i.customer_id)));

-- Transfers of a frozen party: its profile, its customer, the identity that it names, or that owns the account that it names.
create view frozen_transfers as
  select t.id from transfers t where exists (
    select from freezes f where f.lifted_at_ns is null and (
      f.scope = 'PLATFORM' or f.subject_id in (t.profile_id, t.customer_id, t.identity_id)
      or f.subject_id = (select a.identity_id from accounts a where a.id = t.account_id)
      or f.subject_id = (select a.identity_id from profiles p join accounts a on a.id = p.account_id where p.id = t.profile_id)));

-- The withdrawal waits until a freeze is lifted.
alter table withdrawal_work add column frozen boolean not null default false;
create index withdrawal_work_frozen on withdrawal_work (transfer_id) where frozen;

-- A file that was never staged, and whose payments wait again.
alter table bank_files drop constraint bank_files_state_check;
alter table bank_files add constraint bank_files_state_check
  check (state in ('MADE', 'STAGED', 'UPLOADED', 'ACKNOWLEDGED', 'PART', 'REJECTED', 'ASKED', 'HELD', 'DISSOLVED')) not valid;
alter table bank_files validate constraint bank_files_state_check;

-- What can be frozen.
create view freezable as
  select 'CUSTOMER' as scope, id from customers
  union all select 'IDENTITY', id from identities
  union all select 'PROFILE', id from profiles;
