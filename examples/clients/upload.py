# upload.py
import http.cookiejar
import pathlib
import sys
import urllib.error
import urllib.request
import uuid
import xml.etree.ElementTree as ElementTree

url, password, photo = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def call(file=None, **form):
    boundary = uuid.uuid4().hex
    start = f'--{boundary}\r\nContent-Disposition: form-data; name='
    body = "".join(f'{start}"{name}"\r\n\r\n{value}\r\n' for name, value in form.items()).encode()
    if file:
        body += f'{start}"photo"; filename="photo"\r\n\r\n'.encode() + pathlib.Path(file).read_bytes() + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    request = urllib.request.Request(url, body, {"Content-Type": "multipart/form-data; boundary=" + boundary})
    try:
        reply = opener.open(request).read()
    except urllib.error.HTTPError as rejection:
        reply = rejection.read()
    reply = ElementTree.fromstring(reply)
    if reply.findtext("status") != "SUCCESS":
        sys.exit(reply.findtext("info"))
    return reply


call(func="login", email="demo@waybook.example", password=password)
album = call(func="addAlbum", albumTitle="台北一日", category=5, lat=25.034, lng=121.5645).findtext("albumID")
call(file=photo, func="addPhoto", albumID=album, requestID=uuid.uuid4())
print(call(func="getAlbum", albumID=album).findtext("photos/photo1/thumbnail"))
