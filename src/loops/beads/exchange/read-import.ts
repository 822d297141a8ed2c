/** Which of the forms a file has. */
import { basename, extname } from 'node:path';
import { PulseError } from '../../../domain/errors.ts';
import type { BeadContent } from '../graph/rows.ts';
import { draftToBeads, isDraft, parseDraft, parseYaml } from '../plan/draft.ts';
import { IMPORT_FORMATS, type ImportFormat } from './formats.ts';
import { type FileLine, readIssueFile } from './issue-file.ts';
import { isIssue } from './issue-line.ts';
import { isGithub, readGithub } from './task-lists/github.ts';
import { readMarkdown } from './task-lists/markdown.ts';
import { isRalph, readRalph } from './task-lists/ralph.ts';
import { faulty, type ListOptions, type Task, tasksToBeads } from './task-lists/task-list.ts';
import { isTaskMaster, readTaskMaster } from './task-lists/task-master.ts';

/** Lines of an issue file, or the beads of a list of tasks. */
export type ReadImport = { lines: FileLine[] } | { beads: BeadContent[] };

/** `file`: its name, by which a format is known. Throws `invalid_input`. */
export function readImport(
  text: string,
  { file, format, now }: { file: string; format?: ImportFormat; now: string },
): ReadImport {
  const ending = extname(file).toLowerCase();
  const options: ListOptions = { now, name: basename(file, extname(file)) || 'tasks' };
  if (format === 'issues' || (format === undefined && ending === '.jsonl'))
    return { lines: readIssueFile(text, now) };
  if (format === 'markdown' || (format === undefined && ['.md', '.markdown'].includes(ending)))
    return { beads: tasksToBeads(readMarkdown(text, options), options) };
  if (format === 'draft' || (format === undefined && ['.yaml', '.yml'].includes(ending)))
    return { beads: readDraft(text, now) };
  const value = parse(text);
  if (format === undefined && isDraft(value)) return { beads: readDraft(text, now) };
  const found = value === undefined ? null : readList(value, { format, options });
  if (found) return { beads: tasksToBeads(found, options) };
  if (format !== undefined) throw faulty(`it is no list of ${format}`);
  if (value === undefined ? /^\s*\{/.test(text) : isIssue(value)) return { lines: readIssueFile(text, now) };
  if (value === undefined) return { beads: tasksToBeads(readMarkdown(text, options), options) };
  throw new PulseError('invalid_input', `${file} is in no form that can be imported.`, {
    hint: `Say which one it is: --format ${IMPORT_FORMATS.join(', ')}.`,
  });
}

function readDraft(text: string, now: string): BeadContent[] {
  const value = parseYaml(text);
  if (value === undefined) throw faulty('it is no YAML');
  return draftToBeads(parseDraft(value), now);
}

function readList(
  value: unknown,
  { format, options }: { format?: ImportFormat; options: ListOptions },
): Task[] | null {
  const isAsked = (name: ImportFormat): boolean => format === undefined || format === name;
  if (isAsked('ralph') && isRalph(value)) return readRalph(value, options);
  if (isAsked('github') && isGithub(value)) return readGithub(value);
  if (isAsked('task-master') && isTaskMaster(value)) return readTaskMaster(value);
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
