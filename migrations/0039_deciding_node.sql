-- online

-- Which of several nodes decides on transfers between profiles, where the others reach it, and until when, by the database's clock.
-- One row. The lease only avoids conflicts: what a transaction writes is checked by the transaction.
create table deciding_node (
  only_row  boolean primary key default true check (only_row),
  node_id   uuid not null,
  address   text not null,
  until_ns  bigint not null
);
