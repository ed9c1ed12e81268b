import calendar, email.utils, hashlib, html, json, re, sys
import requests

session = requests.Session()
locs = lambda url: [html.unescape(u) for u in re.findall("<loc>([^<]*)", session.get(url).text)]
for part in locs(sys.argv[1]):
    for url in locs(part):
        r = session.get(url)
        r.raise_for_status()
        print(json.dumps({
            "id": url, "sha256": hashlib.sha256(r.content).hexdigest(),
            "updated": calendar.timegm(email.utils.parsedate(r.headers["Last-Modified"])),
            "again": session.get(url, headers={"If-None-Match": r.headers["ETag"]}).status_code,
        }))
