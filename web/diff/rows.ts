/** A diff as one flat list of rows, so that only those in view need to exist. */
import type { Comment, DiffFile } from '../api/types.ts';
import { type HunkHead, type Line, linesOf } from './parse.ts';

export interface Place {
  path: string;
  side: Comment['side'];
  line: number;
}

export type DiffRow =
  | { row: 'file'; key: string; file: DiffFile; index: number }
  | { row: 'hunk'; key: string; text: string }
  | { row: 'line'; key: string; line: Line; place: Place }
  | { row: 'note'; key: string; text: string; file: DiffFile }
  | { row: 'comment'; key: string; comment: Comment; index: number }
  | { row: 'editor'; key: string; place: Place };

export interface RowsAsked {
  files: readonly DiffFile[];
  isFolded(path: string): boolean;
  comments: readonly Comment[];
  editing: Place | null;
}

export function rowsOf({ files, isFolded, comments, editing }: RowsAsked): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const [index, file] of files.entries()) {
    rows.push({ row: 'file', key: file.path, file, index });
    if (isFolded(file.path)) continue;
    if (file.patch === null) rows.push({ row: 'note', key: `${file.path}:note`, text: whyEmpty(file), file });
    for (const [at, line] of linesOf(file).entries()) addLine(rows, { file, line, at, comments, editing });
    if (file.patch !== null && file.isTruncated)
      rows.push({ row: 'note', key: `${file.path}:more`, text: 'The rest of this file is left out.', file });
  }
  return rows;
}

interface Added extends Pick<RowsAsked, 'comments' | 'editing'> {
  file: DiffFile;
  line: Line | HunkHead;
  at: number;
}

function addLine(rows: DiffRow[], { file: { path }, line, at, comments, editing }: Added): void {
  const key = `${path}:${at}`;
  if (line.kind === 'hunk') return void rows.push({ row: 'hunk', key, text: line.text });
  const place: Place =
    line.kind === 'delete' ? { path, side: 'old', line: line.old! } : { path, side: 'new', line: line.new! };
  rows.push({ row: 'line', key, line, place });
  for (const [index, comment] of comments.entries()) {
    if (isAt(comment, place)) rows.push({ row: 'comment', key: `${key}:c${index}`, comment, index });
  }
  if (editing && isAt(editing, place)) rows.push({ row: 'editor', key: `${key}:e`, place });
}

function isAt(a: Place, b: Place): boolean {
  return a.path === b.path && a.side === b.side && a.line === b.line;
}

function whyEmpty(file: DiffFile): string {
  if (file.isBinary) return 'A binary file.';
  return file.isTruncated
    ? 'This file is too long to be shown with the others.'
    : 'Only its mode was changed.';
}
