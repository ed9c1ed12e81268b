import StreamZip from 'node-stream-zip';
import { print, sha256, time, url } from './common.mjs';

const zip = new StreamZip.async({ file: url });
for (const e of Object.values(await zip.entries()))
  print({ id: e.name, sha256: sha256(await zip.entryData(e)), updated: time(e.time) });
