"""Keeps a copy of all albums and of the names of all users in a SQLite file.

python3 follower.py ADDRESS FILE
"""
import os
import sqlite3
import sys
import threading
import time

import grpc

import failures_pb2
from waybook.account.v1 import account_pb2, account_pb2_grpc
from waybook.album.v1 import album_pb2, album_pb2_grpc
from waybook.type.v1 import changes_pb2

# A token is empty until the first batch is stored. Owners are not in albums, so a new name is one row.
SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS tokens (feed TEXT PRIMARY KEY, token TEXT NOT NULL);
INSERT OR IGNORE INTO tokens VALUES ('albums', ''), ('users', '');
CREATE TABLE IF NOT EXISTS albums (id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, title TEXT NOT NULL, score INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE VIEW IF NOT EXISTS owned AS
  SELECT albums.*, coalesce(users.name, '') AS owner_name FROM albums LEFT JOIN users ON users.id = owner_id;
"""


class Albums:
    name = "albums"

    def __init__(self, channel):
        self.stub = album_pb2_grpc.AlbumServiceStub(channel)

    def watch(self, token):
        return self.stub.WatchAlbumChanges(album_pb2.WatchAlbumChangesRequest(page_token=token, include_album=True))

    def row(self, change):
        return change.album_id, change.album.owner.user_id, change.album.title, change.album.score


class Users:
    name = "users"

    def __init__(self, channel):
        self.stub = account_pb2_grpc.AccountServiceStub(channel)

    def watch(self, token):
        return self.stub.WatchUserChanges(account_pb2.WatchUserChangesRequest(page_token=token, include_user=True))

    def row(self, change):
        return change.user_id, change.user.name


def move(database, feed, before, after):
    """Replaces the token. It refuses a token that another follower has replaced, because two copies would mix."""
    done = database.execute("UPDATE tokens SET token = ? WHERE feed = ? AND token = ?", (after, feed.name, before))
    if done.rowcount != 1:
        raise RuntimeError("another follower writes to this file")


def store(database, feed, token, batch):
    """Stores a batch and its token in one transaction, so a kill leaves both or neither."""
    with database:
        move(database, feed, token, batch.next_page_token)
        for change in batch.changes:
            row = feed.row(change)
            if change.kind == changes_pb2.CHANGE_KIND_DELETED:
                database.execute(f"DELETE FROM {feed.name} WHERE id = ?", row[:1])
            else:
                database.execute(f"INSERT OR REPLACE INTO {feed.name} VALUES ({', '.join('?' * len(row))})", row)
    if batch.changes:
        print(f"{feed.name}: {len(batch.changes)} changes", flush=True)


def start_anew(database, feed, token):
    with database:
        move(database, feed, token, "")
        database.execute(f"DELETE FROM {feed.name}")
    print(f"{feed.name}: the copy starts anew", flush=True)


def reason(failed):
    for key, value in failed.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in failures_pb2.Status.FromString(value).details:
                if detail.type_url.endswith("/google.rpc.ErrorInfo"):
                    return failures_pb2.ErrorInfo.FromString(detail.value).reason
    return failed.code().name


def follow(path, feed):
    database = sqlite3.connect(path, timeout=30)
    while True:
        (token,) = database.execute("SELECT token FROM tokens WHERE feed = ?", (feed.name,)).fetchone()
        try:
            for batch in feed.watch(token):  # ends after some minutes
                store(database, feed, token, batch)
                token = batch.next_page_token
        except grpc.RpcError as failed:
            if reason(failed) == "START_ANEW":
                start_anew(database, feed, token)
                continue
            print(f"{feed.name}: {reason(failed)}: {failed.details()}", file=sys.stderr)
        time.sleep(1)


def main(address, path):
    database = sqlite3.connect(path, timeout=30)
    database.executescript(SCHEMA)
    database.close()
    # A thread that fails must end the process: half a copy would look whole.
    threading.excepthook = lambda failed: (print(failed.exc_value, file=sys.stderr), os._exit(1))
    channel = grpc.insecure_channel(address, [("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000)])
    for feed in Albums(channel), Users(channel):
        threading.Thread(target=follow, args=(path, feed)).start()


main(*sys.argv[1:])
