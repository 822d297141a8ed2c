/**
 * Where an enclosed run stores objects. It sees the repository's own read-only and writes to a folder of its own; what it
 * has written is brought over when its process has ended, each object only if it is what its name says, and none that is
 * there already. So nothing that runs enclosed can delete or replace an object of the repository.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createDeflate, createInflate, inflateSync } from 'node:zlib';
import { PulseError } from '../domain/errors.ts';
import { type Folder, openFolder, writeBelow } from '../files/folder.ts';
import { isNothing, openRegularFile, readHandle } from '../files/regular-file.ts';
import type { GitPlace } from './exec.ts';
import { readOrNull } from './git-dir.ts';
import { algorithmOf, placesOf, storeLoose } from './loose-object.ts';

type Place = Pick<GitPlace, 'gitDir' | 'commonDir'>;

export interface RunObjects {
  /** The run's own, outside. */
  folder: string;
  /** Where it stands inside: in the place of the repository's. */
  at: string;
  /** Where the repository's own stand inside. */
  sharedAt: string;
  /** Further folders that the repository borrows objects from. */
  borrowed: string[];
}

/** Makes the folder, or finds it. May be repeated. */
export async function openRunObjects(place: Place): Promise<RunObjects> {
  const at = join(place.commonDir, 'objects');
  const sharedAt = join(place.commonDir, FOLDER, SHARED);
  const folder = folderOf(place);
  const borrowed = await alternates(at);
  const lines = `${[sharedAt, ...borrowed].join('\n')}\n`;
  const list = join(folder, 'info/alternates');
  if ((await readOrNull(list)) !== lines) {
    for (const each of [sharedAt, join(folder, 'pack')]) mkdirSync(each, { recursive: true });
    await writeBelow(place.commonDir, list, lines);
  }
  return { folder, at, sharedAt, borrowed };
}

/**
 * Brings over what the run has written. Each object stays there until it is here, so that a crash loses none. The run may
 * still be alive and exchange things meanwhile, and others may do the same as this: so nothing is removed that has
 * something in it, and no mode is changed by a name. What a run has closed to others stays there. May be repeated.
 */
export async function bringObjects(place: Place): Promise<void> {
  const folder = folderOf(place);
  if (!existsSync(folder)) return;
  openUp(folder);
  const target = join(place.commonDir, 'objects');
  // git writes a commit after all that it names. So a commit that was there before the others are listed comes last, and
  // one that was not is left to the next time: a git that finds it here finds the rest, too.
  const early = new Set(await listObjects(folder));
  const later = await bringAll(folder, { target, comesLater: () => true });
  if (later.some((id) => early.has(id)))
    await bringAll(folder, { target, comesLater: (id) => !early.has(id) });
}

interface Bringing {
  target: string;
  /** Asked of commits and tags. */
  comesLater(id: string): boolean;
}

/** Returns those that are left for later. */
async function bringAll(folder: string, bringing: Bringing): Promise<string[]> {
  const later: string[] = [];
  for (const prefix of prefixesIn(folder)) {
    const path = join(folder, prefix);
    await using from = await openFolder(path).catch(deniedIsNull);
    if (from !== null) later.push(...(await bringFolder(from, { ...bringing, prefix })));
    // Else a link, for instance, that leads to others' files.
    else tryTo(() => unlinkSync(path));
    // Each that stays would be looked into after every call of git.
    tryTo(() => rmdirSync(path));
  }
  return later;
}

async function listObjects(folder: string): Promise<string[]> {
  const ids: string[] = [];
  for (const prefix of prefixesIn(folder)) {
    await using from = await openFolder(join(folder, prefix)).catch(deniedIsNull);
    ids.push(...(from?.names() ?? []).map((rest) => prefix + rest));
  }
  return ids;
}

function prefixesIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^[0-9a-f]{2}$/.test(name));
}

/** With the worktree. What it still holds is lost: `bringObjects` first. */
export function dropRunObjects(place: Place): void {
  rmSync(folderOf(place), { recursive: true, force: true });
}

/** Those that are there, and the registration of the worktree that each belongs to. */
export function listRunObjects(commonDir: string): { folder: string; gitDir: string }[] {
  const all = join(commonDir, FOLDER);
  const names = existsSync(all) ? readdirSync(all).filter((name) => name.startsWith('of-')) : [];
  return names.map((name) => ({
    folder: join(all, name),
    gitDir: join(commonDir, 'worktrees', name.slice('of-'.length)),
  }));
}

/** In the repository, so that objects can be brought over by a rename, and where no enclosed run can write. */
const FOLDER = 'pulse-objects';
const SHARED = 'shared';

function folderOf({ gitDir, commonDir }: Place): string {
  return join(commonDir, FOLDER, `of-${basename(gitDir)}`);
}

