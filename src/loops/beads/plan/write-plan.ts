import { basename, dirname, extname, join, sep } from 'node:path';
import { PulseError } from '../../../domain/errors.ts';
import { createIn, makeFolder } from '../../../files/folder.ts';
import { readTextOrNull } from '../../../files/regular-file.ts';
import { type BeadDraft, writeDraft } from './draft.ts';

const MOST_NAMES = 100;

/**
 * Writes the draft below the repository's top and never over another file: where the name is taken, the next one that is
 * free. Its own file it knows by the content. Returns the name.
 */
export async function writePlanFile(
  root: string,
  { file, draft }: { file: string; draft: BeadDraft },
): Promise<string> {
  const content = writeDraft(draft);
  const folder = dirname(file);
  await using open = await makeFolder(root, folder === '.' ? [] : folder.split(sep));
  for (let number = 1; number <= MOST_NAMES; number++) {
    const end = extname(file);
    const name = number === 1 ? basename(file) : `${basename(file, end)}-${number}${end}`;
    const path = join(folder, name);
    if (await createIn(open, name, content)) return path;
    if ((await readTextOrNull(open.at(name)).catch(() => null)) === content) return path;
  }
  throw new PulseError('invalid_input', `${file} and the names after it are taken.`);
}
