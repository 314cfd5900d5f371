-- online
-- The number of a migration that is built on another branch.
select 1;
