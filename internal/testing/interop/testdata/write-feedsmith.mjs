import { generateAtomFeed, generateJsonFeed, generateRssFeed } from 'feedsmith';
import { base, items, write } from './write.mjs';

const title = 'Käse & Brot';
write('feed.atom', generateAtomFeed({
  id: base, title: { value: title }, updated: new Date('2025-04-01T00:00:00Z'),
  entries: items.map(i => ({
    id: i.id, title: { value: i.title }, summary: { value: i.summary }, authors: [{ name: i.author }],
    updated: new Date(i.updated), published: new Date(i.published),
    links: [{ href: i.id }, { rel: 'enclosure', href: i.enclosure, type: 'audio/mpeg', length: 1000 }],
  })),
}));
write('feed.rss', generateRssFeed({
  title, link: base, description: 'All',
  items: items.map(i => ({
    guid: { value: i.id }, link: i.id, title: i.title, description: i.summary, pubDate: new Date(i.published),
    dc: { creators: [i.author] }, enclosures: [{ url: i.enclosure, type: 'audio/mpeg', length: 1000 }],
  })),
}));
write('feed.json', JSON.stringify(generateJsonFeed({
  title,
  items: items.map(i => ({
    id: i.id, url: i.id, title: i.title, summary: i.summary, content_text: i.text,
    date_modified: new Date(i.updated), date_published: new Date(i.published), authors: [{ name: i.author }],
    attachments: [{ url: i.enclosure, mime_type: 'audio/mpeg', size_in_bytes: 1000 }],
  })),
})));
