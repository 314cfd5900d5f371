-- The keys that seal secrets and personal data, each wrapped by a key that is not in the database (FERRY_SECRET_KEY or a key
-- management service). Replacing that key rewrites these rows and nothing else.
create table data_keys (
  id             smallint primary key check (id > 0),  -- named in every sealed value
  wrapping_key   text not null,                        -- the id of the key that wraps it
  wrapped        text not null,
  created_at_ns  bigint not null
);
