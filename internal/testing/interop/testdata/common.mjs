// What scripts share: the address to read, and lines of JSON.
import { createHash } from 'node:crypto';

export const url = process.argv[2];
export const text = async (u = url) => (await fetch(u)).text();
export const time = t => (t ? new Date(t).toISOString() : '');
export const print = row => console.log(JSON.stringify(row));
export const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');
