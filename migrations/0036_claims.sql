-- online
-- What an approved request made for its maker alone, a secret of a client or an enrolment link, is handed over once.
alter table approvals add column claimed_at_ns bigint;
alter table approvals add constraint approvals_claimed check (claimed_at_ns is null or status = 'EXECUTED') not valid;
