"""A legacy client in Python: adds, reads, changes, lists and deletes, and compares
every text with what it sent. Arguments: the address of /API.php and the cookie."""

import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

ADDRESS, COOKIE = sys.argv[1:3]
USER = COOKIE.split(";")[0].removeprefix("id=")
FIRST = "東北角 🏖️👩‍👩‍👧 <b>\"R&D\"</b> ']]>' 100% a+b;c=d"
SECOND = "第二行\r\n第三行\n\ttab\rend & 𠮷野家 ]]> \u00a0\u200d é ￥"


def call(cookie=None, **parameters):
    request = urllib.request.Request(
        ADDRESS,
        data=urllib.parse.urlencode(parameters).encode("ascii"),
        headers={"Cookie": cookie} if cookie else {},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as response:
        root = ElementTree.fromstring(response.read())
    assert root.tag == "response", root.tag
    return root


def succeed(cookie=None, **parameters):
    root = call(cookie, **parameters)
    assert root.findtext("status") == "SUCCESS", root.findtext("info")
    return root


def same(got, want):
    assert got == want, f"got {got!r}, want {want!r}"


place = {"lat": "25.034", "lng": "-121.5645"}
album = succeed(COOKIE, func="addAlbum", albumTitle=FIRST, category="5", **place).findtext("albumID")
shown = succeed(func="getAlbum", albumID=album)
same(shown.findtext("albumTitle"), FIRST)
same(shown.findtext("Location/lat"), "25.034")
same(shown.findtext("Location/lng"), "-121.5645")
succeed(COOKIE, func="updateAlbum", albumID=album, albumTitle=SECOND)
same(succeed(func="getAlbum", albumID=album).findtext("albumTitle"), SECOND)
titles = {item.findtext("albumID"): item.findtext("albumTitle")
          for item in succeed(func="getUserAlbumList", userID=USER).find("albumList")}
same(titles[album], SECOND)
succeed(COOKIE, func="updateAlbum", albumID=album, delete="true")
same(call(func="getAlbum", albumID=album).findtext("info"), "ALBUM NOT FOUND")

entry = {"type": "0_8", "blogTitle": FIRST, "year": "2026", "month": "2", "day": "28", "weather": "雨過天晴", **place}
blog = succeed(COOKIE, func="postBlog", blogContent=SECOND, **entry).findtext("blogID")
same(succeed(func="getBlog", blogID=blog).findtext("blogContent"), SECOND)
succeed(COOKIE, func="updateBlog", blogID=blog, blogContent=FIRST + SECOND, **entry)
same(succeed(func="getBlog", blogID=blog).findtext("blogContent"), FIRST + SECOND)
succeed(COOKIE, func="updateBlog", blogID=blog, delete="true")
same(call(func="getBlog", blogID=blog).findtext("status"), "FAILED")
print("all the same")
