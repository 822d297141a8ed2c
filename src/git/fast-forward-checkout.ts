/**
 * Lets git fast-forward a person's checkout (docs/protocol/workflow.md, Review). git writes the files first and moves the
 * branch last: if it dies in between, files of the new commit lie on the old branch. A mark that is written beforehand
 * says what was begun, so that the next process can undo what git had written, and nothing else.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, rmdirSync, rmSync, type Stats } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularFile } from '../files/regular-file.ts';
import type { Git, GitResult } from './exec.ts';
import { isObjectId, missingIsNull, readGitDir, readOrNull } from './git-dir.ts';
import { pathText, splitNul } from './path-bytes.ts';
import { GITLINK, NO_FILE, parseRaw, type StagedChange } from './stage.ts';

export interface Forward {
  checkout: string;
  /** Where its branch stands. */
  from: string;
  to: string;
}

/**
 * Files of the checkout that git does not know, where the new commit has some: theirs, ignored or not. If there are
 * none, git wrote what is there later. 1 git process.
 */
export async function filesInTheWay(git: Git, forward: Forward): Promise<string[]> {
  const changes = await changesOf(git, forward);
  const isAdded = ({ oldMode }: StagedChange): boolean => oldMode === NO_FILE;
  // Where case does not count, a file that changes only its case finds itself.
  const known = new Set(changes.filter((each) => !isAdded(each)).map(({ path }) => path.toLowerCase()));
  return changes
    .filter((each) => isAdded(each) && !known.has(each.path.toLowerCase()))
    .filter(({ path }) => entryAt(forward.checkout, path) !== null)
    .map(({ path }) => pathText(path));
}

/**
 * Only where no file is in the way. The exit code is left to the caller; in every case git has done all of it or
 * nothing. git by itself would overwrite ignored files without a word.
 */
export async function fastForwardCheckout(git: Git, { checkout, from, to }: Forward): Promise<GitResult> {
  const mark = await markOf(checkout);
  await writeFile(mark, `${from} ${to}\n`, { flush: true });
  const args = ['merge', '-q', '--ff-only', '--no-overwrite-ignore', to];
  const merged = await git.attempt(args, { cwd: checkout });
  if (merged.code === 0) await rm(mark, { force: true });
  else await undoFastForward(git, { checkout, head: from });
  return merged;
}

/** Whether one was begun here and has not been seen to end. 0 git processes. */
export async function isHalfForwarded(checkout: string): Promise<boolean> {
  return (await readOrNull(await markOf(checkout))) !== null;
}

/**
 * Puts files and index back to where the branch stands, as far as git had got; `head` is that place. Returns the files
 * that somebody has changed since: then nothing is touched. May be repeated. The caller guarantees that no git works
 * in the checkout. 0 git processes where nothing was begun.
 */
export async function undoFastForward(
  git: Git,
  { checkout, head }: { checkout: string; head: string },
): Promise<string[]> {
  const mark = await markOf(checkout);
  const [from = '', to = ''] = ((await readOrNull(mark)) ?? '').trim().split(' ');
  const changes = from === head && isObjectId(to) ? await changesOf(git, { checkout, from, to }) : [];
  if (changes.length > 0) {
    await rm(join(await readGitDir(checkout), 'index.lock'), { force: true });
    const found = await look(git, { checkout, changes });
    const foreign = found.filter(({ is }) => is === 'foreign');
    if (foreign.length > 0) return foreign.map(({ path }) => pathText(path));
    await putBack(git, { checkout, found });
  }
  await rm(mark, { force: true });
  return [];
}

const MARK = 'pulse-forward';

async function markOf(checkout: string): Promise<string> {
  return join(await readGitDir(checkout), MARK);
}

/** Nothing where the new commit is gone: it was never on a branch. */
async function changesOf(git: Git, { checkout, from, to }: Forward): Promise<StagedChange[]> {
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--ignore-submodules=none', from, to];
  const { code, stdout } = await git.attempt(args, { cwd: checkout });
  return code === 0 ? parseRaw(splitNul(stdout)) : [];
}

/** `old`: as the branch has it; `begun`: git has removed it, or written it, perhaps in part. */
type Found = StagedChange & { is: 'old' | 'begun' | 'foreign' };

