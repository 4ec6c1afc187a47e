-- A day at the old service between two exports.
update things set head = head || ' (2)', changed = 1230000000 where tid % 20 = 4;
update things set gone = 1 where tid in (6, 7, 8);
update things set poll = '{"q":"where?","c":[["阿里山",5],["太魯閣",1],["蘭嶼",0]]}' where tid = 10;
delete from remarks where rid % 100 = 3;
delete from media where mid % 100 = 4;
insert into members values (41, '新來的', 'm41@old.example', null, null, 1230000000);
insert into members values (42, '過客', 'm42@old.example', null, null, 1230000000);
insert into things values (301, 'ALB', 41, '新相簿', null, '3', '25.2,121.3', '0', 1230000000, null, null, null, null, null, 0);
insert into media values (501, 301, 'pics/501.jpg', null);
insert into remarks select 1501, 301, 2, null, '新留言', 1230000100, null, null;
insert into likes values (301, 3);
update members set nick = '改名' where uid = 9;
