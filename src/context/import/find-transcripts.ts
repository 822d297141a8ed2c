/** Where transcripts lie: what a person names, or what Claude Code and Codex keep of a repository. */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isClaudeEntry } from './claude-transcript.ts';
import { codexFolder, isCodexEntry } from './codex-transcript.ts';
import { isRecord } from './transcript.ts';
import { openTranscript, transcriptLines } from './transcript-lines.ts';

const MOST_FILES = 20_000;
const MOST_DEPTH = 8;
/** A transcript says what it is near its beginning. */
const LINES_LOOKED_AT = 100;

export type TranscriptKind = 'claude' | 'codex';

export interface Transcript {
  path: string;
  kind: TranscriptKind;
}

export interface FoundFile {
  path: string;
  /** A person named this very file: then it must be a transcript. */
  isNamed: boolean;
  /** Only a session of one of these folders is meant. */
  folders?: readonly string[];
}

/** Folders are looked through for `*.jsonl`; links in them are not followed. */
export async function findNamed(paths: readonly string[]): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const path of paths) {
    const entry = await lstat(path).catch(() => null);
    if (!entry?.isDirectory()) found.push({ path, isNamed: true });
    else for (const file of await filesBelow(path, MOST_DEPTH)) found.push({ path: file, isNamed: false });
  }
  return found;
}

/** What both agents keep of the repository at `root`. */
export async function findOfRepository(root: string, environment: NodeJS.ProcessEnv): Promise<FoundFile[]> {
  const folders = [...new Set([root, await realpath(root)])];
  const home = environment.HOME ?? homedir();
  const claude = environment.CLAUDE_CONFIG_DIR || join(home, '.claude');
  const codex = environment.CODEX_HOME || join(home, '.codex');
  const found: FoundFile[] = [];
  for (const slug of new Set(folders.map((folder) => folder.replace(/[^A-Za-z0-9]/g, '-'))))
    for (const path of await filesBelow(join(claude, 'projects', slug), 0))
      found.push({ path, isNamed: false });
  for (const path of await filesBelow(join(codex, 'sessions'), MOST_DEPTH))
    if (/(?:^|\/)rollout-[^/]*$/.test(path)) found.push({ path, isNamed: false, folders });
  return found;
}

/** What the file is; `null`: no transcript, or of another folder. */
export async function recogniseTranscript({ path, folders }: FoundFile): Promise<Transcript | null> {
  await using file = await openTranscript(path);
  let looked = 0;
  for await (const read of transcriptLines(file)) {
    if (looked++ === LINES_LOOKED_AT) break;
    if ('skip' in read || !isRecord(read.value)) continue;
    if (isCodexEntry(read.value)) {
      const folder = codexFolder(read.value);
      if (!folders) return { path, kind: 'codex' };
      if (folder !== null) return (await isOneOf(folder, folders)) ? { path, kind: 'codex' } : null;
    } else if (!folders && isClaudeEntry(read.value)) return { path, kind: 'claude' };
  }
  return null;
}

async function isOneOf(folder: string, folders: readonly string[]): Promise<boolean> {
  return folders.includes(folder) || folders.includes(await realpath(folder).catch(() => folder));
}

/** In the order of their names, so that reading them twice is the same. */
async function filesBelow(folder: string, depth: number): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isFile() && entry.name.endsWith('.jsonl')) files.push(path);
    else if (entry.isDirectory() && depth > 0) files.push(...(await filesBelow(path, depth - 1)));
    if (files.length >= MOST_FILES) break;
  }
  return files.slice(0, MOST_FILES);
}
