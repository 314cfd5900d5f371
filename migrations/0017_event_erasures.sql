-- Resources whose personal data was erased. Their earlier events still have it, until the service has replaced these fields in
-- them, and deletes the row.
create table event_erasures (
  resource_id  uuid primary key,
  fields       jsonb not null    -- what is left of them: masked
);
insert into sealing_progress (name, finished)
values ('deleted fiat_accounts', not exists (select from fiat_accounts where deleted_at_ns is not null));
