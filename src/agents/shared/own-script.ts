import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of a script of this package, named without extension and relative to the module that asks: it ends as that
 * module does, `.ts` in a checkout and `.js` once built.
 */
export function ownScript(moduleUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(fileURLToPath(moduleUrl))}`, moduleUrl));
}
