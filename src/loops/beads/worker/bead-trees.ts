/** Trees that Pulse itself makes of a bead's work. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Git } from '../../../git/exec.ts';
import { treeOf } from '../../../git/git-dir.ts';
import { listChangedFiles, makeReplayTree } from '../../../referee/claim-trees.ts';

/** The tree with the same text in each of these places. */
export async function withText(
  git: Git,
  { cwd, tree, paths, text }: { cwd: string; tree: string; paths: readonly string[]; text: string },
): Promise<string> {
  const restored = paths.map((path) => ({ path, entry: { mode: '100644', text } }));
  return inFolder((folder) => makeReplayTree(git, { cwd, folder, claim: tree, restored }));
}

/** The tree with these files as the start has them. */
export async function asAtStart(
  git: Git,
  { cwd, baseSha, tree, paths }: { cwd: string; baseSha: string; tree: string; paths: readonly string[] },
): Promise<string> {
  const base = await treeOf(git, { cwd, commit: baseSha });
  const files = await listChangedFiles(git, { cwd, base, claim: tree });
  const restored = files
    .filter(({ path }) => paths.includes(path))
    .map((file) => ({ path: file.path, entry: file.base }));
  if (restored.length === 0) return tree;
  return inFolder((folder) => makeReplayTree(git, { cwd, folder, claim: tree, restored }));
}

export interface StartRequest {
  cwd: string;
  baseSha: string;
  tree: string;
  isTest(path: string): boolean;
}

/** The start of a bead with the tests that its work has: what was written before the code must fail there. */
export async function startWithTests(
  git: Git,
  { cwd, baseSha, tree, isTest }: StartRequest,
): Promise<string> {
  const base = await treeOf(git, { cwd, commit: baseSha });
  const files = await listChangedFiles(git, { cwd, base, claim: tree });
  const restored = files
    .filter(({ path }) => isTest(path))
    .map(({ path, claim }) => ({ path, entry: claim }));
  return inFolder((folder) => makeReplayTree(git, { cwd, folder, claim: base, restored }));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `pulse-tree-${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
