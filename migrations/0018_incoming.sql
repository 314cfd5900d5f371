-- Which profiles of other customers may pay a profile or propose settlements to it: null for all of them.
alter table profiles add column accepted_profile_ids uuid[];
