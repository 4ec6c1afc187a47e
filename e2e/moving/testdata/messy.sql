-- An old service with one table for all content, numbers as texts, and nobody who looked after it.
create table members (uid integer primary key, nick text, mail text, salt text, pw text, joined integer);
create table things (tid integer primary key, what text, uid integer, head text, body text, cat text, pos text, points text,
  made integer, changed integer, day text, sky text, about integer, poll text, gone integer default 0);
create table media (mid integer primary key, tid integer, file text, note text);
create table remarks (rid integer primary key, tid integer, uid integer, nick text, words text, at integer, answer text, answered integer);
create table likes (tid integer, uid integer, primary key (tid, uid));
create table picks (tid integer, uid integer, n integer, primary key (tid, uid));

insert into members with recursive n(i) as (select 1 union all select i + 1 from n where i < 40)
  select i, case i % 5 when 0 then 'Tom &amp; Amy ' || i when 1 then '山友' || i when 2 then '' else 'wanderer ' || i end,
    case when i % 4 > 0 then 'm' || i || '@old.example' end, null, null, case when i % 7 > 0 then 1200000000 + i * 86400 else 0 end from n;
insert into things with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
  select i, case i % 3 when 0 then 'ALB' when 1 then 'LOG' else 'POI' end, case when i % 50 = 0 then 999 else 1 + i % 40 end,
    case when i = 97 then replace(printf('%300c', ' '), ' ', '長') when i % 61 = 0 then '' else '標題 ' || i || ' <b>' end,
    case when i % 53 = 0 then '' else '第一行' || char(13) || char(10) || '&quot;第二行&quot; ' || i end,
    case when i % 23 = 0 then '99' when i % 29 = 0 then '' else ' ' || (1 + i % 4) end,
    case when i % 31 = 0 then 'unknown' else ' 25.' || (10 + i % 80) || ' ,121.' || (10 + i % 70) end,
    case when i % 41 = 0 then '-3' when i % 43 > 0 then i % 13 end,
    case when i % 47 > 0 then 1210000000 + i * 3600 else 0 end, case when i % 2 = 0 then 1220000000 + i end,
    case when i % 19 = 0 then '0000-00-00' else '2008-05-' || printf('%02d', 1 + i % 28) end, case when i % 17 = 0 then 'foggy' else '晴空萬里' end,
    case when i % 63 = 1 then 5000 when i % 21 = 1 then i - 3 end,
    case when i % 90 = 1 then '{"q":"one?","c":[["a",2]]}' when i % 9 = 1 then '{"q":"where?","c":[["阿里山",2],["太魯閣",1]]}' end, i % 33 = 0 from n;
insert into media with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
  select i, 1 + i * 7 % 300, 'pics/' || i || '.jpg', case when i % 59 = 0 then 'a' || char(11) || 'b' when i % 3 > 0 then 'note ' || i end from n;
insert into remarks with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
  select i, 1 + i * 11 % 310, case when i % 77 = 0 then 888 when i % 6 > 0 then 1 + i % 40 end, case when i % 6 = 0 then 'guest ' || i end,
    case when i % 70 = 0 then '' else '留言 ' || i end, case when i % 83 > 0 then 1211000000 + i * 60 else 0 end,
    case when i % 10 = 0 then '謝謝 ' || i end, case when i % 10 = 0 and i % 20 > 0 then 1212000000 + i end from n;
insert or ignore into likes with recursive n(i) as (select 1 union all select i + 1 from n where i < 600)
  select 1 + i * 13 % 300, 1 + i * 17 % 45 from n;
insert into picks select tid, uid % 40 + 1, 2 from things where poll is not null and tid % 90 != 1;
