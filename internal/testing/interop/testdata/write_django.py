import datetime, json, sys
import django
from django.conf import settings

settings.configure(USE_TZ=True, INSTALLED_APPS=["django.contrib.sitemaps"], TEMPLATES=[
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}])
django.setup()
from django.template.loader import render_to_string
from django.utils.feedgenerator import Atom1Feed, Enclosure, Rss201rev2Feed

site, time = json.load(open(sys.argv[1])), lambda s: datetime.datetime.fromisoformat(s.replace("Z", "+00:00"))
urls = [{"item": i, "location": i["id"], "lastmod": time(i["updated"]), "changefreq": "weekly"} for i in site["items"]]
with open(sys.argv[2] + "/sitemap.xml", "w") as out:
    out.write(render_to_string("sitemap.xml", {"urlset": urls}))
for name, kind in {"feed.atom": Atom1Feed, "feed.rss": Rss201rev2Feed}.items():
    feed = kind(title="Käse & Brot", link=site["base"], description="All", language="en")
    for i in site["items"]:
        feed.add_item(
            title=i["title"], link=i["id"], unique_id=i["id"], description=i["summary"], author_name=i["author"],
            pubdate=time(i["published"]), updateddate=time(i["updated"]),
            enclosures=[Enclosure(i["enclosure"], "1000", "audio/mpeg")])
    with open(f"{sys.argv[2]}/{name}", "w") as out:
        feed.write(out, "utf-8")
