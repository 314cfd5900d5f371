-- online
select 1;
