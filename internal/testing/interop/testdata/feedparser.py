import calendar, json, sys
import feedparser

time = lambda t: t and calendar.timegm(t)
feed = feedparser.parse(sys.argv[1])
assert not feed.bozo, feed.bozo_exception
for e in feed.entries:
    print(json.dumps({
        "id": e.id, "link": e.get("link"), "title": e.title, "summary": e.get("summary"),
        "updated": time(e.get("updated_parsed")), "published": time(e.get("published_parsed")),
        "author": e.get("author"), "lang": e.title_detail.language,
        "enclosure": next((l.href for l in e.get("links", []) if l.rel == "enclosure"), None),
    }))
