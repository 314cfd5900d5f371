-- The resource of an event is written by the service itself and only ever read whole: checking that it is JSON cost the
-- server 4 µs per platform transfer.
alter table events alter column resource type text;
