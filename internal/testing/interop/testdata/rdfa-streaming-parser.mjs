import { Readable } from 'node:stream';
import { RdfaParser } from 'rdfa-streaming-parser';
import { print, text, url } from './common.mjs';

const parser = new RdfaParser({ baseIRI: url, contentType: 'text/html' });
for await (const t of Readable.from([await text()]).pipe(parser))
  print({ id: `${t.subject.value} ${t.predicate.value} ${t.object.value}${t.object.language ? '@' + t.object.language : ''}` });
