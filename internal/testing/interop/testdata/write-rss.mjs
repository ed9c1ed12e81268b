import RSS from 'rss';
import { base, items, write } from './write.mjs';

const feed = new RSS({ title: 'Käse & Brot', description: 'All', feed_url: base + 'feed.rss', site_url: base, language: 'en' });
for (const i of items)
  feed.item({
    title: i.title, description: i.summary, url: i.id, guid: i.id, author: i.author, date: i.published,
    enclosure: { url: i.enclosure, size: 1000, type: 'audio/mpeg' },
  });
write('feed.rss', feed.xml({ indent: true }));
