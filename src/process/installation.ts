/** Where programs live that are not the system's: what must be seen for them to run. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';

export interface Programs {
  path: string;
  home: string;
  /** Files, as the user calls them: a symlink is followed. */
  programs: readonly string[];
}

/**
 * The folders of the PATH and the packages of the programs. Never the home folder or one that holds it: a PATH that names
 * such a folder does not open it.
 */
export function installations({ path, home, programs }: Programs): string[] {
  const folders = path.split(':').filter((folder) => isAbsolute(folder) && existsSync(folder));
  const found = [
    ...folders.flatMap((folder) => [...folderWithLibraries(folder, home), ...packageOf(folder)]),
    ...programs.flatMap((program) => {
      const real = realpathSync(program);
      return [program, real, ...packageOf(real), ...libraries(dirname(real), home)];
    }),
  ];
  return [...new Set(found)].filter((folder) => !holds(folder, home));
}

/** Whether a folder is another or has it below it, by its letters. */
export function holds(folder: string, path: string): boolean {
  return `${path}/`.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function folderWithLibraries(folder: string, home: string): string[] {
  return [folder, ...libraries(folder, home)];
}

/** `<prefix>/bin` goes with `<prefix>/lib`; what lies beside a `bin` in the home folder itself is somebody's own. */
function libraries(folder: string, home: string): string[] {
  const prefix = dirname(folder);
  return basename(folder) === 'bin' && prefix !== home ? [join(prefix, 'lib')] : [];
}

/** The outermost `node_modules`: packages there need each other. */
function packageOf(path: string): string[] {
  const at = `${path}/`.indexOf('/node_modules/');
  return at === -1 ? [] : [path.slice(0, at + '/node_modules'.length)];
}
