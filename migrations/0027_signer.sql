-- online
-- What the signer reads: the committed assignments, and the transfers that they pay. The role of the signer may read these views
-- and nothing else (`ferry migrate --signer-role`). They show no customer, no name and no balance.

create view signer_assignments with (security_barrier) as
  select id, network, lane, purpose, slot, details, state from chain_assignments;

create view signer_payments with (security_barrier) as
  select p.assignment_id, p.position, p.key, p.asset, p.units, p.address, p.active,
         r.rail, r.state as rail_state, r.asset as rail_asset, r.units as rail_units,
         t.type, t.direction, t.status, t.asset as transfer_asset, t.amount_units as transfer_units,
         t.crypto_network, t.destination_address
  from chain_assignment_payments p
  left join rail_payments r on r.key = p.key
  left join transfers t on t.id = p.key;

create view signer_coins with (security_barrier) as
  select assignment_id, network, tx_hash, output, units, path from chain_coins where assignment_id is not null;

-- Assignments that may still be executed, and were signed.
create view signer_signed with (security_barrier) as
  select a.id from chain_assignments a
  where a.state = 'ASSIGNED' and exists (select from chain_versions v where v.assignment_id = a.id);

-- The versions that the database knows. A signer that has signed another one knows that a part of the past was lost.
create view signer_versions with (security_barrier) as select assignment_id, hash from chain_versions;
