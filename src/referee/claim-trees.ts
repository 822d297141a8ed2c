/**
 * What a claim does to the checks, as two git trees: which protected parts it changes, and the replay tree, which is the
 * claim with every protected part as it was at the base.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckChange } from '../domain/judgement.ts';
import type { Git } from '../git/exec.ts';
import { pathRaw, pathText, splitNul } from '../git/path-bytes.ts';
import { readBlobs } from '../git/read-blobs.ts';
import type { Pin, Pins, TreeFiles } from './pins/pins.ts';

export interface Trees {
  /** A checkout of the repository, or a room's repository. */
  cwd: string;
  base: string;
  claim: string;
}

export interface TreeEntry {
  mode: string;
  id: string;
}

export interface ChangedFile {
  path: string;
  base: TreeEntry | null;
  claim: TreeEntry | null;
}

/** An ordinary file; links, submodules and huge files have no text that could be protected in part. */
const FILE = /^100/;
const LONGEST = 4 * 1024 * 1024;

/** The files of a tree, for finding out what protects its checks. 1 git process, and 1 for each file that is read. */
export async function readTreeFiles(
  git: Git,
  { cwd, tree }: { cwd: string; tree: string },
): Promise<TreeFiles> {
  const entries = await listTree(git, { cwd, tree });
  return {
    paths: [...entries.keys()],
    read: async (path) => readText(git, cwd, entries.get(path) ?? null),
    async readMany(paths) {
      const files = paths.map((path) => ({ path, base: entries.get(path) ?? null, claim: null }));
      const texts = await readChangedTexts(git, { cwd, files });
      return new Map(texts.map(({ path, base }) => [path, base]));
    },
  };
}

/** 1 git process. */
export async function listTree(
  git: Git,
  { cwd, tree }: { cwd: string; tree: string },
): Promise<Map<string, TreeEntry>> {
  const { stdout } = await git.run(['ls-tree', '-r', '-z', '--full-tree', tree], { cwd });
  const entries = new Map<string, TreeEntry>();
  for (const line of splitNul(stdout)) {
    const [mode = '', , id = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    entries.set(pathText(line.slice(line.indexOf('\t') + 1)), { mode, id });
  }
  return entries;
}

/** Both versions of changed files, as texts; `null` where there is none. 1 git process. */
export async function readChangedTexts(
  git: Git,
  { cwd, files }: { cwd: string; files: readonly ChangedFile[] },
): Promise<{ path: string; base: string | null; claim: string | null }[]> {
  const ids = files.flatMap(({ base, claim }) => [base, claim].filter(isFile).map((entry) => entry.id));
  const contents = await readBlobs(git, { cwd, ids, maxBytes: LONGEST });
  const text = (entry: TreeEntry | null): string | null => {
    const content = isFile(entry) ? contents.get(entry.id) : null;
    return content && !content.includes(0) ? content.toString('utf8') : null;
  };
  return files.map(({ path, base, claim }) => ({ path, base: text(base), claim: text(claim) }));
}

function isFile(entry: TreeEntry | null): entry is TreeEntry {
  return entry !== null && FILE.test(entry.mode);
}

async function readText(git: Git, cwd: string, entry: TreeEntry | null): Promise<string | null> {
  if (entry === null || !FILE.test(entry.mode)) return null;
  const { stdout } = await git.run(['cat-file', 'blob', entry.id], { cwd });
  if (stdout.length > LONGEST || stdout.includes(0)) return null;
  return stdout.toString('utf8');
}

/** 1 git process. */
export async function listChangedFiles(git: Git, { cwd, base, claim }: Trees): Promise<ChangedFile[]> {
  const fields = splitNul(await git.diffTrees(cwd, { from: base, to: claim }));
  const changed: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [fromMode = '', toMode = '', fromId = '', toId = ''] = fields[at]!.slice(1).split(' ');
    changed.push({
      path: pathText(fields[at + 1]!),
      base: isNone(fromMode) ? null : { mode: fromMode, id: fromId },
      claim: isNone(toMode) ? null : { mode: toMode, id: toId },
    });
  }
  return changed;
}

