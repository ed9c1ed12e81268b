import { readdirSync, readFileSync } from 'node:fs';
import JSZip from 'jszip';
import { dir, write } from './write.mjs';

const zip = new JSZip();
for (const f of readdirSync(`${dir}/package`, { recursive: true, withFileTypes: true }))
  if (f.isFile()) zip.file(`${f.path}/${f.name}`.slice(`${dir}/package/`.length), readFileSync(`${f.path}/${f.name}`));
write('package.zip', await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE', streamFiles: true }));
