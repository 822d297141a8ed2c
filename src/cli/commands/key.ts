import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { readTextOrNull } from '../../files/regular-file.ts';
import { resolveHome } from '../../home.ts';
import { oneLine, openProofKey, toPem } from '../../referee/proof/key.ts';
import type { CommandContext } from '../command-spec.ts';

/** Needs no store: it must work before the first session, and where the store is away. */
export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const key = await openProofKey(resolveHome(environment).key);
  const file = input.text('export');
  if (file !== undefined) await writeNew(resolve(cwd, file), toPem(key));
  if (output.isJson) {
    output.json({ id: key.id, publicKey: oneLine(key), pem: toPem(key) });
    return 0;
  }
  output.data(`key  ${oneLine(key)}\nid   ${key.id}`);
  if (file !== undefined) output.talk(`Wrote ${file}`);
  else
    output.talk(
      'Who believes its proofs adds the key to proof.keys in .pulse/config.yaml of the base branch.',
    );
  return 0;
}

/** A key that others rely on is not replaced by accident. */
async function writeNew(path: string, content: string): Promise<void> {
  await writeFile(path, content, { flag: 'wx' }).catch(async (cause: NodeJS.ErrnoException) => {
    const isThere = cause.code === 'EEXIST' && (await readTextOrNull(path)) === content;
    if (isThere) return;
    throw new PulseError('invalid_input', `${path} cannot be written: ${cause.message}`, { cause });
  });
}
