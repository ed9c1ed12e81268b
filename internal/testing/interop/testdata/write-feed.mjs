import { Feed } from 'feed';
import { base, items, write } from './write.mjs';

const feed = new Feed({ title: 'Käse & Brot', id: base, link: base, language: 'en', updated: new Date('2025-04-01T00:00:00Z') });
for (const i of items)
  feed.addItem({
    title: i.title, id: i.id, link: i.id, description: i.summary, date: new Date(i.updated), published: new Date(i.published),
    author: [{ name: i.author, email: 'z@example.org', link: 'https://example.org/' }],
    enclosure: { url: i.enclosure, type: 'audio/mpeg', length: 1000 },
  });
write('feed.atom', feed.atom1());
write('feed.rss', feed.rss2());
write('feed.json', feed.json1());
