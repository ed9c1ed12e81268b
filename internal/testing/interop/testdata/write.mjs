// What scripts that write share: the site, and where its documents go.
import { readFileSync, writeFileSync } from 'node:fs';

export const { base, items } = JSON.parse(readFileSync(process.argv[2]));
export const dir = process.argv[3];
export const write = (name, text) => writeFileSync(`${dir}/${name}`, text);
