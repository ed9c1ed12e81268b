import { extractFromXml } from '@extractus/feed-extractor';
import { print, text } from './common.mjs';

for (const e of extractFromXml(await text(), { descriptionMaxLen: 0 }).entries)
  print({ id: e.id, link: e.link, title: e.title, summary: e.description, updated: e.published });
