-- Withdrawals that leave, deposits that arrive.

-- What is still to be done about a pending withdrawal; the row goes when the withdrawal is final. Workers of all nodes
-- share it: whoever claims a row moves due_at_ns to the end of its lease, so a lease that runs out makes the row due
-- again, and rows that wait cost nothing until they are due.
create table withdrawal_work (
  transfer_id      uuid primary key,
  rail             text not null,     -- a fiat kind or a crypto network
  state            text not null check (state in ('QUEUED', 'SUBMITTING', 'SUBMITTED', 'UNKNOWN')),
  due_at_ns        bigint not null,
  -- Grows with every change, claims included: a worker that lost its lease cannot write any more.
  version          bigint not null default 0,
  attempts         integer not null default 0,  -- intents to submit that were recorded
  failures         integer not null default 0,  -- answers in a row that brought nothing, for the back-off
  intent_at_ns     bigint,                      -- when the last intent was recorded
  payment          jsonb,                       -- what the rail was asked to pay: asked again, it is asked the same
  fiat_account_id  uuid
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index withdrawal_work_due on withdrawal_work (rail, due_at_ns);
create index withdrawal_work_queued_by_fiat_account on withdrawal_work (fiat_account_id)
  where state = 'QUEUED' and fiat_account_id is not null;

-- Withdrawals that were pending before there were workers.
insert into withdrawal_work (transfer_id, rail, state, due_at_ns, fiat_account_id)
  select t.id, coalesce(t.crypto_network, f.kind), 'QUEUED', t.created_at_ns, t.fiat_account_id
  from transfers t left join fiat_accounts f on f.id = t.fiat_account_id
  where t.status = 'PENDING' and t.direction = 'DEBIT' and coalesce(t.crypto_network, f.kind) is not null;

-- Fiat accounts whose review ended or that were deleted: the withdrawals that wait for them are due.
create table withdrawal_wakes (
  fiat_account_id  uuid primary key
);

-- A rail said something about a withdrawal that contradicts how it ended. Nothing is posted; an operator looks at it.
create table rail_contradictions (
  transfer_id  uuid not null,
  rail         text not null,
  reported     text not null check (reported in ('COMPLETED', 'FAILED')),
  recorded     text not null check (recorded in ('COMPLETED', 'FAILED')),
  detail       text not null,
  at_ns        bigint not null,
  primary key (transfer_id, reported)
);
create index rail_contradictions_by_time on rail_contradictions (at_ns, transfer_id);

-- Rent paid for token accounts on Solana, per destination and day (UTC).
create table rent_paid (
  destination  text not null,
  day          integer not null,       -- days since 1970
  lamports     numeric(38, 0) not null,
  primary key (destination, day)
);

create table deposit_addresses (
  id              uuid primary key,
  customer_id     uuid not null,
  profile_id      uuid not null,
  crypto_network  text not null,
  address         text not null,
  ref_id          text,
  identity_id     uuid,
  account_id      uuid,
  metadata        jsonb,
  created_at_ns   bigint not null,
  unique (crypto_network, address)
);
create index deposit_addresses_by_customer on deposit_addresses (customer_id, created_at_ns, id);

create table fiat_deposit_instructions (
  id             uuid primary key,
  customer_id    uuid not null,
  profile_id     uuid not null,
  kind           text not null check (kind in ('wire', 'cubix', 'bank_network_2', 'bank_network_3', 'cbit')),
  memo_id        text not null unique,
  instructions   jsonb not null,
  ref_id         text,
  identity_id    uuid,
  account_id     uuid,
  metadata       jsonb,
  created_at_ns  bigint not null
);
create index fiat_deposit_instructions_by_customer on fiat_deposit_instructions (customer_id, created_at_ns, id);

-- Deposits that nobody could be credited with. Their value is on the account 'suspense' until an operator decides.
create table suspense_deposits (
  id              uuid primary key,
  rail            text not null,
  reference       text not null,       -- transaction and output, or the bank's reference
  asset           text not null,
  amount_units    numeric(38, 0) not null check (amount_units > 0),
  sent_to         text not null,       -- the address, or the memo
  reason          text not null,
  created_at_ns   bigint not null,
  transfer_id     uuid                 -- the deposit that an operator made of it
);
create index suspense_deposits_by_time on suspense_deposits (created_at_ns, id);

-- The outside world of the sandbox: what the simulated rails were asked to pay, as they remember it. The ledger never
-- reads this; tests hold the two against each other.
create table sandbox_payments (
  rail            text not null,
  key             text not null,
  asset           text not null,
  amount_units    numeric(38, 0) not null,
  destination     text not null,
  behaviour       text not null,
  requests        integer not null,    -- times that a request to pay arrived
  turned_away     integer not null,    -- times that one was lost or turned away before it arrived
  accepted_at_ns  bigint,              -- when the first one arrived
  forced          text check (forced in ('completed', 'failed')),
  primary key (rail, key)
);
create index sandbox_payments_by_destination on sandbox_payments (rail, destination);

create table sandbox_notices (
  id               uuid primary key,
  due_at_ns        bigint not null,
  notice           json not null
);
create index sandbox_notices_due on sandbox_notices (due_at_ns);
