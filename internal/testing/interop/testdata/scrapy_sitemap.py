import json, sys
from scrapy.crawler import CrawlerProcess
from scrapy.spiders import SitemapSpider


class Spider(SitemapSpider):
    name = "interop"
    sitemap_urls = [sys.argv[1]]

    def sitemap_filter(self, entries):
        for e in entries:
            if entries.type == "urlset":
                print(json.dumps({"id": e["loc"], "updated": e.get("lastmod")}))
            else:
                yield e


process = CrawlerProcess({"LOG_ENABLED": False})
process.crawl(Spider)
process.start()
