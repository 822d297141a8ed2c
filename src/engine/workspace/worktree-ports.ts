/**
 * Ports for worktrees: each name gets a free one of its own, so that servers of sessions at the same time do not meet.
 * Which port is whose stands in a folder, one file for each; what belonged to a worktree that is gone is free again.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

export interface WorktreePorts {
  /** Variables with the ports of this checkout. The same names get the same ports for as long as it exists. */
  of(checkout: string, names: readonly string[]): Promise<Record<string, string>>;
}

/** Below those that systems hand out by themselves (32768 on Linux, 49152 elsewhere). */
const FIRST = 20_000;
const LAST = 32_000;
/** A checkout may be about to be made. */
const SETTLED_MS = 10 * 60 * 1000;

export function openWorktreePorts(folder: string): WorktreePorts {
  return {
    async of(checkout, names) {
      if (names.length === 0) return {};
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const held = await readHeld(folder);
      const own = new Map(
        held.filter((claim) => claim.checkout === checkout).map(({ name, port }) => [name, port]),
      );
      for (const name of names) {
        if (!own.has(name)) own.set(name, await claimPort(folder, { checkout, name }));
      }
      return Object.fromEntries(names.map((name) => [name, String(own.get(name))]));
    },
  };
}

/** Whether anybody listens there now, on any address. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

interface Claim {
  checkout: string;
  name: string;
}

async function claimPort(folder: string, claim: Claim): Promise<number> {
  const taken = new Set(await readdir(folder));
  const count = LAST - FIRST;
  const begin = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step++) {
    const port = FIRST + ((begin + step) % count);
    if (taken.has(String(port)) || !(await isPortFree(port))) continue;
    if (await write(join(folder, String(port)), claim)) return port;
  }
  throw new Error(`No port between ${FIRST} and ${LAST} is free.`);
}

/** False where another process was quicker. */
async function write(path: string, claim: Claim): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(claim), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Forgets what belonged to checkouts that are gone. */
async function readHeld(folder: string): Promise<(Claim & { port: number })[]> {
  const held: (Claim & { port: number })[] = [];
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    const claim = await readClaim(path);
    if (claim && existsSync(claim.checkout)) held.push({ ...claim, port: Number(file) });
    else if (await isSettled(path)) await rm(path, { force: true });
  }
  return held;
}

/** `null`: it is being written, or was cut off. */
async function readClaim(path: string): Promise<Claim | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Claim;
  } catch {
    return null;
  }
}

async function isSettled(path: string): Promise<boolean> {
  const entry = await stat(path).catch(() => null);
  return entry !== null && Date.now() - entry.mtimeMs > SETTLED_MS;
}
