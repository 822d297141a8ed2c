/** Where research writes beside the user's work, and how. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { makeFolder, writeBelow } from '../../../files/folder.ts';
import { refused } from '../../../files/regular-file.ts';
import type { Session } from '../../../store/sessions.ts';

/** What is written of a session beside the user's work: its log, its file, its report, its plan. */
export function sessionPath(
  { id, project_path }: Session,
  extension: 'tsv' | 'json' | 'html' | 'plan.yaml',
): string {
  return join(project_path, '.context/research-sessions', `${id}.${extension}`);
}

/** Never half-written, and never through a link of the repository's to somewhere else. */
export async function replace({ project_path: root }: Session, path: string, text: string): Promise<void> {
  await writeBelow(root, path, text);
}

/** As `replace`, at the end of what is there. */
export async function append({ project_path: root }: Session, path: string, text: string): Promise<void> {
  const names = relative(root, dirname(path)).split(sep).filter(Boolean);
  await using folder = await makeFolder(root, names);
  const { O_WRONLY, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  await using file = await open(folder.at(basename(path)), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  if (!(await file.stat()).isFile()) throw refused('not_regular', path);
  await file.write(text);
}
