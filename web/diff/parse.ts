/** Patches as rows. */
import parser from 'gitdiff-parser';
import type { DiffFile } from '../api/types.ts';

export interface Line {
  kind: 'insert' | 'delete' | 'normal';
  old: number | null;
  new: number | null;
  text: string;
}

export interface HunkHead {
  kind: 'hunk';
  text: string;
}

/** Of one file's patch. What cannot be read is shown as it is. */
export function linesOf({ path, patch }: Pick<DiffFile, 'path' | 'patch'>): (Line | HunkHead)[] {
  if (!patch) return [];
  const whole = patch.startsWith('diff --git') ? patch : `diff --git a/x b/x\n--- a/x\n+++ b/x\n${patch}`;
  const hunks = readHunks(whole);
  if (hunks === null || hunks.length === 0) return rawLines(patch, path);
  return hunks.flatMap(({ content, changes }) => [
    { kind: 'hunk' as const, text: content },
    ...changes.map((change): Line => {
      if (change.type === 'insert')
        return { kind: 'insert', old: null, new: change.lineNumber, text: change.content };
      if (change.type === 'delete')
        return { kind: 'delete', old: change.lineNumber, new: null, text: change.content };
      return { kind: 'normal', old: change.oldLineNumber, new: change.newLineNumber, text: change.content };
    }),
  ]);
}

/** A patch of several files, as each file's own. */
export function filesOfPatch(patch: string): DiffFile[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const lines = linesOf({ path: '', patch: part });
      const counted = (kind: string): number => lines.filter((line) => line.kind === kind).length;
      return {
        path: pathOf(part),
        status: statusOf(part),
        added: counted('insert'),
        removed: counted('delete'),
        isBinary: /^Binary files /m.test(part),
        oldMode: null,
        newMode: null,
        patch: part,
        isTruncated: false,
      };
    });
}

function readHunks(patch: string) {
  try {
    return parser.parse(patch)[0]?.hunks ?? null;
  } catch {
    return null;
  }
}

function rawLines(patch: string, _path: string): HunkHead[] {
  return patch
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('diff --git'))
    .map((text) => ({ kind: 'hunk', text }));
}

function pathOf(part: string): string {
  const named = /^\+\+\+ (?:b\/)?(.+)$/m.exec(part)?.[1];
  if (named && named !== '/dev/null') return named;
  return /^--- (?:a\/)?(.+)$/m.exec(part)?.[1] ?? /^diff --git a\/(.+?) b\//.exec(part)?.[1] ?? '';
}

function statusOf(part: string): DiffFile['status'] {
  if (/^new file mode/m.test(part)) return 'added';
  return /^deleted file mode/m.test(part) ? 'deleted' : 'modified';
}
