import { Readable } from 'node:stream';
import { ErrorLevel, parseSitemapIndex, XMLToSitemapItemStream } from 'sitemap';
import { print, text, url } from './common.mjs';

const read = async u => Readable.from([await text(u)]);
const index = (await text()).includes('<sitemapindex');
const parts = index ? (await parseSitemapIndex(await read(url))).map(p => p.url) : [url];
for (const p of parts)
  for await (const s of (await read(p)).pipe(new XMLToSitemapItemStream({ level: ErrorLevel.SILENT })))
    print({ id: s.url, updated: s.lastmod });
