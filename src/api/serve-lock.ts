/** One `serve` per state directory. The file says who; one whose process is dead is replaced. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { PulseError } from '../domain/errors.ts';
import { currentOwner, formatOwner, ownerState, parseOwner } from '../process/owner.ts';

export interface ServeLock extends Disposable {
  /** Says where it listens, once that is known. */
  update(url: string): void;
}

const Holder = z.object({
  owner: z.string(),
  pid: z.number(),
  url: z.string().nullable(),
  since: z.string(),
});
type Holder = z.infer<typeof Holder>;

const TOUCH_MS = 15_000;
/** A holder on another host (or in a container that is gone) counts as dead when it has not touched its file so long. */
const STALE_MS = 60_000;
const SETTLE_MS = 50;

/** Throws `already_serving`. Sessions are safe without it: their leases see to that. */
export async function takeServeLock(path: string): Promise<ServeLock> {
  const owner = formatOwner(currentOwner());
  const own: Holder = { owner, pid: process.pid, url: null, since: new Date().toISOString() };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  refuseLiving(path, owner);
  write(path, own);
  // Two that found the same dead holder at once: the last to write has it.
  await sleep(SETTLE_MS);
  refuseLiving(path, owner);
  const touching = setInterval(() => touch(path), TOUCH_MS);
  touching.unref();
  return {
    update: (url) => write(path, { ...own, url }),
    [Symbol.dispose]() {
      clearInterval(touching);
      if (read(path)?.owner === owner) rmSync(path, { force: true });
    },
  };
}

function refuseLiving(path: string, self: string): void {
  const holder = read(path);
  if (!holder || holder.owner === self || !isAlive(path, holder)) return;
  const { pid, url, since } = holder;
  throw new PulseError('already_serving', `Pulse is served already by process ${pid} (since ${since}).`, {
    hint: url ? `It listens on ${url}. Stop it with: kill ${pid}` : `Stop it with: kill ${pid}`,
    data: { pid, url, since },
  });
}

function isAlive(path: string, { owner }: Holder): boolean {
  const state = ownerState(parseOwner(owner));
  if (state !== 'elsewhere') return state === 'alive';
  return Date.now() - statSync(path).mtimeMs < STALE_MS;
}

/** Where the living `serve` of this state directory listens; `null`: there is none, or it does not listen yet. */
export function servingAt(path: string): string | null {
  const holder = read(path);
  return holder && isAlive(path, holder) ? holder.url : null;
}

/** `null` for a file that is not there, or that says nothing usable. */
function read(path: string): Holder | null {
  try {
    const holder = Holder.parse(JSON.parse(readFileSync(path, 'utf8')));
    parseOwner(holder.owner);
    return holder;
  } catch {
    return null;
  }
}

function write(path: string, holder: Holder): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    return; // removed by hand: the leases still hold
  }
}
