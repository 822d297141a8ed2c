import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of a script of this package. `name` is relative to the module that asks and has no extension: the script has
 * the extension of that module, `.ts` in a checkout and `.js` once built.
 */
export function ownScript(moduleUrl: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(fileURLToPath(moduleUrl))}`, moduleUrl));
}