function isNone(mode: string): boolean {
  return /^0+$/.test(mode);
}

export interface ClaimedChanges {
  /** What counts as a change of the checks. */
  changes: CheckChange[];
  /** What the replay tree has instead of the claim's files; `null`: nothing is there. */
  restored: { path: string; entry: TreeEntry | { mode: string; text: string } | null }[];
}

/** Reads only files that differ. */
export async function compareChecks(
  git: Git,
  { trees, pins, files }: { trees: Trees; pins: Pins; files: readonly ChangedFile[] },
): Promise<ClaimedChanges> {
  const found: ClaimedChanges = { changes: [], restored: [] };
  for (const file of files) {
    const pin = pins.of(file.path);
    if (pin !== null) await comparePinned(git, { trees, file, pin }, found);
  }
  return found;
}

async function comparePinned(
  git: Git,
  { trees: { cwd }, file, pin }: { trees: Trees; file: ChangedFile; pin: Pin },
  found: ClaimedChanges,
): Promise<void> {
  const { path, base, claim } = file;
  const what = base === null ? 'added' : claim === null ? 'removed' : 'changed';
  const isWhole = pin.part === null || [base, claim].some((entry) => entry && !FILE.test(entry.mode));
  if (isWhole || pin.part === null) {
    found.restored.push({ path, entry: base });
    // A new test adds to what is checked; a new definition may change what all of it means.
    const counts = base !== null || pin.kind === 'definition' || (await isReaching(git, { cwd, claim, pin }));
    if (counts) found.changes.push({ path, part: null, what });
    return;
  }
  const [before, after] = [await readText(git, cwd, base), await readText(git, cwd, claim)];
  if ((await pin.part.extract(before)) === (await pin.part.extract(after))) return;
  const text = await pin.part.restore(before, after);
  const mode = claim?.mode ?? base!.mode;
  found.restored.push({ path, entry: text === null ? null : { mode, text } });
  const isOnlyNew = pin.kind === 'test' && (await pin.part.extract(before)) === '';
  if (!isOnlyNew) found.changes.push({ path, part: pin.part.name, what });
}

/** A new test that decides over others; one that is a link says nothing of what it does. */
async function isReaching(
  git: Git,
  { cwd, claim, pin }: { cwd: string; claim: TreeEntry | null; pin: Pin },
): Promise<boolean> {
  if (pin.reaches === undefined) return false;
  const text = await readText(git, cwd, claim);
  return text === null || pin.reaches(text);
}

/** Its objects are written to the repository of `cwd`. 3 git processes, and 1 for each file that is restored in part. */
export async function makeReplayTree(
  git: Git,
  {
    cwd,
    folder,
    claim,
    restored,
  }: { cwd: string; folder: string; claim: string; restored: ClaimedChanges['restored'] },
): Promise<string> {
  const indexFile = join(folder, 'replay-index');
  await rm(indexFile, { force: true });
  const env = { GIT_INDEX_FILE: indexFile };
  await git.run(['read-tree', claim], { cwd, env });
  const lines: string[] = [];
  for (const { path, entry } of restored) {
    const mode = entry?.mode ?? '0';
    const id = entry === null ? NO_OBJECT : 'id' in entry ? entry.id : await writeBlob(git, cwd, entry.text);
    lines.push(`${mode} ${id}\t${rawPath(path)}`);
  }
  const stdin = Buffer.from(lines.map((line) => `${line}\0`).join(''), 'latin1');
  await git.run(['update-index', '-z', '--replace', '--index-info'], { cwd, env, stdin });
  const tree = await git.text(['write-tree'], { cwd, env });
  await rm(indexFile, { force: true });
  return tree;
}

const NO_OBJECT = '0'.repeat(40);

function rawPath(path: string): string {
  return path.startsWith('"') ? unquoted(path) : pathRaw(path);
}

/** As `pathText` quotes a path that is not UTF-8. */
function unquoted(path: string): string {
  return path
    .slice(1, -1)
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function writeBlob(git: Git, cwd: string, text: string): Promise<string> {
  return git.text(['hash-object', '-w', '--stdin', '--no-filters'], { cwd, stdin: text });
}
