update albums set title = '東北角兩日遊', updated = '2026-11-20 10:00:00' where id = 5;
delete from album_comments where id = 78;
insert into poi_comments values (1, 3, 7, null, '傍晚去最好。', '2026-11-20 11:00:00', null, null);
