import AdmZip from 'adm-zip';
import { print, sha256, time, url } from './common.mjs';

for (const e of new AdmZip(url).getEntries())
  print({ id: e.entryName, sha256: sha256(e.getData()), updated: time(e.header.time) });
