/**
 * The installation's key: an ed25519 key pair in the state directory, which no sandbox shows. Made once; proofs that it
 * signed stay true when it is gone, as long as somebody knows its public half.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { openRegularFile, readHandle, readTextOrNull } from '../../files/regular-file.ts';

const NAME = 'ed25519.pem';
const MOST_BYTES = 16 * 1024;

export interface PublicProofKey {
  /** SHA-256 of the key's SPKI form. */
  id: string;
  publicKey: KeyObject;
}

export interface ProofKey extends PublicProofKey {
  privateKey: KeyObject;
  path: string;
}

/**
 * The key in this folder of the state directory, made if there is none: of several that make it at once, all get the
 * same. Throws `unsafe_file` where others could read or replace it.
 */
export async function openProofKey(folder: string): Promise<ProofKey> {
  const path = join(folder, NAME);
  return (await readProofKey(folder)) ?? (await makeKey(path));
}

/** `null`: there is none yet. */
async function readProofKey(folder: string): Promise<ProofKey | null> {
  const path = join(folder, NAME);
  const pem = await readPrivate(path);
  if (pem === null) return null;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw noKey(path, 'holds no private key', { cause });
  }
  if (privateKey.asymmetricKeyType !== 'ed25519') throw noKey(path, 'holds a key that is not ed25519');
  return { ...publicHalf(createPublicKey(privateKey)), privateKey, path };
}

/** From PEM, or from the one line of `oneLine`. Throws `invalid_input`. */
export function readPublicKey(text: string, source: string): PublicProofKey {
  const trimmed = text.trim();
  // A private key would be read, too, and then be lying about where it does not belong.
  const isPrivate = /PRIVATE KEY/.test(trimmed);
  const key = isPrivate ? null : parsePublic(trimmed);
  if (key?.asymmetricKeyType === 'ed25519') return publicHalf(key);
  throw new PulseError('invalid_input', `${source} is no public ed25519 key.`, {
    hint: isPrivate
      ? 'It is a private key. Nobody but its owner should have it; `pulse key` shows the public one.'
      : '`pulse key` shows the key of an installation, `pulse key --export FILE` writes it.',
  });
}

/** As it stands in `proof.keys`. */
export function oneLine({ publicKey }: PublicProofKey): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

export function toPem({ publicKey }: PublicProofKey): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

function parsePublic(text: string): KeyObject | null {
  try {
    return text.startsWith('-----')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
  } catch {
    return null;
  }
}

function publicHalf(publicKey: KeyObject): PublicProofKey {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(spki).digest('hex'), publicKey };
}

/** Written whole under another name, then linked: who comes second finds it there and takes it. */
async function makeKey(path: string): Promise<ProofKey> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await assertOurs(folder);
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = await writeDraft(folder, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  try {
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readProofKey(folder);
  if (made === null) throw noKey(path, 'is gone again');
  return made;
}

/**
 * Puts another key in the place of this one, whose private half is gone then. The public halves of both stay, so that
 * what they have signed can be believed for as long as somebody wants to.
 */
export async function rotateProofKey(folder: string): Promise<{ key: ProofKey; replaced: ProofKey }> {
  const replaced = await openProofKey(folder);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  // Before it signs anything: of two rotations at once, the one that comes first may have signed when the second comes.
  for (const half of [replaced, publicHalf(publicKey)]) await keepPublicHalf(folder, half);
  const draft = await writeDraft(folder, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await rename(draft, join(folder, NAME)).catch(async (error: unknown) => {
    await rm(draft, { force: true });
    throw error;
  });
  await removeOldDrafts(folder);
  return { key: await openProofKey(folder), replaced };
}

/** The keys that this installation has had before, in the order of their ids. */
export async function listEarlierKeys(folder: string): Promise<PublicProofKey[]> {
  const { id } = await openProofKey(folder);
  const names = await readdir(join(folder, EARLIER)).catch(() => []);
  const keys = names
    .filter((name) => /^[0-9a-f]{64}\.pem$/.test(name) && name !== `${id}.pem`)
    .toSorted()
    .map(async (name) => {
      const path = join(folder, EARLIER, name);
      return readPublicKey((await readTextOrNull(path)) ?? '', path);
    });
  return Promise.all(keys);
}

const EARLIER = 'public';

async function keepPublicHalf(folder: string, half: PublicProofKey): Promise<void> {
  const place = join(folder, EARLIER);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const draft = await writeDraft(folder, toPem(half));
  await rename(draft, join(place, `${half.id}.pem`));
}

const DRAFT = /^\.[0-9a-f]{16}\.tmp$/;
/** A younger one may belong to another process that is writing it now. */
const OLD_DRAFT_MS = 60_000;

/** A crash may have left one, and the private half that was just replaced is perhaps in it. */
async function removeOldDrafts(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((one) => DRAFT.test(one))) {
    const draft = await lstat(join(folder, name)).catch(() => null);
    if (draft && Date.now() - draft.mtimeMs > OLD_DRAFT_MS) await rm(join(folder, name), { force: true });
  }
}

/** On the disk before it gets its name. */
async function writeDraft(folder: string, content: string | Buffer): Promise<string> {
  const draft = join(folder, `.${randomBytes(8).toString('hex')}.tmp`);
  await using file = await open(draft, 'wx', 0o600);
  await file.writeFile(content);
  await file.sync();
  return draft;
}

async function readPrivate(path: string): Promise<Buffer | null> {
  try {
    await assertOurs(dirname(path));
    await using file = await openRegularFile(path);
    const { mode, uid } = await file.stat();
    if ((mode & 0o077) !== 0) throw noKey(path, 'can be read by others', { remedy: `chmod 600 ${path}` });
    if (uid !== process.getuid?.()) throw noKey(path, 'belongs to somebody else');
    return await readHandle(file, { path, maxBytes: MOST_BYTES });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw noKey(path, 'is a link', { cause: error });
    throw error;
  }
}

/** Who can write the folder can put another key there. */
async function assertOurs(folder: string): Promise<void> {
  const stat = await lstat(folder);
  if (!stat.isDirectory()) throw noKey(folder, 'is no folder');
  if (stat.uid !== process.getuid?.()) throw noKey(folder, 'belongs to somebody else');
  if ((stat.mode & 0o022) !== 0)
    throw noKey(folder, 'can be changed by others', { remedy: `chmod 700 ${folder}` });
}

function noKey(
  path: string,
  why: string,
  { cause, remedy }: { cause?: unknown; remedy?: string } = {},
): PulseError {
  return new PulseError('unsafe_file', `The key for proofs cannot be used: ${path} ${why}.`, {
    hint: remedy ?? 'Look at what is there. Once it is moved away, the next proof makes another key.',
    data: { path },
    cause,
  });
}
