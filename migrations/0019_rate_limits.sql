-- Points per second that a customer may use on each node; null: the default of this release.

alter table customers add column points_per_second integer;
alter table customers add constraint customers_points_per_second_positive check (points_per_second > 0);
