import yauzl from 'yauzl';
import { print, sha256, time, url } from './common.mjs';

const zip = await yauzl.openPromise(url);
for await (const e of zip.eachEntry()) {
  const parts = [];
  for await (const p of await zip.openReadStreamPromise(e)) parts.push(p);
  print({ id: e.fileName, sha256: sha256(Buffer.concat(parts)), updated: time(e.getLastModDate()) });
}
