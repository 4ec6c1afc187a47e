"""Sends what standard input asks for with urllib and http.cookiejar; see driver_test.go. Argument: the address."""

import http.cookiejar
import sys
import urllib.error
import urllib.parse
import urllib.request

url = sys.argv[1]
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

for line in sys.stdin.buffer:
    method, *fields = line.decode().rstrip("\n").replace("\\n", "\n").split("\t")
    form = urllib.parse.urlencode(dict(zip(fields[::2], fields[1::2])))
    try:
        reply = opener.open(url + "?" + form) if method == "GET" else opener.open(url, form.encode())
    except urllib.error.HTTPError as rejection:
        reply = rejection
    sys.stdout.buffer.write(reply.read() + b"\0")
    sys.stdout.flush()
