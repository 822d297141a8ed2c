/** Puts files of Pulse's own into a room, over what a claim has there. */
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface LaidFile {
  path: string;
  content: Buffer;
  /** `null`: that of the file in whose place it stands. */
  mode: number | null;
}

/** What stands in their place, or is a link on the way to it, goes: through it a file would leave the room. */
export async function layFiles(tree: string, files: readonly LaidFile[]): Promise<void> {
  for (const file of files) await layFile(tree, file);
}

async function layFile(tree: string, { path, content, mode }: LaidFile): Promise<void> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  let at = tree;
  for (const part of parts.slice(0, -1)) {
    at = join(at, part);
    const entry = await lstat(at).catch(() => null);
    if (entry?.isDirectory()) continue;
    await rm(at, { recursive: true, force: true });
    await mkdir(at);
  }
  const target = join(at, parts.at(-1)!);
  const before = await lstat(target).catch(() => null);
  await rm(target, { recursive: true, force: true });
  const bits = mode ?? (before?.isFile() ? before.mode : 0o644);
  await writeFile(target, content, { mode: bits & 0o777, flag: 'wx' });
}
