select 'user' as kind, uid as id, nick as name, mail as email, 'sha1$' || salt || '$' || pw as password_hash, joined as create_time from members;
select 'album' as kind, tid as id, coalesce((select m.uid from members m where m.uid = things.uid), 1) as owner_id, head as title, cat as category,
  substr(pos, 1, instr(pos, ',') - 1) as lat, substr(pos, instr(pos, ',') + 1) as lng, points as score, made as create_time, changed as update_time
  from things where what = 'ALB' and not gone;
select 'landmark' as kind, tid as id, coalesce((select m.uid from members m where m.uid = things.uid), 1) as owner_id, head as name, cat as category,
  substr(pos, 1, instr(pos, ',') - 1) as lat, substr(pos, instr(pos, ',') + 1) as lng, points as score, made as create_time, changed as update_time
  from things where what = 'POI' and not gone;
select 'choice' as kind, tid as entry_id, json_extract(c.value, '$[0]') as description, json_extract(c.value, '$[1]') as votes
  from things, json_each(poll, '$.c') c where what = 'LOG' and not gone and poll is not null order by tid, c.key;
select 'entry' as kind, tid as id, coalesce((select m.uid from members m where m.uid = things.uid), 1) as author_id, '0_8' as type, head as title,
  body as content, substr(pos, 1, instr(pos, ',') - 1) as lat, substr(pos, instr(pos, ',') + 1) as lng, day as post_date, sky as weather,
  about as quoted_id, points as score, made as create_time, changed as update_time, json_extract(poll, '$.q') as "vote.description"
  from things where what = 'LOG' and not gone;
select 'ballot' as kind, tid as entry_id, picks.uid as user_id, n as choice from picks join things using (tid) where not gone;
select 'photo' as kind, mid as id, tid as album_id, file as url, note as description from media join things using (tid) where what = 'ALB' and not gone;
select 'photo' as kind, mid as id, tid as landmark_id, file as url, note as description from media join things using (tid) where what = 'POI' and not gone;
select 'comment' as kind, rid as id, tid as album_id, (select m.uid from members m where m.uid = r.uid) as author_id,
  case when r.uid is null or r.uid not in (select uid from members) then nick end as author_name, words as text, at as create_time, answer as reply,
  answered as reply_time from remarks r left join things using (tid) where coalesce(what, 'ALB') = 'ALB' and coalesce(gone, 0) = 0;
select 'comment' as kind, rid as id, tid as entry_id, (select m.uid from members m where m.uid = r.uid) as author_id,
  case when r.uid is null or r.uid not in (select uid from members) then nick end as author_name, words as text, at as create_time, answer as reply,
  answered as reply_time from remarks r join things using (tid) where what = 'LOG' and not gone;
select 'comment' as kind, rid as id, tid as landmark_id, (select m.uid from members m where m.uid = r.uid) as author_id,
  case when r.uid is null or r.uid not in (select uid from members) then nick end as author_name, words as text, at as create_time, answer as reply,
  answered as reply_time from remarks r join things using (tid) where what = 'POI' and not gone;
select 'recommendation' as kind, tid as album_id, likes.uid as user_id from likes join things using (tid) where what = 'ALB' and not gone;
select 'recommendation' as kind, tid as entry_id, likes.uid as user_id from likes join things using (tid) where what = 'LOG' and not gone;
select 'recommendation' as kind, tid as landmark_id, likes.uid as user_id from likes join things using (tid) where what = 'POI' and not gone;
