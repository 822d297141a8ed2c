/** Keeps Pulse's scratch out of `git status`: lines in `info/exclude`, which belongs to the clone and is never committed. */
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readCommonDir, readGitDir, readOrNull, realPathOf, statOrNull } from './git-dir.ts';

/** Adds what is missing, for every worktree of the checkout's repository at once. True if it wrote. 0 git processes. */
export async function ensureExcluded(root: string): Promise<boolean> {
  const commonDir = await readCommonDir(await readGitDir(root));
  const file = await realPathOf(join(commonDir, 'info', 'exclude'));
  const content = (await readOrNull(file)) ?? '';
  const present = new Set(content.split(/\r?\n/));
  const missing = PATTERNS.filter((pattern) => !present.has(pattern));
  if (missing.length === 0) return false;
  // git takes the last pattern that matches, so a rule and its exception are written together.
  const block = `${MARK}\n${PATTERNS.join('\n')}\n`;
  await replaceFile(
    file,
    content === '' || content.endsWith('\n') ? content + block : `${content}\n${block}`,
  );
  return true;
}

const MARK = '# Pulse: scratch of its sessions';
const PATTERNS = [
  ...['.pulse/*', '!.pulse/config.*', '.context/', 'autoresearch-results.tsv'],
  // Who wants the others of a team to have it commits it: what is tracked is not hidden.
  '.codex/pulse_status.mjs',
];

/** Never half-written: a new file takes the old one's place and mode. */
async function replaceFile(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const old = await statOrNull(file);
  const draft = `${file}.pulse-${process.pid}`;
  try {
    await writeFile(draft, content);
    if (old !== null) await chmod(draft, Number(old.mode) & 0o777);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
