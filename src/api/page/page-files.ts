/** A built page in memory. What is served is this closed list: no path can lead out of it. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

export type Encoding = 'br' | 'gzip';

export interface PageFile {
  type: string;
  content: Uint8Array<ArrayBuffer>;
  compressed: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>>;
}

/** By its path below `/`, such as `/assets/index-1a2b.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

export const INDEX = '/index.html';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SUFFIXES: [Encoding, string][] = [
  ['br', '.br'],
  ['gzip', '.gz'],
];

/** Throws where the folder cannot be read or holds no page. */
export async function readPageFiles(folder: string): Promise<PageFiles> {
  const names = await readdir(folder, { recursive: true });
  const known = new Set(names);
  const files = new Map<string, PageFile>();
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (!type) continue;
    const compressed: PageFile['compressed'] = {};
    for (const [encoding, suffix] of SUFFIXES) {
      if (known.has(name + suffix)) compressed[encoding] = await readFile(join(folder, name + suffix));
    }
    const content = await readFile(join(folder, name));
    files.set(`/${name.split(sep).join('/')}`, { type, content, compressed });
  }
  if (!files.has(INDEX)) throw new Error(`${folder} holds no page`);
  return files;
}
