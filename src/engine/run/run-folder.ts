import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A run's own folder: nobody else may look into it, and it is gone after the run. */
export interface RunFolder extends Disposable {
  path: string;
  /** Text by file name. Throws for a name that leads elsewhere. */
  write(files: Readonly<Record<string, string>>): void;
}

/**
 * Made when something is written into it: most agents need none. At once, not through Node's threads: a few small files
 * take a fraction of the time that the way there and back takes.
 */
export function openRunFolder(): RunFolder {
  const path = join(tmpdir(), `pulse-run-${process.pid}-${randomBytes(12).toString('hex')}`);
  let isMade = false;
  return {
    path,
    write(files) {
      if (Object.keys(files).length === 0) return;
      mkdirSync(path, { mode: 0o700 });
      isMade = true;
      for (const [name, text] of Object.entries(files)) {
        if (basename(name) !== name) throw new Error(`"${name}" is no file of the run's folder`);
        writeFileSync(join(path, name), text, { mode: 0o600, flag: 'wx' });
      }
    },
    [Symbol.dispose]() {
      if (isMade) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** A process of another container may share this folder and not our numbers of processes. */
const LEFT_FOR_MS = 60 * 60_000;

/** Of processes that were killed; the tokens in them are void. */
export async function clearRunFolders(nowMs: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir());
  await Promise.allSettled(
    names.map(async (name) => {
      const pid = /^pulse-(?:run|index|hook|measure|verify)-(\d+)-[0-9A-Za-z]{6,24}$/.exec(name)?.[1];
      if (pid === undefined || isAlive(Number(pid))) return;
      const path = join(tmpdir(), name);
      const { mtimeMs } = await stat(path);
      if (nowMs - mtimeMs > LEFT_FOR_MS) await rm(path, { recursive: true, force: true });
    }),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
