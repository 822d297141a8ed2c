/** One measurement at a time on a host: two at once would measure each other (docs/protocol/research.md, Measuring). */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, fchmodSync, fstatSync, mkdirSync, openSync } from 'node:fs';
import { link, lstat, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentOwner, formatOwner, ownerState, parseOwner } from '../../../process/owner.ts';

const LOOK_MS = 100;
const LONGEST_OWNER = 1_024;

export interface MeasuringSlot {
  /** Runs the work when nobody else measures. A holder that died is replaced. */
  hold<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * One for the host, for all users and independent of TMPDIR: a shared folder with a file for each user. It is sticky, as
 * `/tmp` is: nobody touches another's file, and the content of a file shows whether its holder is dead. If one user has
 * made that folder for himself, each user has a separate slot.
 */
export function measuringSlotPath(place = '/tmp'): string {
  const folder = join(place, SHARED);
  try {
    mkdirSync(folder);
  } catch {
    // It is there already, or it cannot be made: the next look tells.
  }
  return isShared(folder)
    ? join(folder, `${ownUid()}.lock`)
    : join(place, `pulse-measuring-${ownUid()}.lock`);
}

const SHARED = 'pulse-measuring';
const STICKY = 0o1777;

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

function isShared(folder: string): boolean {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  try {
    const opened = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const { uid } = fstatSync(opened);
      if (uid === ownUid()) fchmodSync(opened, STICKY);
      return (fstatSync(opened).mode & STICKY) === STICKY;
    } finally {
      closeSync(opened);
    }
  } catch {
    return false;
  }
}

/** `where` is asked each time: a folder for temporary files may be swept while a process lives. */
export function createMeasuringSlot(where: () => string): MeasuringSlot {
  let turn: Promise<unknown> = Promise.resolve();

  return {
    async hold(work, signal) {
      const before = turn;
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      // A waiter that gives up does not let the next one pass those before it.
      turn = before.then(() => isOver);
      try {
        await orAborted(before, signal);
        return await holdAlone(where(), work, signal);
      } finally {
        end();
      }
    },
  };
}

async function holdAlone<T>(path: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await takeAmongUsers(path, signal);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Longer than a measurement of another user takes; one who keeps the slot for ever does not keep it from everybody. */
const OTHERS_MS = 60 * 60_000;

/** Each tells that it wants the slot, then looks for others. Of two who see each other the lower uid stays. */
async function takeAmongUsers(path: string, signal: AbortSignal): Promise<void> {
  const until = Date.now() + OTHERS_MS;
  for (;;) {
    await take(path, signal);
    try {
      if (await isFirst(path, { until, signal })) return;
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    await rm(path, { force: true });
    await sleep(LOOK_MS * (1 + Math.random()), undefined, { signal });
  }
}

async function isFirst(
  path: string,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<boolean> {
  for (;;) {
    const others = Date.now() > until ? [] : await usersBeside(path);
    if (others.length === 0) return true;
    if (others.some((uid) => uid < ownUid())) return false;
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** The other users who have the slot or want it. A file that is not its user's own, or names nobody alive, is none. */
async function usersBeside(path: string): Promise<number[]> {
  const folder = dirname(path);
  if (basename(folder) !== SHARED) return [];
  const users: number[] = [];
  for (const name of await readdir(folder)) {
    const uid = Number(/^(\d+)\.lock$/.exec(name)?.[1] ?? ownUid());
    if (uid === ownUid()) continue;
    const entry = await lstat(join(folder, name)).catch(() => null);
    const holder = entry?.uid === uid ? await readHolder(join(folder, name)) : null;
    if (holder !== null && !isGone(holder)) users.push(uid);
  }
  return users;
}

/** `waited` never fails. */
function orAborted(waited: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    void waited.then(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}

async function take(path: string, signal: AbortSignal): Promise<void> {
  const owner = formatOwner(currentOwner());
  const draft = `${path}.${process.pid}.${randomUUID()}`;
  {
    await using file = await open(draft, 'wx');
    await file.writeFile(owner);
    // Regardless of the umask: another user must be able to see whether its holder lives.
    await file.chmod(0o644);
  }
  try {
    // There is no event for another process's file; a measurement lasts far longer than one look.
    for (;;) {
      signal.throwIfAborted();
      if (await linked(draft, path)) return;
      const holder = await readHolder(path);
      if (holder !== null && isGone(holder)) await bury(path, holder, signal);
      else await sleep(LOOK_MS, undefined, { signal });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** A link is made with its content in it or not at all. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** `null`: nobody. Everybody may write there, so it may be anything: what cannot be read, or a pipe, names nobody. */
async function readHolder(path: string): Promise<string | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_OWNER));
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : '';
  }
}

function isGone(holder: string): boolean {
  try {
    return ownerState(parseOwner(holder)) === 'dead';
  } catch {
    return true; // not a lock of ours: somebody's leftover
  }
}

/**
 * One at a time: of two who find the same dead holder, the second would else remove the lock that the first has made
 * of it. A process that dies while it removes a lock is replaced in the same way.
 */
async function bury(path: string, holder: string, signal: AbortSignal): Promise<void> {
  const burial = `${path}.burial`;
  await take(burial, signal);
  try {
    if ((await readHolder(path)) === holder) await rm(path, { recursive: true, force: true });
  } finally {
    await rm(burial, { force: true });
  }
}
