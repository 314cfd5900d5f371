-- The events of one batch and one customer are one row, and its events one text: see docs/decisions/0010-event-packs.md.

-- Large tables are read from one end to the other here, once.
set local enable_seqscan = on;

alter table event_groups rename to event_groups_before;
alter table event_groups_before drop constraint event_groups_position_key;
alter table event_groups_before rename constraint event_groups_pkey to event_groups_before_pkey;
drop index event_groups_feed, event_groups_waiting;

create table event_groups (
  batch_id     uuid not null,         -- its last four digits are zero; those of an event's id are its line
  customer_id  uuid not null,
  at_ns        bigint not null,       -- of its last event
  position     bigint unique,         -- given by the sequencer, after the commit
  lines        integer not null,      -- how many events there are
  last_line    integer not null check (last_line between 1 and 65535),
  types        text[] not null,       -- each one once, so that a filter passes over groups without unpacking them
  events       bytea not null,        -- src/events/pack.ts
  primary key (batch_id, customer_id)
);
-- Compressed by the service already, where it is long. Out of line, it stays where it is when the position is given.
-- Each row is updated that one time, but room on its page would only be lost: the position is in indexes, so the new row
-- needs its entries anyway, and it comes so soon that it lands on the same page mostly.
alter table event_groups alter column events set storage external;

insert into event_groups (batch_id, customer_id, at_ns, position, lines, last_line, types, events)
select (left(g.id::text, 32) || '0000')::uuid, g.customer_id, g.at_ns, g.position, e.lines, e.last_line, e.types,
       convert_to(e.events, 'UTF8')
from event_groups_before g
join (
  select group_id, count(*) as lines, max(line) as last_line, array_agg(distinct type) as types,
         -- Between two values JSON may have line ends, which are blanks there; ours has none.
         string_agg(format(E'%s %s %s %s %s\n', line, type, resource_id, at_ns, replace(resource, E'\n', ' ')), ''
                    order by line) as events
  from events group by group_id) e on e.group_id = g.id;

create index event_groups_feed on event_groups (customer_id, position) where position is not null;
create index event_groups_waiting on event_groups (at_ns, batch_id, customer_id) where position is null;

-- Which batches have events of a resource. A transfer inside the service has one event for ever, and names its batch
-- itself.
create table event_resources (
  resource_id  uuid not null,
  batch_id     uuid not null,
  primary key (resource_id, batch_id)
);
insert into event_resources (resource_id, batch_id)
select distinct resource_id, (left(group_id::text, 32) || '0000')::uuid from events;
alter table transfers add column batch_id uuid;

-- Deliveries know when their event was, so that a replay need not unpack it.
alter table webhook_deliveries add column event_at_ns bigint;
update webhook_deliveries d
set event_id = (left(e.group_id::text, 32) || lpad(to_hex(e.line), 4, '0'))::uuid, event_at_ns = e.at_ns
from events e where e.id = d.event_id;
alter table webhook_deliveries alter column event_at_ns set not null;

drop table events, event_groups_before;
