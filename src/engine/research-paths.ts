/** Where research writes beside the user's work, and how. */
import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Session } from '../store/sessions.ts';

/** What is written of a session beside the user's work: its log, its file, its report, its plan. */
export function sessionPath(
  { id, project_path }: Session,
  extension: 'tsv' | 'json' | 'html' | 'plan.yaml',
): string {
  return join(project_path, '.context/research-sessions', `${id}.${extension}`);
}

/** Never half-written. */
export async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(draft, text);
  await rename(draft, path);
}
