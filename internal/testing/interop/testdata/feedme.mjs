import feedme from 'feedme';
import { print, text } from './common.mjs';

const parser = new (feedme.default ?? feedme)(true);
parser.write(await text());
for (const e of parser.done().items) {
  const link = rel => [e.link].flat().find(l => l?.rel === rel)?.href;
  print({
    id: e.id, link: link('alternate'), title: e.title, summary: e.summary, updated: e.updated, published: e.published,
    author: e.author?.name, lang: e['xml:lang'], enclosure: link('enclosure'),
  });
}
