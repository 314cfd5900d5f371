-- Units per second that a customer may use on each node; null: the default of this release.

alter table customers add column units_per_second integer;
alter table customers add constraint customers_units_per_second_positive check (units_per_second > 0);
