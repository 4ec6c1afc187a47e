-- The statements for the schema of docs/moving-in.md. Replace the tables and the columns before "as" with yours.
select 'user' as kind, id, nickname as name, icon as icon_url, email, password as password_hash, created as create_time from users;
select 'session' as kind, user_id, idrand, expires as expire_time from sessions;
select 'reward' as kind, id, user_id, amount from rewards;
select 'album' as kind, id, user_id as owner_id, title, category, lat, lng, score, created as create_time, updated as update_time from albums;
select 'landmark' as kind, id, user_id as owner_id, name, category, lat, lng, score, created as create_time, updated as update_time from pois;
select 'photo' as kind, id, album_id, path as url, description from photos;
select 'photo' as kind, id, poi_id as landmark_id, path as url, description from poi_photos;
-- The choices of votes, before the entries.
select 'choice' as kind, blog_id as entry_id, text as description, votes from choices order by blog_id, position;
select 'entry' as kind, id, user_id as author_id, type, lat, lng, title, content, post_date, weather, reply_blog_id as quoted_id,
  zoom as zoom_level, map_type, score, reward, created as create_time, updated as update_time, question as "vote.description" from blogs;
select 'ballot' as kind, blog_id as entry_id, user_id, choice from ballots;
select 'comment' as kind, id, album_id, user_id as author_id, guest as author_name, body as text, created as create_time,
  reply, replied as reply_time from album_comments;
select 'comment' as kind, id, blog_id as entry_id, user_id as author_id, guest as author_name, body as text, created as create_time,
  reply, replied as reply_time from blog_comments;
select 'comment' as kind, id, poi_id as landmark_id, user_id as author_id, guest as author_name, body as text, created as create_time,
  reply, replied as reply_time from poi_comments;
select 'recommendation' as kind, album_id, user_id from album_recommendations;
