import type { CommandContext } from '../../cli/command-spec.ts';
import { projectHere } from './project-here.ts';

/** The words of the command as absolute paths: what is typed in a folder is meant from there. Patterns stay patterns. */
export function pathsFrom(context: CommandContext): string[] {
  const here = projectHere(context);
  const words = context.input.words('PATH');
  return words.map((path) => (path === '' || path.startsWith('/') ? path : `${here}/${path}`));
}
