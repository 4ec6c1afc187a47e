# client.py
import http.cookiejar
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

url, password = sys.argv[1:]
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


def call(**form):
    try:
        body = opener.open(url, urllib.parse.urlencode(form).encode()).read()
    except urllib.error.HTTPError as rejection:
        body = rejection.read()
    reply = ElementTree.fromstring(body)
    if reply.findtext("status") != "SUCCESS":
        sys.exit(reply.findtext("info"))
    return reply


call(func="login", email="demo@waybook.example", password=password)
added = call(func="addAlbum", albumTitle="台北一日", category=5, lat=25.034, lng=121.5645)
album = call(func="getAlbum", albumID=added.findtext("albumID"))
print(added.findtext("albumID"), album.findtext("albumTitle"))
