-- The dump of an old service, as MySQL 4.0 writes it: no charsets, bytes as clients sent them, MyISAM. The test replaces
-- {big5:...} by bytes of Big5.
CREATE TABLE users (id int PRIMARY KEY, nickname varchar(100), icon varchar(255), email varchar(100), password varchar(100), created datetime
) TYPE=MyISAM;
INSERT INTO users VALUES (7,'小旅人 & co.','icons/7.gif','traveller@old.example','5f4dcc3b5aa765d61d8327deb882cf99','2006-03-05 09:07:31'),
 (8,'{big5:許功蓋先生}','','wander@old.example','325d4882dbd211f66a98581cd73b8571824b0dcb','2006-04-01 00:00:00'),
 (9,'阿海','','','','0000-00-00 00:00:00'),
 (10,'','',NULL,'325d4882dbd211f66a98581cd73b8571824b0dcb','2006-05-01 00:00:00'),
 (11,'twin','','Traveller@old.example',NULL,'2006-05-02 00:00:00'),
 (12,'Tom &amp; Amy','','tom at old.example',NULL,'2006-05-03 00:00:00'),
 (13,'*','','star@old.example','*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29','2006-05-04 00:00:00');
CREATE TABLE sessions (user_id int, idrand varchar(100), expires datetime) TYPE=MyISAM;
INSERT INTO sessions VALUES (7,'0123456789abcdef0123456789abcdef','2100-01-01 00:00:00'),(9,'short','2100-01-01 00:00:00'),
 (99,'11111111111111111111111111111111','2100-01-01 00:00:00');
CREATE TABLE rewards (id int PRIMARY KEY, user_id int, amount int) TYPE=MyISAM;
INSERT INTO rewards VALUES (1,7,10),(2,7,-5),(3,99,10);
CREATE TABLE albums (id int PRIMARY KEY, user_id int, title text, category int, lat varchar(20), lng varchar(20), score int, created datetime, updated datetime
) TYPE=MyISAM;
INSERT INTO albums VALUES (5,7,'東北角一日遊',5,'25.0113','121.9404',2,'2008-03-05 09:07:31','2008-03-09 20:15:00'),
 (12,7,'{big5:陽明山的貓} & {big5:狗}',0,' 25.04','121.51',-3,'0000-00-00 00:00:00','0000-00-00 00:00:00'),
 (13,8,REPEAT('長',300),8,'','200',0,'2009-01-01 08:00:00',NULL),
 (14,99,'of a user who is gone',1,'25','121',0,'2009-01-01 08:00:00',NULL);
CREATE TABLE pois (id int PRIMARY KEY, user_id int, name varchar(100), category int, lat double, lng double, score int, created datetime, updated datetime
) TYPE=MyISAM;
INSERT INTO pois VALUES (3,9,'中正紀念堂',4,25.0346,121.5218,0,'2007-01-01 00:00:00',NULL);
CREATE TABLE photos (id int, album_id int, path varchar(255), description text) TYPE=MyISAM;
INSERT INTO photos VALUES (31,5,'upload/5/31.jpg','陰陽海'),(32,5,'upload/5/32.jpg',NULL),(32,5,'upload/5/32.jpg',NULL),
 (33,404,'upload/404/33.jpg',NULL),(34,12,'upload/12/34.jpg',CONCAT('tab', CHAR(11), '!')),(35,14,'upload/14/35.jpg',NULL);
CREATE TABLE poi_photos (id int, poi_id int, path varchar(255), description text) TYPE=MyISAM;
INSERT INTO poi_photos VALUES (4,3,'http://images.example/poi/4.jpg','夕陽');
CREATE TABLE blogs (id int PRIMARY KEY, user_id int, type varchar(10), lat double, lng double, title varchar(255), content mediumtext, post_date date,
 weather varchar(20), reply_blog_id int, zoom int, map_type int, score int, reward int, created datetime, updated datetime, question varchar(255)
) TYPE=MyISAM;
INSERT INTO blogs VALUES
 (7,7,'0_8',23.8571,120.9156,'日月潭環湖','騎了一整天。\r\n好<累>!','2008-04-01','雨過天晴',0,NULL,NULL,0,10,'2008-03-31 22:00:00',NULL,'下一站去哪裡?'),
 (8,9,'0_2',23.9,120.9,'隔天','同上','0000-00-00','foggy',7,9,3,1,10,'2008-04-01 22:00:00',NULL,'only one?'),
 (9,8,'9_9',23.9,120.9,'','{big5:我騎了一整天的車}','2008-04-03','晴空萬里',404,99,1,0,0,'2008-04-03 22:00:00',NULL,NULL);
CREATE TABLE choices (blog_id int, position int, text varchar(255), votes int) TYPE=MyISAM;
INSERT INTO choices VALUES (7,2,'太魯閣',3),(7,1,'阿里山',0),(8,1,'yes',1);
CREATE TABLE ballots (blog_id int, user_id int, choice int) TYPE=MyISAM;
INSERT INTO ballots VALUES (7,9,2),(7,99,1),(8,9,1);
CREATE TABLE album_comments (id int, album_id int, user_id int, guest varchar(100), body text, created datetime, reply text, replied datetime) TYPE=MyISAM;
INSERT INTO album_comments VALUES (79,5,99,NULL,'of a user who is gone','2008-03-07 11:00:00',NULL,'0000-00-00 00:00:00'),
 (77,5,9,NULL,'好美','2008-03-06 10:00:00','謝謝','2008-03-06 11:00:00'),(78,5,0,'路人','me too','2008-03-07 10:00:00',NULL,NULL),
 (80,5,0,NULL,REPEAT('長',3000),'0000-00-00 00:00:00',NULL,NULL),(81,404,9,NULL,'on nothing','2008-03-07 11:00:00',NULL,NULL);
INSERT INTO album_comments SELECT 1000 + seq, 12, 9, NULL, CONCAT('comment ', seq), '2009-01-02 08:00:00', NULL, NULL FROM seq_1_to_1500;
CREATE TABLE blog_comments (id int, blog_id int, user_id int, guest varchar(100), body text, created datetime, reply text, replied datetime) TYPE=MyISAM;
INSERT INTO blog_comments VALUES (77,7,9,NULL,'我投太魯閣!','2008-04-02 10:00:00',NULL,NULL);
CREATE TABLE poi_comments (id int, poi_id int, user_id int, guest varchar(100), body text, created datetime, reply text, replied datetime) TYPE=MyISAM;
CREATE TABLE album_recommendations (album_id int, user_id int) TYPE=MyISAM;
INSERT INTO album_recommendations VALUES (5,9),(5,9),(5,99);
