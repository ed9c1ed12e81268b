import datetime, json, sys
from feedgenerator import Atom1Feed, Enclosure, Rss201rev2Feed

site, time = json.load(open(sys.argv[1])), lambda s: datetime.datetime.fromisoformat(s.replace("Z", "+00:00"))
for name, kind in {"feed.atom": Atom1Feed, "feed.rss": Rss201rev2Feed}.items():
    feed = kind(title="Käse & Brot", link=site["base"], description="All", language="en")
    for i in site["items"]:
        feed.add_item(
            title=i["title"], link=i["id"], unique_id=i["id"], description=i["summary"], author_name=i["author"],
            pubdate=time(i["published"]), updateddate=time(i["updated"]),
            enclosure=Enclosure(i["enclosure"], "1000", "audio/mpeg"))
    with open(f"{sys.argv[2]}/{name}", "w") as out:
        feed.write(out, "utf-8")
