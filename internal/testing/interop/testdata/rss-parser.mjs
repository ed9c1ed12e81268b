import Parser from 'rss-parser';
import { print, url } from './common.mjs';

const parser = new Parser({ customFields: { item: ['updated', 'published'] } });
for (const e of (await parser.parseURL(url)).items)
  print({
    id: e.id ?? e.guid, link: e.link, title: e.title, summary: e.summary, updated: e.updated, published: e.published,
    author: e.author ?? e.creator, enclosure: e.enclosure?.url,
  });
