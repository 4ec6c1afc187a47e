-- sent has the lines of an export from Waybook, and those of what was deleted there with is_gone.
create temp table back as select line, is_gone, json_extract(line, '$.kind') as kind, cast(json_extract(line, '$.id') as integer) as id,
  coalesce(json_extract(line, '$.album_id'), json_extract(line, '$.entry_id'), json_extract(line, '$.landmark_id')) as tid from sent;
delete from members where uid in (select id from back where kind = 'user' and is_gone);
create temp table roots as select id, kind, is_gone, line from back where kind in ('album', 'entry', 'landmark');
delete from media where tid in (select id from roots);
delete from remarks where tid in (select id from roots);
delete from likes where tid in (select id from roots);
delete from picks where tid in (select id from roots);
delete from things where tid in (select id from roots);
insert into things select id, case kind when 'album' then 'ALB' when 'entry' then 'LOG' else 'POI' end,
  coalesce(line ->> 'owner_id', line ->> 'author_id'), coalesce(line ->> 'title', line ->> 'name'), line ->> 'content', line ->> 'category',
  (line ->> 'lat') || ',' || (line ->> 'lng'), line ->> 'score', strftime('%s', line ->> 'create_time'), strftime('%s', line ->> 'update_time'),
  line ->> 'post_date', line ->> 'weather', line ->> 'quoted_id',
  case when line ->> 'vote' is not null then json_object('q', line ->> '$.vote.description', 'c',
    (select json_group_array(json_array(c.value ->> 'description', coalesce(c.value ->> 'votes', 0))) from json_each(line, '$.vote.choices') c)) end, 0
  from roots where not is_gone;
insert into media select id, tid, line ->> 'url', line ->> 'description' from back where kind = 'photo';
insert into remarks select id, tid, line ->> 'author_id', line ->> 'author_name', line ->> 'text', strftime('%s', line ->> 'create_time'),
  line ->> 'reply', strftime('%s', line ->> 'reply_time') from back where kind = 'comment';
insert into likes select tid, line ->> 'user_id' from back where kind = 'recommendation';
insert into picks select tid, line ->> 'user_id', line ->> 'choice' from back where kind = 'ballot';
