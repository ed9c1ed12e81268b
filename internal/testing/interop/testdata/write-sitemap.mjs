import { createWriteStream } from 'node:fs';
import { SitemapAndIndexStream, SitemapStream, streamToPromise } from 'sitemap';
import { base, dir, items, write } from './write.mjs';

const one = new SitemapStream({ hostname: base });
const index = new SitemapAndIndexStream({
  limit: 10, lastmodDateOnly: false,
  getSitemapStream: i => {
    const stream = new SitemapStream({ hostname: base });
    return [new URL(`part-${i}.xml`, base).href, stream, stream.pipe(createWriteStream(`${dir}/part-${i}.xml`))];
  },
});
const whole = [streamToPromise(one), streamToPromise(index)];
for (const stream of [one, index]) {
  for (const i of items)
    stream.write({ url: i.id, lastmod: i.updated, changefreq: 'weekly', priority: 0.5, img: [{ url: i.enclosure }] });
  stream.end();
}
write('sitemap.xml', await whole[0]);
write('index.xml', await whole[1]);
