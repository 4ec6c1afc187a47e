// Keeps a copy of all albums and of the names of all users in a SQLite file.
//
// node follower.js ADDRESS FILE
const fs = require('fs');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');
const { DatabaseSync } = require('@photostructure/sqlite'); // from Node 24 on, node:sqlite is the same

const [address, path] = process.argv.slice(2);
const failures = protobuf.loadSync('failures.proto').lookup('waybook.failures');
const { account, album } = grpc.loadPackageDefinition(loader.loadFileDescriptorSetFromBuffer(
  fs.readFileSync('waybook.protoset.binpb'), { keepCase: true, longs: Number, enums: String, defaults: true })).waybook;
const options = { 'grpc.keepalive_time_ms': 30_000, 'grpc.keepalive_timeout_ms': 10_000 };
const albums = new album.v1.AlbumService(address, grpc.credentials.createInsecure(), options);
const users = new account.v1.AccountService(address, grpc.credentials.createInsecure(), options);

// A token is empty until the first batch is stored. Owners are not in albums, so a new name is one row.
const database = new DatabaseSync(path);
database.exec(`
PRAGMA busy_timeout = 30000;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS tokens (feed TEXT PRIMARY KEY, token TEXT NOT NULL);
INSERT OR IGNORE INTO tokens VALUES ('albums', ''), ('users', '');
CREATE TABLE IF NOT EXISTS albums (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, title TEXT NOT NULL, score INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE VIEW IF NOT EXISTS owned AS
  SELECT albums.*, coalesce(users.name, '') AS owner_name FROM albums LEFT JOIN users ON users.id = owner_id;
`);

const feeds = [
  {
    name: 'albums',
    watch: (token) => albums.WatchAlbumChanges({ page_token: token, include_album: true }),
    row: (change) => change.album
      ? [change.album_id, change.album.owner.user_id, change.album.title, change.album.score] : [change.album_id],
  },
  {
    name: 'users',
    watch: (token) => users.WatchUserChanges({ page_token: token, include_user: true }),
    row: (change) => change.user ? [change.user_id, change.user.name] : [change.user_id],
  },
];

// transaction makes changes that a kill leaves whole or undone.
function transaction(change) {
  database.exec('BEGIN IMMEDIATE');
  try {
    change();
    database.exec('COMMIT');
  } catch (failed) {
    database.exec('ROLLBACK');
    throw failed;
  }
}

// move replaces the token. It refuses a token that another follower has replaced, because two copies would mix.
function move(feed, before, after) {
  const done = database.prepare('UPDATE tokens SET token = ? WHERE feed = ? AND token = ?').run(after, feed.name, before);
  if (done.changes !== 1) {
    throw new Error('another follower writes to this file');
  }
}

// store stores a batch and its token in one transaction.
function store(feed, token, batch) {
  transaction(() => {
    move(feed, token, batch.next_page_token);
    for (const change of batch.changes) {
      const row = feed.row(change);
      if (change.kind === 'CHANGE_KIND_DELETED') {
        database.prepare(`DELETE FROM ${feed.name} WHERE id = ?`).run(row[0]);
      } else {
        database.prepare(`INSERT OR REPLACE INTO ${feed.name} VALUES (${row.map(() => '?').join(', ')})`).run(...row);
      }
    }
  });
  if (batch.changes.length > 0) {
    console.log(`${feed.name}: ${batch.changes.length} changes`);
  }
}

function startAnew(feed, token) {
  transaction(() => {
    move(feed, token, '');
    database.exec(`DELETE FROM ${feed.name}`);
  });
  console.log(`${feed.name}: the copy starts anew`);
}

function reason(failed) {
  for (const status of failed.metadata?.get('grpc-status-details-bin') ?? []) {
    for (const detail of failures.Status.decode(status).details) {
      if (detail.typeUrl.endsWith('/google.rpc.ErrorInfo')) {
        return failures.ErrorInfo.decode(detail.value).reason;
      }
    }
  }
  return grpc.status[failed.code];
}

async function follow(feed) {
  for (;;) {
    let { token } = database.prepare('SELECT token FROM tokens WHERE feed = ?').get(feed.name);
    try {
      for await (const batch of feed.watch(token)) { // ends after some minutes
        store(feed, token, batch);
        token = batch.next_page_token;
      }
    } catch (failed) {
      if (failed.code === undefined || grpc.status[failed.code] === undefined) {
        throw failed; // no failure of a call: it ends the process
      }
      if (reason(failed) === 'START_ANEW') {
        startAnew(feed, token);
        continue;
      }
      console.error(`${feed.name}: ${reason(failed)}: ${failed.details}`);
    }
    await new Promise((resume) => setTimeout(resume, 1000));
  }
}

feeds.forEach(follow);
