/** Rings across the processes of one host: a Unix socket per listener, named after its session, in one folder. */
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { SharedDoorbell } from '../ports.ts';
import { createBells } from './bells.ts';

export interface ClosableDoorbell extends SharedDoorbell, AsyncDisposable {}

/** `directory` holds only sockets; their names carry the end of the session's id and the listener's pid. */
export function createDoorbell({ directory }: { directory: string }): ClosableDoorbell {
  const bells = createBells();
  const underWay = new Set<Promise<void>>();
  const servers = new Map<string, { server: Server; path: string; count: number }>();

  function openSocket(sessionId: string): void {
    const known = servers.get(sessionId);
    if (known) {
      known.count += 1;
      return;
    }
    const path = join(directory, `${socketPrefix(sessionId)}${process.pid}.sock`);
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      if (sessionId === ALL) return hearName(socket, bells.ring);
      bells.ring(sessionId);
      socket.end();
    });
    // Without a socket the slow poll still finds everything.
    server.on('error', () => server.close());
    if (!isOwnFolder(directory)) return;
    rmSync(path, { force: true });
    server.listen(path);
    server.unref();
    servers.set(sessionId, { server, path, count: 1 });
  }

  function closeSocket(sessionId: string): void {
    const known = servers.get(sessionId);
    if (!known) return;
    known.count -= 1;
    if (known.count > 0) return;
    servers.delete(sessionId);
    known.server.close();
    rmSync(known.path, { force: true });
  }

  return {
    listen(sessionId) {
      openSocket(sessionId);
      return bells.listen(sessionId, () => closeSocket(sessionId));
    },
    listenAll() {
      openSocket(ALL);
      return bells.listenAll(() => closeSocket(ALL));
    },
    ring(sessionId) {
      bells.ring(sessionId);
      const ringing = ringElsewhere(directory, sessionId).finally(() => underWay.delete(ringing));
      underWay.add(ringing);
    },
    async [Symbol.asyncDispose]() {
      // The last ring says that the session has stopped: it must not be lost with the process.
      await Promise.all(underWay);
      for (const { server, path } of servers.values()) {
        server.close();
        rmSync(path, { force: true });
      }
      servers.clear();
    },
  };
}

async function ringElsewhere(directory: string, sessionId: string): Promise<void> {
  if (!isOwnFolder(directory)) return;
  const prefix = socketPrefix(sessionId);
  const own = `${prefix}${process.pid}.sock`;
  const names = await readdir(directory).catch(() => [] as string[]);
  const others = names.filter((name) => name.startsWith(prefix) && name !== own);
  const ownAll = `${socketPrefix(ALL)}${process.pid}.sock`;
  const all = names.filter((name) => name.startsWith(socketPrefix(ALL)) && name !== ownAll);
  await Promise.all([
    ...others.map((name) => ringAt(join(directory, name))),
    ...all.map((name) => ringAt(join(directory, name), sessionId)),
  ]);
}

/** The socket of those who hear every session: no id ends so. */
const ALL = 'all';
const LONGEST_NAME = 100;

/** Who rings there says for whom. */
function hearName(socket: Socket, ring: (name: string) => void): void {
  let name = '';
  socket.setEncoding('utf8');
  socket.setTimeout(RING_WITHIN_MS, () => socket.destroy());
  socket.on('data', (chunk: string) => {
    name += chunk;
    if (name.length > LONGEST_NAME) socket.destroy();
  });
  socket.on('end', () => {
    if (name !== '') ring(name);
    socket.end();
  });
}

/**
 * Its place may be known to others: where the state directory's path is too long, it lies in a folder that everybody can
 * write to. A folder that somebody else made there is not used; without a socket the slow poll still finds everything.
 */
function isOwnFolder(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const found = lstatSync(directory);
    if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) return false;
    if ((found.mode & 0o077) !== 0) chmodSync(directory, 0o700);
    return true;
  } catch {
    return false; // a file in its place, or a disk that cannot be written
  }
}

/** A listener that never answers does not hold up the caller. */
const RING_WITHIN_MS = 1_000;

function ringAt(path: string, name = ''): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.setTimeout(RING_WITHIN_MS, () => socket.destroy());
    socket.on('connect', () => socket.end(name));
    socket.on('close', () => resolve());
    // Nobody listens there: its process died without clearing up.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') void rm(path, { force: true });
    });
  });
}

function socketPrefix(sessionId: string): string {
  return `${sessionId.slice(-12)}.`;
}
