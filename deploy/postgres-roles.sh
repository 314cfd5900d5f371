#!/bin/sh
# Run once by the image of PostgreSQL, on an empty data directory: the two roles of docs/operations.md, and the database.
set -eu
psql --set=ON_ERROR_STOP=1 --username=postgres \
  --set=owner_password="$POSTGRES_PASSWORD" --set=serve_password="$SERVE_PASSWORD" <<'SQL'
create role ferry_owner login password :'owner_password';
create role ferry_serve login password :'serve_password';
grant ferry_serve to ferry_owner; -- so that a migration can end connections of frozen nodes
create database ferry owner ferry_owner;
SQL
