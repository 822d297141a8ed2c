/** `service.env`: the variables that the service has beside those of its unit, secrets among them. */
import { appendFile, chmod, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PulseError } from '../domain/errors.ts';

export const DATABASE = 'PULSE_DATABASE_URL';

/** Read alike by systemd and by the shell of the launchd agent, without quotes. */
const PLAIN = /^[\w%:/@?=&.,+~!*()[\]-]+$/;

/** The last of that name counts. A file that is not there has none. */
export async function readUnitVariable(file: string, name: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const line = text
    .split('\n')
    .map((each) => each.trim())
    .findLast((each) => each.startsWith(`${name}=`));
  return line === undefined ? null : line.slice(name.length + 1).replace(/^(["'])(.*)\1$/, '$2');
}

/** Throws for a value that would not be read as it is. */
export function assertPlain(file: string, name: string, value: string): void {
  if (PLAIN.test(value)) return;
  throw new PulseError('usage', `${name} has signs that cannot be written into ${file} as they are.`, {
    hint: `Write the line ${name}=… there yourself, with quotes, then try again.`,
  });
}

/** Behind what stands there; from then on nobody else can read the file. */
export async function addUnitVariable(file: string, name: string, value: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const before = await readFile(file, 'utf8').catch(() => '');
  // Before the secret is in it.
  if (before !== '') await chmod(file, 0o600);
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  await appendFile(file, `${gap}${name}=${value}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}
