import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
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
  const path = join(tmpdir(), `pulse-run-${randomBytes(12).toString('hex')}`);
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
