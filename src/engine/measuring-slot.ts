/** One measurement at a time for each user of a host (contract 5): two at once would measure each other. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentOwner, formatOwner, ownerState, parseOwner } from '../process/owner.ts';

const LOOK_MS = 100;

export interface MeasuringSlot {
  /** Runs the work when nobody else measures. A holder that died is replaced. */
  hold<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** One for each user of the host, whatever state directory they use. */
export function measuringSlotPath(): string {
  return join(tmpdir(), `pulse-measure-${process.getuid?.() ?? 0}.lock`);
}

export function createMeasuringSlot(path: string): MeasuringSlot {
  let turn: Promise<unknown> = Promise.resolve();

  async function holdAlone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await take(path, signal);
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  }

  return {
    hold(work, signal) {
      const result = turn.then(() => holdAlone(work, signal));
      turn = result.catch(() => undefined);
      return result;
    },
  };
}

async function take(path: string, signal: AbortSignal): Promise<void> {
  const owner = formatOwner(currentOwner());
  const draft = `${path}.${process.pid}.${randomUUID()}`;
  await writeFile(draft, owner, { mode: 0o600 });
  try {
    // There is no event for another process's file; a measurement lasts far longer than one look.
    for (;;) {
      signal.throwIfAborted();
      if (await linked(draft, path)) return;
      const holder = await readFile(path, 'utf8').catch(() => null);
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
    if ((await readFile(path, 'utf8').catch(() => null)) === holder) await rm(path, { force: true });
  } finally {
    await rm(burial, { force: true });
  }
}
