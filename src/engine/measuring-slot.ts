/** One measurement at a time on a host (contract 5): two at once would measure each other. */
import { randomUUID } from 'node:crypto';
import { accessSync, chmodSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { chmod, link, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentOwner, formatOwner, ownerState, parseOwner } from '../process/owner.ts';

const LOOK_MS = 100;
const LONGEST_OWNER = 1_024;

export interface MeasuringSlot {
  /** Runs the work when nobody else measures. A holder that died is replaced. */
  hold<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * One for the host, whoever asks and whatever TMPDIR says. It lies in a folder where everybody may remove what anybody
 * left: in `/tmp` itself only its owner could bury a dead holder's. Where that folder is not to be had, because somebody
 * made it for himself, each user has a slot of his own.
 */
export function measuringSlotPath(place = '/tmp'): string {
  const folder = join(place, 'pulse-measuring');
  try {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  } catch {
    // It is there already, or it cannot be made: the next look tells.
  }
  return isShared(folder)
    ? join(folder, 'slot.lock')
    : join(place, `pulse-measuring-${process.getuid?.() ?? 0}.lock`);
}

function isShared(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return lstatSync(folder).isDirectory();
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
      // Whoever gives up waiting does not let the next one pass those before it.
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
  await take(path, signal);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
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
  await writeFile(draft, owner, { flag: 'wx' });
  try {
    // Whatever the umask: another user must be able to see whether its holder lives.
    await chmod(draft, 0o644);
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
 * of it. Whoever dies while burying is buried in the same way.
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
