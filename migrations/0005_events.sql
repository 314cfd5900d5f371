-- Events in an order that readers can rely on, and their delivery to webhook endpoints.

drop table events;

-- The events of one committed batch and one customer. A batch is written without a position; the sequencer, one at a
-- time over all nodes, gives the committed ones consecutive positions. Readers see only what has a position, so a
-- position never appears below one that was seen, whatever the order of the commits.
create table event_groups (
  id           uuid primary key,
  customer_id  uuid not null,
  at_ns        bigint not null,       -- of its last event
  position     bigint unique
) with (fillfactor = 70);             -- each row is updated once, soon after it was written
create index event_groups_feed on event_groups (customer_id, position) where position is not null;
create index event_groups_waiting on event_groups (at_ns, id) where position is null;

-- Every change of state, in the transaction that made it. The resource is kept whole, as it was.
create table events (
  id           uuid primary key,
  group_id     uuid not null,
  line         integer not null,      -- order within the group
  customer_id  uuid not null,
  type         text not null,
  resource_id  uuid not null,
  at_ns        bigint not null,
  resource     json not null,
  unique (group_id, line)
);
create index events_by_resource on events (resource_id);

-- One row: the last position given, and the latest instant among all events that have one.
create table event_sequence (
  position  bigint not null,
  at_ns     bigint not null,
  single    boolean primary key default true check (single)
) with (fillfactor = 10);
insert into event_sequence (position, at_ns) values (0, 0);

-- Where to begin to read for a time: all events up to the position have instants up to at_ns. About one a minute.
create table event_marks (
  at_ns     bigint primary key,
  position  bigint not null
);

create table webhook_endpoints (
  id                 uuid primary key,
  customer_id        uuid not null,
  url                text not null,
  event_types        text[] not null check (cardinality(event_types) > 0),
  description        text,
  ref_id             text,
  enabled            boolean not null,
  disabled_reason    text,
  -- Sealed with AES-256-GCM under the key from the configuration; null once the endpoint is deleted.
  secret             text,
  previous_secret    text,
  previous_until_ns  bigint,
  created_at_ns      bigint not null,
  updated_at_ns      bigint not null,
  deleted_at_ns      bigint
);
create index webhook_endpoints_by_customer on webhook_endpoints (customer_id, created_at_ns, id);

-- How far an endpoint has come, and which node delivers to it at present. Times in _ms are milliseconds since 1970.
create table webhook_progress (
  endpoint_id            uuid primary key,
  customer_id            uuid not null,
  -- Deliveries exist for all events up to here; `more` says that the feed had more when it was last read.
  position               bigint not null,
  line                   integer not null,
  more                   boolean not null default false,
  -- Being replayed: events up to this place again, but none before that time.
  replay_from_ns         bigint,
  replay_until_position  bigint,
  replay_until_line      integer,
  -- Counts what the node that delivers must look at again: changed settings, replays.
  generation             bigint not null default 0,
  lease_token            uuid,
  leased_until_ms        bigint not null default 0,
  -- The circuit breaker: failures in a row, since when, and when to try again while it is open.
  failures               integer not null default 0,
  failing_since_ms       bigint,
  probe_at_ms            bigint
) with (fillfactor = 30);
create index webhook_progress_by_customer on webhook_progress (customer_id);

create table webhook_deliveries (
  id             uuid primary key,
  endpoint_id    uuid not null,
  customer_id    uuid not null,
  event_id       uuid not null,
  position       bigint not null,
  line           integer not null,
  resource_id    uuid not null,
  trigger        text not null check (trigger in ('EVENT', 'REPLAY', 'TEST')),
  status         text not null check (status in ('PENDING', 'DELIVERED', 'FAILED')),
  attempts       integer not null default 0,
  first_try_ms   bigint,
  due_at_ms      bigint not null,
  -- The last attempt. Its body is the event, which is kept anyway.
  request        jsonb,
  response       jsonb,
  error          text,
  created_at_ns  bigint not null,
  updated_at_ns  bigint not null
) with (fillfactor = 70);
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, created_at_ns, id);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, due_at_ms) where status = 'PENDING';
create index webhook_deliveries_ended on webhook_deliveries (updated_at_ns) where status <> 'PENDING';
