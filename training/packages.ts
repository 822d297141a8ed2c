/** The packages that are learnt from, with their licences and what each is for: `packages.tsv`. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { LearntChunk } from './read-package.ts';

/**
 * `develop`: tuning is done on them. `held-out`: the figures are taken on them, once. `apart`: others of the same
 * projects, which are neither learnt from nor measured.
 */
export type Role = 'learn' | 'develop' | 'held-out' | 'apart';

export interface Package {
  registry: 'npm' | 'debian';
  name: string;
  version: string;
  licence: string;
  /** Packages of one project are learnt from or held out together. */
  project: string;
}

export interface Extracted {
  about: Package;
  language: string;
  chunks: LearntChunk[];
}

const LIST = new URL('packages.tsv', import.meta.url);
const COLUMNS = ['role', 'language', 'registry', 'name', 'version', 'licence', 'project'] as const;

export interface Listed extends Package {
  role: Role;
  language: string;
}

export function readList(): Listed[] {
  const [, ...lines] = readFileSync(LIST, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const values = line.split('\t');
    return Object.fromEntries(COLUMNS.map((column, at) => [column, values[at]])) as unknown as Listed;
  });
}

export function writeList(packages: readonly Listed[]): string {
  const lines = packages.map((each) => COLUMNS.map((column) => each[column]).join('\t'));
  return `${[COLUMNS.join('\t'), ...lines.sort()].join('\n')}\n`;
}

/** What `extract.ts` has written, package by package; those without any question are left out. */
export function* readExtracted(folder: string): Iterable<Extracted> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.gz'),
  );
  for (const file of files.sort()) {
    const [head, ...lines] = gunzipSync(readFileSync(join(folder, file)))
      .toString('utf8')
      .split('\n');
    const chunks = lines.map((line) => JSON.parse(line) as LearntChunk);
    if (chunks.length > 0)
      yield { about: JSON.parse(head!) as Package, language: languageOf(chunks), chunks };
  }
}

const LANGUAGES: Record<string, string> = {
  py: 'python',
  go: 'go',
  rs: 'rust',
  rb: 'ruby',
  php: 'php',
  java: 'java',
};

function languageOf(chunks: readonly LearntChunk[]): string {
  const counts = new Map<string, number>();
  for (const { path } of chunks) {
    const language =
      LANGUAGES[path.split('.').at(-1)!] ??
      (/\.[mc]?tsx?$/.test(path) && !/\.d\.[mc]?ts$/.test(path) ? 'typescript' : 'javascript');
    counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]![0];
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
