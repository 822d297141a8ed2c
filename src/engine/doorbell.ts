/** Rings across processes: a Unix socket per listener, named after its session, in one folder. */

import { mkdirSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Doorbell, Listener } from './ports.ts';

export interface SocketDoorbell extends Doorbell, AsyncDisposable {}

interface Bell {
  isRung: boolean;
  wake: (() => void) | null;
}

/** `directory` holds only sockets; their names carry the last characters of the session's id and the listener's pid. */
export function createDoorbell({ directory }: { directory: string }): SocketDoorbell {
  const local = new Map<string, Set<Bell>>();
  const servers = new Map<string, { server: Server; path: string; count: number }>();

  function listen(sessionId: string): Listener {
    const bell: Bell = { isRung: false, wake: null };
    const bells = local.get(sessionId) ?? new Set();
    local.set(sessionId, bells.add(bell));
    openSocket(sessionId);
    return {
      wait: (timeoutMs, signal) => wait(bell, timeoutMs, signal),
      [Symbol.dispose]() {
        bells.delete(bell);
        closeSocket(sessionId);
      },
    };
  }

  function ringHere(sessionId: string): void {
    for (const bell of local.get(sessionId) ?? []) {
      bell.isRung = true;
      bell.wake?.();
    }
  }

  function openSocket(sessionId: string): void {
    const known = servers.get(sessionId);
    if (known) {
      known.count += 1;
      return;
    }
    const path = join(directory, `${socketPrefix(sessionId)}${process.pid}.sock`);
    const server = createServer((socket) => {
      ringHere(sessionId);
      socket.on('error', () => socket.destroy());
      socket.end();
    });
    // Without a socket the slow poll still finds everything.
    server.on('error', () => server.close());
    mkdirSync(directory, { recursive: true, mode: 0o700 });
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

  function ring(sessionId: string): void {
    ringHere(sessionId);
    void ringElsewhere(sessionId);
  }

  async function ringElsewhere(sessionId: string): Promise<void> {
    const prefix = socketPrefix(sessionId);
    const own = `${prefix}${process.pid}.sock`;
    const names = await readdir(directory).catch(() => [] as string[]);
    for (const name of names) {
      if (!name.startsWith(prefix) || name === own) continue;
      const path = join(directory, name);
      const socket = connect(path);
      socket.unref();
      socket.on('connect', () => socket.end());
      // Nobody listens there any more: its process died without clearing up.
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNREFUSED') void rm(path, { force: true });
      });
    }
  }

  return {
    listen,
    ring,
    async [Symbol.asyncDispose]() {
      for (const { server, path } of servers.values()) {
        server.close();
        rmSync(path, { force: true });
      }
      servers.clear();
      local.clear();
    },
  };
}

function wait(bell: Bell, timeoutMs: number, signal?: AbortSignal): Promise<void> {
  if (bell.isRung || signal?.aborted) {
    bell.isRung = false;
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      bell.wake = null;
      bell.isRung = false;
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    bell.wake = done;
    signal?.addEventListener('abort', done, { once: true });
  });
}

function socketPrefix(sessionId: string): string {
  return `${sessionId.slice(-12)}.`;
}