/** A run may close it, but cannot put another in its place. */
function openUp(folder: string): void {
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  if (entry?.isDirectory() && (entry.mode & 0o700) !== 0o700) chmodSync(folder, 0o700);
}

/** It is in use again, or gone: then it is left to the next time. */
function tryTo(tidy: () => void): void {
  try {
    tidy();
  } catch {
    // as said
  }
}

function deniedIsNull(error: unknown): null {
  if (isNothing(error) || (error as NodeJS.ErrnoException).code === 'EACCES') return null;
  throw error;
}

/** Where a repository borrows objects from. */
async function alternates(objects: string): Promise<string[]> {
  const text = await readOrNull(join(objects, 'info/alternates'));
  const lines = text?.split('\n').filter((line) => line !== '' && !line.startsWith('#')) ?? [];
  return lines.map((line) => resolve(objects, line));
}

async function bringFolder(
  from: Folder,
  { prefix, target, comesLater }: Bringing & { prefix: string },
): Promise<string[]> {
  const later: string[] = [];
  for (const rest of from.names()) {
    if (!/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(rest)) continue;
    const id = prefix + rest;
    const isHere = existsSync(join(target, prefix, rest));
    if (!isHere && (await bringObject(from.at(rest), { id, target, comesLater })) === 'later') {
      later.push(id);
      continue;
    }
    // Brought, there before, or not what its name says: inside it would stand before the repository's own.
    tryTo(() => unlinkSync(from.at(rest)));
  }
  return later;
}

/** Small ones are read at once; of a larger one no more than a piece is in memory. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_CONTENT_BYTES = 32 * 1024 * 1024;

async function bringObject(path: string, wanted: Bringing & { id: string }): Promise<'done' | 'later'> {
  await using file = await openRegularFile(path).catch(deniedIsNull);
  if (file === null) return 'done';
  const object = await smallObject(file, path);
  if (object === 'broken') return 'done';
  if (object === 'large') {
    await bringLarge(file, wanted);
    return 'done';
  }
  const { id, target, comesLater } = wanted;
  if (namesOthers(object) && comesLater(id)) return 'later';
  if (!isProper(object, object.length) || hashOf(object, id) !== id) return 'done';
  if (!storeLoose(target, { id, object }))
    throw new PulseError('git_failed', `The object ${id} could not be stored in ${target}.`, {
      hint: 'Look whether the disk is full, and whether the folder can be written. It is kept until then.',
      retryable: true,
    });
  return 'done';
}

/** A commit or a tag: what is found by it must be there. */
function namesOthers(object: Buffer): boolean {
  return /^(?:commit|tag) /.test(object.toString('latin1', 0, LONGEST_HEADER));
}

async function smallObject(file: FileHandle, path: string): Promise<Buffer | 'large' | 'broken'> {
  if ((await file.stat()).size > SMALL_BYTES) return 'large';
  const packed = await readHandle(file, { path, maxBytes: SMALL_BYTES });
  try {
    return inflateSync(packed, { maxOutputLength: SMALL_CONTENT_BYTES });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'large' : 'broken';
  }
}

/** Copied while it is read: what is stored is what was checked. */
async function bringLarge(file: FileHandle, { id, target }: { id: string; target: string }): Promise<void> {
  const { path, draft } = placesOf(target, id);
  const hash = createHash(algorithmOf(id.length));
  let [head, length] = [Buffer.alloc(0), 0];
  let isBroken = false;
  const inflate = createInflate();
  inflate.once('error', () => {
    isBroken = true;
  });
  try {
    await pipeline(
      file.createReadStream({ start: 0, autoClose: false }),
      inflate,
      async function* look(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          if (head.length < LONGEST_HEADER) head = Buffer.concat([head, chunk.subarray(0, LONGEST_HEADER)]);
          length += chunk.length;
          isBroken ||= length > LARGEST_BYTES;
          if (isBroken) throw new RangeError('no loose object of git is as large');
          yield chunk;
        }
      },
      createDeflate({ level: 1 }),
      createWriteStream(draft, { flags: 'wx', mode: 0o444 }),
    );
    if (isProper(head, length) && hash.digest('hex') === id) renameSync(draft, path);
  } catch (error) {
    if (!isBroken) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

const LONGEST_HEADER = 32;
/** git writes what is larger than half of it (`core.bigFileThreshold`) to a pack. */
const LARGEST_BYTES = 1024 * 1024 * 1024;

function hashOf(object: Buffer, id: string): string {
  return createHash(algorithmOf(id.length)).update(object).digest('hex');
}

/** Its header says what it is, and how long: any bytes have a hash. */
function isProper(head: Buffer, length: number): boolean {
  const [header, , size] =
    /^(blob|tree|commit|tag) (\d+)\0/.exec(head.toString('latin1', 0, LONGEST_HEADER)) ?? [];
  return header !== undefined && Number(size) === length - header.length;
}
