# albums.py
import sys

import grpc

import failures_pb2
from waybook.album.v1 import album_pb2, album_pb2_grpc


def reason(failed):
    """Returns a reason such as USER_NOT_FOUND, or the status code of a failure of the transport."""
    for key, value in failed.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in failures_pb2.Status.FromString(value).details:
                if detail.type_url.endswith("/google.rpc.ErrorInfo"):
                    return failures_pb2.ErrorInfo.FromString(detail.value).reason
    return failed.code().name


with open("retries.json") as file:
    options = [("grpc.service_config", file.read()), ("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 10_000)]
compression = grpc.Compression.Gzip  # for a slow network
with grpc.insecure_channel(sys.argv[1], options, compression) as channel:
    albums = album_pb2_grpc.AlbumServiceStub(channel)
    try:
        reply = albums.ListAlbums(album_pb2.ListAlbumsRequest(owner_id=int(sys.argv[2])), timeout=2)
    except grpc.RpcError as failed:
        sys.exit(f"{reason(failed)}: {failed.details()}")
    for album in reply.albums:
        print(album.album_id, album.title)
