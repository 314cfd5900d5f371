-- Reports of rails that were not asked to pay are contradictions, too, and do not take the place of later ones.
alter table rail_contradictions
  drop constraint rail_contradictions_pkey,
  drop constraint rail_contradictions_recorded_check,
  add primary key (transfer_id, rail, reported, recorded),
  add check (recorded in ('PENDING', 'COMPLETED', 'FAILED'));
