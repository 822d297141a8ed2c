import { readFileSync } from 'node:fs';

let version: string | null = null;

/** Of Pulse itself. */
export function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  version ??= (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  return version;
}
