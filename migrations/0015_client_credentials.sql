-- How clients authenticate. A client has up to two secrets at a time, so that one can replace the other without downtime, and
-- public keys for private_key_jwt.

-- `$hmac$1$…` is a keyed hash of a secret of 256 random bits; `$scrypt$…` is the form of older releases, which is replaced
-- when its secret is next used.
create table client_secrets (
  id             uuid primary key,
  client_id      text not null references clients,
  hash           text not null,
  created_at_ns  bigint not null,
  expires_at_ns  bigint                    -- null: never
);
create index client_secrets_by_client on client_secrets (client_id);

insert into client_secrets (id, client_id, hash, created_at_ns)
select gen_random_uuid(), id, secret_hash, created_at_ns from clients;

alter table clients
  drop column secret_hash,
  add column allowed_addresses text[];     -- ranges in CIDR notation; null: from anywhere

create table client_keys (
  client_id      text not null references clients,
  kid            text not null,
  jwk            jsonb not null,           -- the public members only
  created_at_ns  bigint not null,
  primary key (client_id, kid)
);

-- Assertions that were accepted: each is accepted once, on whichever node. Deleted after they have expired.
create table used_assertions (
  client_id      text not null references clients,
  jti            text not null,
  expires_at_ns  bigint not null,
  primary key (client_id, jti)
);
create index used_assertions_by_expiry on used_assertions (expires_at_ns);

-- Access tokens that their client has revoked. Deleted after they have expired.
create table revoked_tokens (
  client_id      text not null references clients,
  jti            text not null,
  expires_at_ns  bigint not null,
  primary key (client_id, jti)
);
create index revoked_tokens_by_expiry on revoked_tokens (expires_at_ns);
