-- Not online: nodes of the release before do not know the form of the new digests, and would take a replay for a conflict.

-- Who wrote the events of a group is stored as it is: the ids of requests do not get smaller.
alter table event_groups alter column actors set storage external;
