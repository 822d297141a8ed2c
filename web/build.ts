/** Builds the page into a folder: `node web/build.ts FOLDER`. Its files are hashed by name, and compressed beside themselves. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const ROOT = import.meta.dirname;
const COMPRESSED = /\.(?:js|css|html|svg)$/;

const [given] = process.argv.slice(2);
if (!given) throw new Error('usage: node web/build.ts FOLDER');
// Vite takes a relative one from its root, which is not where this was called.
const folder = resolve(given);
await build({
  root: ROOT,
  configFile: false,
  publicDir: false,
  base: '/',
  logLevel: 'error',
  build: {
    outDir: folder,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (COMPRESSED.test(name)) compress(join(folder, name));
}

function compress(path: string): void {
  const content = readFileSync(path);
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: size }));
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}
