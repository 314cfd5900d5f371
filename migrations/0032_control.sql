-- Who changed what, and what needs a second pair of eyes. Not online: nodes of the release before write no actors.

-- The groups of events are also the audit log. Each has the actors of its lines, and besides the events that customers get,
-- the changes that are only in the log. The actors of older groups are unknown: {}.
alter table event_groups add column actors bytea not null default '{}';
alter table event_groups add column records bytea not null default '';
alter table event_groups alter column actors drop default;
alter table event_groups alter column records drop default;
alter table event_groups alter column records set storage external;
alter table event_groups add constraint event_groups_have_actors check (octet_length(actors) > 0) not valid;

-- A person who owns a client: two clients of one person count as that person when a request needs another approver.
alter table clients add column owner_person_id uuid;

-- Privileged actions that wait for others to approve them.
create table approvals (
  id              uuid primary key,
  customer_id     uuid not null,          -- of the maker
  level           text not null check (level in ('OPERATOR', 'CUSTOMER')),
  action          text not null,
  proposal        jsonb not null,         -- exactly what is proposed; the command is built from it again
  digest          text not null,          -- of the action, the maker and the proposal
  summary         text not null,
  maker           jsonb not null,         -- the actor
  quorum          integer not null check (quorum >= 1),
  approvers       text[],                 -- ids of the only ones who may approve; null: all who have the scope
  status          text not null check (status in ('PENDING', 'EXECUTED', 'FAILED', 'REJECTED')),
  votes           jsonb not null,         -- who approved or rejected, when, and why
  problem         jsonb,                  -- why the execution was refused
  result          jsonb,                  -- what the execution made
  ref_id          text,
  created_at_ns   bigint not null,
  updated_at_ns   bigint not null,
  expires_at_ns   bigint not null,
  check ((status = 'FAILED') = (problem is not null)),
  check ((status = 'EXECUTED') = (result is not null))
);
create index approvals_by_level on approvals (level, status, created_at_ns, id);
create index approvals_by_customer on approvals (customer_id, level, created_at_ns, id);
create index approvals_created on approvals (level, created_at_ns, id);
