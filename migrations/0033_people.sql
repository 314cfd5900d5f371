-- online
-- People who sign in, of a customer or of the operator. Names, addresses and labels are sealed; digests are keyed.
create table people (
  id              uuid primary key,
  customer_id     uuid references customers,   -- null: of the operator
  roles           text[] not null check (cardinality(roles) > 0 and
                    roles <@ array['VIEWER', 'MAKER', 'APPROVER', 'ADMINISTRATOR']),
  details         text not null,               -- sealed: name and email
  email_digest    text not null,
  subject_digest  text,                        -- of the issuer and subject at the operator's OpenID provider
  created_at_ns   bigint not null,
  updated_at_ns   bigint not null,
  disabled_at_ns  bigint                       -- for good; the email can be used again
);
create index people_by_customer on people (customer_id, created_at_ns, id);
create index people_by_time on people (created_at_ns, id);
create unique index people_by_email on people (email_digest, customer_id) nulls not distinct where disabled_at_ns is null;
create unique index people_by_subject on people (subject_digest) where disabled_at_ns is null;

create table passkeys (
  id               uuid primary key,
  person_id        uuid not null references people,
  credential_id    text not null unique,       -- base64url
  public_key       text not null,              -- COSE, base64url
  counter          bigint not null check (counter >= 0),
  name             text not null,              -- sealed
  created_at_ns    bigint not null,
  used_at_ns       bigint                      -- null: never since it was added
);
create index passkeys_by_person on passkeys (person_id, created_at_ns);

-- A person has at most one link at a time: a new one replaces it. Deleted when it is used.
create table enrolment_links (
  person_id      uuid primary key references people,
  token_digest   text not null unique,
  created_at_ns  bigint not null,
  expires_at_ns  bigint not null
);

-- Deleted when it ends: signed out, revoked, expired, or the person disabled.
create table sessions (
  id                uuid primary key,
  person_id         uuid not null references people,
  token_digest      text not null unique,
  method            text not null check (method in ('PASSKEY', 'OPENID', 'DEMO')),
  source            text not null,             -- sealed: address and browser
  created_at_ns     bigint not null,
  authenticated_at_ns bigint not null,         -- when the person last proved who they are: sign-in or step-up
  used_at_ns        bigint not null,           -- to the minute
  expires_at_ns     bigint not null
);
create index sessions_by_person on sessions (person_id, created_at_ns);
create index sessions_by_expiry on sessions (expires_at_ns);

-- Challenges that were answered: each is accepted once, on whichever node. Deleted after they have expired.
create table used_challenges (
  challenge      text primary key,
  expires_at_ns  bigint not null
);
create index used_challenges_by_expiry on used_challenges (expires_at_ns);

-- The person that an API client belongs to: both count as one where two people are required.
alter table clients add foreign key (owner_person_id) references people;

-- Who can own a client: people who are not disabled.
create view client_owners as select id, customer_id from people where disabled_at_ns is null;
