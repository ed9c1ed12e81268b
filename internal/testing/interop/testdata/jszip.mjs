import { readFileSync } from 'node:fs';
import JSZip from 'jszip';
import { print, sha256, time, url } from './common.mjs';

const zip = await JSZip.loadAsync(readFileSync(url), { checkCRC32: true });
for (const e of Object.values(zip.files))
  if (!e.dir) print({ id: e.name, sha256: sha256(await e.async('nodebuffer')), updated: time(e.date) });
