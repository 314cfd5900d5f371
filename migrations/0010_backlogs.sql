-- What an operator watches is found by index, however much there is.

-- Withdrawals that may or may not have been sent, by when that was intended.
create index withdrawal_work_unknown on withdrawal_work (intent_at_ns) where state = 'UNKNOWN';

-- Deposits that nobody has been credited with yet.
create index suspense_deposits_open on suspense_deposits (created_at_ns) where transfer_id is null;
