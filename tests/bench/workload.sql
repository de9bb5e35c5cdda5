-- SPDX-License-Identifier: MIT
-- What a database does all day: rows in, an index, joins, groups, updates, sorting, text. Prints the same on every machine.
create table item (id integer primary key, name text, kind integer, price integer);
create table sale (item integer, day integer, count integer);
begin;
with recursive n (i, seed) as (
    select 1, 42
    union all
    select i + 1, (seed * 1103515245 + 12345) & 2147483647 from n where i < 12000)
insert into item select i, printf('%08x-%d', seed, i), seed % 17, seed % 1000 from n;
with recursive n (i, seed) as (
    select 1, 7
    union all
    select i + 1, (seed * 1103515245 + 12345) & 2147483647 from n where i < 80000)
insert into sale select 1 + (seed >> 8) % 12000, i % 365, 1 + seed % 9 from n;
create index sale_item on sale (item);
commit;
select kind, count(*), sum(price * count), min(name), max(day) from item join sale on item = id group by kind;
update item set price = price + 1 where id in (select item from sale group by item having sum(count) > 40);
select count(*), sum(price) from item;
select name, length(name), upper(substr(name, 1, 4)) from item where name like '%7a%' order by name desc limit 10;
select day, total, sum(total) over (order by day rows 6 preceding)
from (select day, sum(count * price) as total from sale join item on id = item group by day)
order by total desc limit 10;
delete from sale where day % 3 = 0;
select count(distinct item), avg(count) from sale;
