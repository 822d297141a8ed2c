/**
 * Where the page comes from. A package has it built. A checkout builds it once for each content of its source, into the
 * state directory, by a process of its own: nothing of what builds it is loaded here.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture } from '../../process/capture.ts';
import { type PageFiles, readPageFiles } from './page-files.ts';

export interface PageSourceOptions {
  /** Where builds are kept. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  /** Where the package, or the checkout, is. */
  root?: string;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The page's own files, and the words that it shares with all surfaces. */
const SOURCES = ['web', 'src/domain'];
const BUILD_WITHIN_MS = 120_000;
/** Other checkouts may share the state directory. */
const BUILDS_KEPT = 4;

/** It cannot be had here; the message is for a person. */
class PageAbsent extends Error {
  override readonly name = 'PageAbsent';
}

/** Throws `PageAbsent`. */
export async function loadPage({ root = ROOT, ...options }: PageSourceOptions): Promise<PageFiles> {
  const isCheckout = existsSync(join(root, 'web/build.ts'));
  const folder = isCheckout ? await buildOnce(root, options) : join(root, 'dist/web');
  return readPageFiles(folder).catch(() => {
    throw new PageAbsent('This installation has no page: its package was made without one.');
  });
}

async function buildOnce(
  root: string,
  { folder, environment, signal }: Omit<PageSourceOptions, 'root'>,
): Promise<string> {
  const built = join(folder, await hashOf(root));
  if (existsSync(join(built, 'index.html'))) return built;
  if (!existsSync(join(root, 'node_modules/vite'))) {
    throw new PageAbsent(
      `The page is not built: this checkout has no development packages. Run \`npm install\` in ${root}`,
    );
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${built}.${process.pid}`;
  const { code, stderr } = await capture({
    file: process.execPath,
    args: [join(root, 'web/build.ts'), draft],
    cwd: root,
    env: { ...onlyGiven(environment), NODE_ENV: 'production' },
    signal,
    limitMs: BUILD_WITHIN_MS,
  });
  if (code !== 0) throw new PageAbsent(`The page could not be built: ${stderr.trim() || `exit ${code}`}`);
  await rename(draft, built).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    // Another process of this state directory was quicker.
    if (!existsSync(join(built, 'index.html'))) throw error;
  });
  await dropOldBuilds(folder);
  return built;
}

/** Of everything that decides what is built. */
async function hashOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  const listed = await Promise.all(SOURCES.map((folder) => filesBelow(join(root, folder))));
  for (const path of [...listed.flat().toSorted(), join(root, 'package.json')]) {
    hash
      .update(path.slice(root.length))
      .update('\0')
      .update(await readFile(path))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesBelow(folder: string): Promise<string[]> {
  const below = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return below.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function dropOldBuilds(folder: string): Promise<void> {
  const names = await readdir(folder);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = dated.toSorted((a, b) => b.at - a.at).slice(BUILDS_KEPT);
  for (const { name } of old) await rm(join(folder, name), { recursive: true, force: true });
}

function onlyGiven(environment: NodeJS.ProcessEnv): Record<string, string> {
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(given);
}