async function look(
  git: Git,
  { checkout, changes }: { checkout: string; changes: readonly StagedChange[] },
): Promise<Found[]> {
  const there = changes.map((change) => ({ ...change, entry: entryAt(checkout, change.path) }));
  const files = there.filter(({ entry }) => entry?.isFile()).map(({ path }) => path);
  const ids = await idsOf(git, { checkout, files });
  const found: Found[] = [];
  for (const { entry, ...change } of there) {
    const { path, oldId, oldMode, newId, newMode } = change;
    if ([oldMode, newMode].includes(GITLINK)) {
      found.push({ ...change, is: 'old' });
      continue;
    }
    const id = entry?.isSymbolicLink() ? linkId(checkout, change) : ids.get(path);
    const isRunnable = entry !== null && (entry.mode & 0o100) !== 0;
    const isOld =
      id === undefined ? oldMode === NO_FILE : id === oldId && isRunnable === (oldMode === '100755');
    const isBegun =
      id === undefined || id === newId || id === oldId || (await isPart(git, { checkout, change }));
    found.push({ ...change, is: isOld ? 'old' : isBegun ? 'begun' : 'foreign' });
  }
  return found;
}

/** `null` for a folder, too: where a file is expected, it is none. */
function entryAt(checkout: string, path: string): Stats | null {
  try {
    const entry = lstatSync(placeOf(checkout, path));
    return entry.isDirectory() ? null : entry;
  } catch (error) {
    return missingIsNull(error as NodeJS.ErrnoException);
  }
}

function placeOf(checkout: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${checkout}/`), Buffer.from(path, 'latin1')]);
}

/** As git would store them, line ends and filters considered. */
async function idsOf(
  git: Git,
  { checkout, files }: { checkout: string; files: readonly string[] },
): Promise<Map<string, string>> {
  if (files.length === 0) return new Map();
  const stdin = files.map((path) => `${quoted(path)}\n`).join('');
  const said = await git.text(['hash-object', '--stdin-paths'], { cwd: checkout, stdin });
  const ids = said.split('\n');
  return new Map(files.map((path, index) => [path, ids[index]!]));
}

function quoted(path: string): string {
  const bytes = path.replace(
    /[^\x20-\x7e]|["\\]/g,
    (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${bytes}"`;
}

function linkId(checkout: string, { path, newId }: StagedChange): string {
  const target = readlinkSync(placeOf(checkout, path), 'buffer');
  const hash = createHash(newId.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
}

/** The beginning of what git was about to write. */
async function isPart(
  git: Git,
  { checkout, change: { path, newId, newMode } }: { checkout: string; change: StagedChange },
): Promise<boolean> {
  if (newMode === NO_FILE) return false;
  const args = ['cat-file', '--filters', `--path=${pathText(path)}`, newId];
  const whole = (await git.run(args, { cwd: checkout })).stdout;
  const written = await readRegularFile(placeOf(checkout, path));
  return written.equals(whole.subarray(0, written.length));
}

/** What goes makes room for what comes back: a file may have taken the place of a folder. */
async function putBack(
  git: Git,
  { checkout, found }: { checkout: string; found: readonly Found[] },
): Promise<void> {
  const [added, known] = [
    found.filter(({ oldMode }) => oldMode === NO_FILE),
    found.filter(({ oldMode }) => oldMode !== NO_FILE),
  ];
  const lines = [
    ...added.map(({ path, oldId }) => `0 ${oldId}\t${path}\0`),
    ...known.map(({ path, oldMode, oldId }) => `${oldMode} ${oldId}\t${path}\0`),
  ];
  const input = (text: string) => ({ cwd: checkout, stdin: Buffer.from(text, 'latin1') });
  await git.run(['update-index', '-z', '--index-info'], input(lines.join('')));
  for (const { path, is } of added) if (is === 'begun') removeFile(checkout, path);
  const back = known.filter(({ is }) => is === 'begun').map(({ path }) => `${path}\0`);
  if (back.length === 0) return;
  await git.run(['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], input(back.join('')));
}

function removeFile(checkout: string, path: string): void {
  const names = path.split('/');
  if (entryAt(checkout, path) !== null) rmSync(placeOf(checkout, path));
  // The folders that git made for it.
  while (names.pop() !== undefined && names.length > 0) {
    try {
      rmdirSync(placeOf(checkout, names.join('/')));
    } catch {
      return; // something else is in it
    }
  }
}
