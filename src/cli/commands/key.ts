import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { readTextOrNull } from '../../files/regular-file.ts';
import { resolveHome } from '../../home.ts';
import {
  listEarlierKeys,
  oneLine,
  openProofKey,
  type PublicProofKey,
  rotateProofKey,
  toPem,
} from '../../referee/proof/key.ts';
import type { CommandContext } from '../command-spec.ts';

/** Needs no store: it must work before the first session, and where the store is away. */
export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const folder = resolveHome(environment).key;
  const isRotation = input.argument('ACTION') === 'rotate';
  const key = isRotation ? (await rotateProofKey(folder)).key : await openProofKey(folder);
  const earlier = await listEarlierKeys(folder);
  const file = input.text('export');
  if (file !== undefined) await writeNew(resolve(cwd, file), toPem(key));
  if (output.isJson) {
    const view = (one: PublicProofKey) => ({ id: one.id, publicKey: oneLine(one) });
    output.json({ ...view(key), pem: toPem(key), earlier: earlier.map(view) });
    return 0;
  }
  const lines = earlier.map((one) => `was  ${oneLine(one)}\n     ${one.id}`);
  output.data([`key  ${oneLine(key)}\nid   ${key.id}`, ...lines].join('\n'));
  if (file !== undefined) output.talk(`Wrote ${file}`);
  else output.talk(isRotation ? AFTER_ROTATION : BELIEVE);
  return 0;
}

const BELIEVE =
  'Who believes its proofs adds the key to proof.keys in .pulse/config.yaml of the base branch.';
const AFTER_ROTATION =
  'Proofs are signed with the new key from now on. Add it to proof.keys in .pulse/config.yaml of the base branch. Leave ' +
  'the old one there as long as its proofs count; if somebody else may have had it, take it out.';

/** A key that others rely on is not replaced by accident. */
async function writeNew(path: string, content: string): Promise<void> {
  await writeFile(path, content, { flag: 'wx' }).catch(async (cause: NodeJS.ErrnoException) => {
    const isThere = cause.code === 'EEXIST' && (await readTextOrNull(path)) === content;
    if (isThere) return;
    throw new PulseError('invalid_input', `${path} cannot be written: ${cause.message}`, { cause });
  });
}
