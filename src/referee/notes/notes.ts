/**
 * What a claim adds that a person wants to see before believing it: skips, exits, fewer assertions, wider tolerances,
 * mocks of what is tested, code that asks whether it is being tested. Notes inform. They never refuse.
 */
import { isTestPath } from '../pins/test-files.ts';
import { readCode } from './code-view.ts';
import { findMocks } from './mocked-subject.ts';
import { type FileKind, PATTERNS } from './patterns.ts';
import { findRemovedAssertions } from './removed-assertions.ts';
import { findWidened } from './tolerances.ts';

export type What =
  | 'skip'
  | 'only'
  | 'ignored_exit'
  | 'early_exit'
  | 'removed_assertion'
  | 'widened_tolerance'
  | 'mocked_subject'
  | 'patched_runner';

export interface Note {
  path: string;
  /** In the claim's file; of a file that is gone, 1. */
  line: number;
  what: What;
  /** The line, or what is different about it. */
  text: string;
}

export interface ChangedFile {
  path: string;
  base: string | null;
  claim: string | null;
}

const MAX_NOTES = 200;
const MAX_TEXT = 200;
const MAX_LINE = 2000;

/** In the order of the files. What only moved from one of them to another is not added. */
export async function findNotes(diff: readonly ChangedFile[]): Promise<Note[]> {
  const before = new Map<string, number>();
  for (const { path, base } of diff) {
    for (const note of base === null ? [] : await notesIn(path, base)) {
      before.set(keyOf(note), (before.get(keyOf(note)) ?? 0) + 1);
    }
  }
  const notes: Note[] = [];
  for (const file of diff) {
    const found = file.claim === null ? [] : await notesIn(file.path, file.claim);
    for (const note of found) {
      const left = before.get(keyOf(note)) ?? 0;
      if (left > 0) before.set(keyOf(note), left - 1);
      else notes.push(note);
    }
  }
  notes.push(...(await findRemovedAssertions(diff)), ...(await findWidened(diff)));
  const order = new Map(diff.map(({ path }, at) => [path, at]));
  notes.sort((one, other) => order.get(one.path)! - order.get(other.path)! || one.line - other.line);
  return notes.slice(0, MAX_NOTES);
}

function keyOf({ what, text }: Note): string {
  return `${what}\0${text}`;
}

/** What the lines of one version say. A line has each kind of note once. */
async function notesIn(path: string, content: string): Promise<Note[]> {
  const kind = kindOf(path);
  const patterns = PATTERNS.filter(({ kinds, files }) => kinds.includes(kind) && (files?.test(path) ?? true));
  // Parsing takes time, and most files say nothing of the kind.
  const lines = content.split('\n').map((line) => line.slice(0, MAX_LINE));
  const mocks = kind === 'test' && findMocks(path, content).length > 0;
  if (!mocks && !lines.some((line) => patterns.some((pattern) => pattern.line.test(line)))) return [];
  const view = await readCode(path, content);
  const [text, code, written] = [view.text, view.code, content].map((each) => each.split('\n'));
  const notes = code!.flatMap((line, at) => {
    const whats = patterns
      .filter((pattern) =>
        pattern.line.test((pattern.view === 'code' ? line : text![at]!).slice(0, MAX_LINE)),
      )
      .map(({ what }) => what);
    return [...new Set(whats)].map((what) => ({
      ...{ path, line: at + 1, what, text: written![at]!.trim().slice(0, MAX_TEXT) },
    }));
  });
  return kind === 'test' ? [...notes, ...findMocks(path, text!.join('\n'))] : notes;
}

const SCRIPT =
  /(?:^|\/)(?:package\.json|composer\.json|GNUmakefile|[Mm]akefile|\.?[jJ]ustfile|Dockerfile|Rakefile|Procfile|tox\.ini|\.pre-commit-config\.yaml|[^/]+\.(?:sh|bash|zsh|mk|just|ya?ml|toml|gradle|kts|xml|cmd|bat|ps1|ini|cfg))$/;

function kindOf(path: string): FileKind {
  if (SCRIPT.test(path)) return 'script';
  return isTestPath(path) ? 'test' : 'source';
}
