import { createWriteStream, readdirSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import { dir } from './write.mjs';

const zip = new yazl.ZipFile();
for (const f of readdirSync(`${dir}/package`, { recursive: true, withFileTypes: true }))
  if (f.isFile()) zip.addFile(`${f.path}/${f.name}`, `${f.path}/${f.name}`.slice(`${dir}/package/`.length));
zip.end();
await pipeline(zip.outputStream, createWriteStream(`${dir}/package.zip`));
