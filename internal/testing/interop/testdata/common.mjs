// What scripts share: the address to read, and lines of JSON.
import { createHash } from 'node:crypto';

export const url = process.argv[2];
export const text = async (u = url) => (await fetch(u)).text();
export const time = t => (t ? new Date(t).toISOString() : '');
export const sha256 = bytes => createHash('sha256').update(bytes).digest('hex');
export const print = row => process.stdout.write(JSON.stringify(row) + '\n');
console.log = console.error; // of libraries
