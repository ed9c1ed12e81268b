import { parseFeed } from 'feedsmith';
import { print, text } from './common.mjs';

const value = t => t?.value ?? t;
for (const e of parseFeed(await text()).feed.entries) {
  const link = rel => e.links?.find(l => (l.rel ?? 'alternate') === rel)?.href;
  print({
    id: e.id, link: link('alternate'), title: value(e.title), summary: value(e.summary),
    updated: e.updated, published: e.published, author: e.authors?.[0]?.name, enclosure: link('enclosure'),
  });
}
