import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A run's own folder: nobody else may look into it, and it is gone after the run. */
export interface RunFolder extends AsyncDisposable {
  path: string;
  /** Text by file name. Throws for a name that leads elsewhere. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/** Made when something is written into it: most agents need none. */
export function openRunFolder(): RunFolder {
  const path = join(tmpdir(), `pulse-run-${process.pid}-${randomBytes(12).toString('hex')}`);
  let isMade = false;
  return {
    path,
    async write(files) {
      if (Object.keys(files).length === 0) return;
      await mkdir(path, { mode: 0o700 });
      isMade = true;
      for (const [name, text] of Object.entries(files)) {
        if (basename(name) !== name) throw new Error(`"${name}" is no file of the run's folder`);
        await writeFile(join(path, name), text, { mode: 0o600, flag: 'wx' });
      }
    },
    async [Symbol.asyncDispose]() {
      if (isMade) await rm(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** A process of another container may share this folder and not our numbers of processes. */
const LEFT_FOR_MS = 60 * 60_000;

/** Of processes that were killed; the tokens in them open nothing any more. */
export async function clearRunFolders(nowMs: number = Date.now()): Promise<void> {
  const names = await readdir(tmpdir());
  await Promise.allSettled(
    names.map(async (name) => {
      const pid = /^pulse-run-(\d+)-[0-9a-f]{24}$/.exec(name)?.[1];
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
