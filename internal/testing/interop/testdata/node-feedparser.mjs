import { Readable } from 'node:stream';
import FeedParser from 'feedparser';
import { print, text, time } from './common.mjs';

const parser = Readable.from([await text()]).pipe(new FeedParser());
for await (const e of parser)
  print({
    id: e.guid, link: e.link, title: e.title, summary: e.summary, updated: time(e.date), published: time(e.pubdate),
    author: e.author, enclosure: e.enclosures[0]?.url,
  });
