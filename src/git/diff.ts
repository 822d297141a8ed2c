/** What lies between two commits, from git's plumbing: no user configuration colours or shortens it. */
import type { Git } from './exec.ts';
import { pathText, sortedPaths, splitNul } from './path-bytes.ts';

export interface DiffRange {
  root: string;
  from: string;
  to: string;
}

/** Sorted paths; a rename is two. 1 git process. */
export async function changedFiles(git: Git, { root, from, to }: DiffRange): Promise<string[]> {
  const args = ['diff-tree', ...EXACT, '-z', '--name-only', from, to];
  return sortedPaths(splitNul((await git.run(args, { cwd: root })).stdout));
}

export interface FileStat {
  path: string;
  /** Null for a binary file. */
  added: number | null;
  removed: number | null;
}

export interface DiffStat {
  files: FileStat[];
  added: number;
  removed: number;
}

/** 1 git process. */
export async function diffStat(git: Git, { root, from, to }: DiffRange): Promise<DiffStat> {
  const args = ['diff-tree', ...EXACT, '-z', '--numstat', from, to];
  const files = splitNul((await git.run(args, { cwd: root })).stdout).map((line) => {
    const [added = '-', removed = '-', ...path] = line.split('\t');
    return { path: pathText(path.join('\t')), added: lineCount(added), removed: lineCount(removed) };
  });
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const sum = (key: 'added' | 'removed') => files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { files, added: sum('added'), removed: sum('removed') };
}

export interface UnifiedDiffRequest extends DiffRange {
  paths?: string[];
  /** Lines around a change; 3 by default. */
  context?: number;
  maxBytes?: number;
}

/** A patch, cut at a line's end where it is longer than `maxBytes`. 1 git process. */
export async function unifiedDiff(
  git: Git,
  request: UnifiedDiffRequest,
): Promise<{ text: string; truncated: boolean }> {
  const { root, from, to, paths = [], context = 3, maxBytes = Number.POSITIVE_INFINITY } = request;
  const look = ['-p', `-U${context}`, '--no-color', '--no-ext-diff', '--no-textconv'];
  const literal = paths.map((path) => `:(top,literal)${path}`);
  const { stdout } = await git.run(['diff-tree', ...EXACT, ...look, from, to, '--', ...literal], {
    cwd: root,
  });
  if (stdout.length <= maxBytes) return { text: stdout.toString('utf8'), truncated: false };
  const end = stdout.lastIndexOf(0x0a, maxBytes - 1) + 1;
  return { text: stdout.toString('utf8', 0, end), truncated: true };
}

export const EXACT = ['-r', '--no-renames', '--ignore-submodules=none'];

function lineCount(field: string): number | null {
  return field === '-' ? null : Number(field);
}
