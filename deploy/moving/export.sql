-- Writes an old service as NDJSON (docs/moving-in.md). Replace tables and columns with yours.
start transaction with consistent snapshot;
set session group_concat_max_len = 1000000;
select json_object('kind', 'user', 'id', id, 'name', nickname, 'icon_url', icon, 'email', email, 'password_hash', password,
  'create_time', created) from users order by id;
select json_object('kind', 'session', 'user_id', user_id, 'idrand', idrand, 'expire_time', expires) from sessions where expires > now();
select json_object('kind', 'reward', 'id', id, 'user_id', user_id, 'amount', amount) from rewards order by user_id, id;
select json_object('kind', 'album', 'id', id, 'owner_id', user_id, 'title', title, 'category', category, 'lat', lat, 'lng', lng,
  'score', score, 'create_time', created, 'update_time', updated) from albums order by id;
select json_object('kind', 'landmark', 'id', id, 'owner_id', user_id, 'name', name, 'category', category, 'lat', lat, 'lng', lng,
  'score', score, 'create_time', created, 'update_time', updated) from pois order by id;
select json_object('kind', 'entry', 'id', id, 'author_id', user_id, 'type', type, 'lat', lat, 'lng', lng, 'title', title,
  'content', content, 'post_date', post_date, 'weather', weather, 'quoted_id', nullif(reply_blog_id, 0), 'zoom_level', zoom,
  'map_type', map_type, 'score', score, 'reward', reward, 'create_time', created, 'update_time', updated,
  'vote', case when question is not null then json_object('description', question, 'choices', json_extract((
    select concat('[', group_concat(json_object('description', text, 'votes', votes) order by position separator ','), ']')
    from choices where blog_id = blogs.id), '$')) end) from blogs order by id;
select json_object('kind', 'photo', 'id', id, 'album_id', album_id, 'url', path, 'description', description)
  from photos order by album_id, id;
select json_object('kind', 'photo', 'id', id, 'landmark_id', poi_id, 'url', path, 'description', description)
  from poi_photos order by poi_id, id;
select json_object('kind', 'comment', 'id', id, 'album_id', album_id, 'author_id', nullif(user_id, 0), 'author_name', guest, 'text', body,
  'create_time', created, 'reply', reply, 'reply_time', replied) from album_comments order by album_id, id;
select json_object('kind', 'comment', 'id', id, 'entry_id', blog_id, 'author_id', nullif(user_id, 0), 'author_name', guest, 'text', body,
  'create_time', created, 'reply', reply, 'reply_time', replied) from blog_comments order by blog_id, id;
select json_object('kind', 'comment', 'id', id, 'landmark_id', poi_id, 'author_id', nullif(user_id, 0), 'author_name', guest, 'text', body,
  'create_time', created, 'reply', reply, 'reply_time', replied) from poi_comments order by poi_id, id;
select json_object('kind', 'ballot', 'entry_id', blog_id, 'user_id', user_id, 'choice', choice) from ballots order by blog_id;
select json_object('kind', 'recommendation', 'album_id', album_id, 'user_id', user_id) from album_recommendations order by album_id;
select json_object('kind', 'end', 'user', (select count(*) from users), 'session', (select count(*) from sessions where expires > now()),
  'reward', (select count(*) from rewards), 'album', (select count(*) from albums), 'landmark', (select count(*) from pois),
  'entry', (select count(*) from blogs), 'photo', (select count(*) from photos) + (select count(*) from poi_photos),
  'comment', (select count(*) from album_comments) + (select count(*) from blog_comments) + (select count(*) from poi_comments),
  'ballot', (select count(*) from ballots), 'recommendation', (select count(*) from album_recommendations));
