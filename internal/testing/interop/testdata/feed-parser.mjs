import { parseFeed } from '@rowanmanning/feed-parser';
import { print, text, time } from './common.mjs';

for (const e of parseFeed(await text()).items)
  print({
    id: e.id, link: e.url, title: e.title, summary: e.description, updated: time(e.updated), published: time(e.published),
    author: e.authors[0]?.name, enclosure: e.media[0]?.url,
  });
