-- Who a withdrawal is frozen with. It is asked for every payment that waits, together with the row of its work: without the table of all
-- transfers, which may be distributed over several servers.
alter table withdrawal_work
  add column profile_id uuid,
  add column customer_id uuid,
  add column identity_id uuid,
  add column account_id uuid;
update withdrawal_work w
set profile_id = t.profile_id, customer_id = t.customer_id, identity_id = t.identity_id, account_id = t.account_id
from transfers t where t.id = w.transfer_id;
-- Work without a transfer, which the audit reports, is nobody's.
update withdrawal_work set profile_id = '00000000-0000-0000-0000-000000000000', customer_id = '00000000-0000-0000-0000-000000000000'
where profile_id is null;
alter table withdrawal_work
  alter column profile_id set not null,
  alter column customer_id set not null;

-- Pending withdrawals of a frozen party: the profile, its customer, the identity that it names, or that owns the account that it names.
create or replace view frozen_transfers as
  select w.transfer_id as id from withdrawal_work w where exists (
    select from freezes f where f.lifted_at_ns is null and (
      f.scope = 'PLATFORM' or f.subject_id in (w.profile_id, w.customer_id, w.identity_id)
      or f.subject_id = (select a.identity_id from accounts a where a.id = w.account_id)
      or f.subject_id = (select a.identity_id from profiles p join accounts a on a.id = p.account_id where p.id = w.profile_id)));
