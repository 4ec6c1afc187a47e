"""Keeps a copy of all albums, with their photos and comments, in a SQLite file.

    PYTHONPATH=gen python3 follower.py ADDRESS FILE    (docs/grpc.md#changes)

It may be killed at any time: it stores what it has read with the page token, in one transaction.
"""

import sqlite3
import sys
import time

import grpc
from waybook.album.v1 import album_pb2, album_pb2_grpc
from waybook.change.v1 import change_pb2, change_pb2_grpc
from waybook.comment.v1 import comment_pb2, comment_pb2_grpc
from waybook.photo.v1 import photo_pb2, photo_pb2_grpc
from waybook.type.v1.options_pb2 import KIND_ALBUM

PAUSE, TIMEOUT = 1, 10  # seconds
TABLES = """
CREATE TABLE IF NOT EXISTS albums (album_id INTEGER PRIMARY KEY, title TEXT, score INTEGER);
CREATE TABLE IF NOT EXISTS photos (album_id INTEGER, photo_id INTEGER, description TEXT);
CREATE TABLE IF NOT EXISTS comments (album_id INTEGER, comment_id INTEGER, text TEXT, reply TEXT);
CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY, token TEXT);
"""

channel = grpc.insecure_channel(sys.argv[1])
albums, photos = album_pb2_grpc.AlbumServiceStub(channel), photo_pb2_grpc.PhotoServiceStub(channel)
changes, comments = change_pb2_grpc.ChangeServiceStub(channel), comment_pb2_grpc.CommentServiceStub(channel)


def pages(call, request):
    """Yields all pages of a list."""
    while True:
        page = call(request, timeout=TIMEOUT)
        yield page
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def read(ids):
    """Yields the rows of those albums that exist, each with the name of its table."""
    while ids:
        found = albums.BatchGetAlbums(album_pb2.BatchGetAlbumsRequest(album_ids=ids), timeout=TIMEOUT)
        for a in found.albums:
            yield "albums", (a.album_id, a.title, a.score)
            for page in pages(photos.ListPhotos, photo_pb2.ListPhotosRequest(album_id=a.album_id)):
                yield from (("photos", (a.album_id, p.photo_id, p.description)) for p in page.photos)
            for page in pages(comments.ListComments, comment_pb2.ListCommentsRequest(album_id=a.album_id)):
                yield from (("comments", (a.album_id, c.comment_id, c.text, c.reply.text)) for c in page.comments)
        ids = found.unread_album_ids


def follow(store, token):
    """Reads what has changed since a token, and stores it with the next one. Reports whether more may have changed."""
    listed = changes.ListChanges(change_pb2.ListChangesRequest(kind=KIND_ALBUM, page_token=token), timeout=TIMEOUT)
    ids = [change.id for change in listed.changes]
    rows = list(read(ids))
    with store:  # a transaction
        for table in ("albums", "photos", "comments"):
            store.execute(f"DELETE FROM {table} WHERE ?", (not token,))
            store.executemany(f"DELETE FROM {table} WHERE album_id = ?", [(i,) for i in ids])
        for table, row in rows:
            store.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        store.execute("INSERT OR REPLACE INTO place VALUES (1, ?)", (listed.next_page_token,))
    return listed.has_more


store = sqlite3.connect(sys.argv[2])
store.executescript(TABLES)
while True:
    try:
        if follow(store, *(store.execute("SELECT token FROM place").fetchone() or ("",))):
            continue
    except grpc.RpcError as failed:  # it reads the same changes again
        print(failed.code().name, failed.details(), file=sys.stderr)
        if failed.code() == grpc.StatusCode.FAILED_PRECONDITION:  # START_ANEW
            store.executescript("DELETE FROM place")
    time.sleep(PAUSE)
