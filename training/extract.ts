/**
 * `node training/extract.ts ARCHIVES INTO SHARD SHARDS`: what can be learnt from each archive of a package, as lines of
 * JSON beside the package's name, version and licence. Packages of other licences are left out.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createSyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import { digest } from './packages.ts';
import { type LearntChunk, readPackage } from './read-package.ts';
import { unpack } from './unpack.ts';

const [archives = '', into = '', shard = '0', shards = '1'] = process.argv.slice(2);

const chunker = createSyntaxChunker();
mkdirSync(into, { recursive: true });
const all = readdirSync(archives, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(?:deb|tgz)$/.test(path))
  // In an order that says nothing, so that any beginning of it is a fair part.
  .sort((a, b) => (digest(a) < digest(b) ? -1 : 1));
for (const [index, path] of all.entries()) {
  const target = join(into, `${basename(path)}.jsonl.gz`);
  if (index % Number(shards) !== Number(shard) || existsSync(target)) continue;
  await extract(join(archives, path), target);
}

async function extract(archive: string, target: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'learn-'));
  try {
    const known = unpack(archive, folder);
    if (!known) return;
    const chunks: LearntChunk[] = [];
    for await (const chunk of readPackage(folder, chunker)) chunks.push(chunk);
    const lines = [known, ...chunks].map((each) => JSON.stringify(each)).join('\n');
    writeFileSync(target, gzipSync(lines));
  } catch (error) {
    process.stderr.write(`${archive}: ${error instanceof Error ? error.message : error}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
