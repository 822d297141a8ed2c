import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClosableDoorbell, createDoorbell } from '../../src/engine/wake/doorbell.ts';
import { resolveHome } from '../../src/home.ts';
import { sessionId } from '../store/rows.ts';

const ID = sessionId(1);

describe('the doorbell', () => {
  let directory: string;
  let bells: ClosableDoorbell[];
  let children: ChildProcess[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pulse-bell-'));
    bells = [];
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const bell of bells) await bell[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(at = directory): ClosableDoorbell {
    const bell = createDoorbell({ directory: at });
    bells.push(bell);
    return bell;
  }

  /** Another process that listens. */
  async function listenElsewhere(at = directory, id = ID): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, 'fixtures/listener.ts'), [at, id], { execArgv: [] });
    children.push(child);
    await once(child, 'message');
    for (let tries = 0; tries < 200 && sockets(at).length === 0; tries++) await delay(5);
    return child;
  }

  const sockets = (at = directory) => (existsSync(at) ? readdirSync(at) : []);

  async function timed(waiting: Promise<void>): Promise<number> {
    const began = performance.now();
    await waiting;
    return performance.now() - began;
  }

  it('does not use a folder that is another’s, or only a link to one', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'pulse-bell-'));
    const link = join(directory, 'link');
    symlinkSync(elsewhere, link);
    const places = [link];
    // Only root can give a folder away.
    if (process.getuid?.() === 0) {
      const foreign = join(directory, 'foreign');
      mkdirSync(foreign, { mode: 0o777 });
      chownSync(foreign, 12345, 12345);
      places.push(foreign);
    }
    for (const place of places) {
      const bell = open(place);
      using listener = bell.listen(ID);
      const waiting = timed(listener.wait(2000));
      expect(sockets(place)).toEqual([]);
      bell.ring(ID);
      expect(await waiting).toBeLessThan(1500);
    }
    rmSync(elsewhere, { recursive: true });
  });

  it('closes a folder of its own that stands open to others', () => {
    const place = join(directory, 'open');
    mkdirSync(place);
    chmodSync(place, 0o777);
    using _listener = open(place).listen(ID);
    expect(statSync(place).mode & 0o777).toBe(0o700);
  });

  it('is not held up by one that never lets go', async () => {
    const holder = createServer({ allowHalfOpen: true }, () => undefined);
    await new Promise<void>((resolve) => {
      holder.listen(join(directory, `${ID.slice(-12)}.1.sock`), resolve);
    });
    const bell = open();
    bell.ring(ID);
    const began = performance.now();
    await bell[Symbol.asyncDispose]();
    expect(performance.now() - began).toBeLessThan(10_000);
    holder.close();
  });

  it('wakes those who wait in the same process, all of them, and no other session’s', async () => {
    const bell = open();
    using one = bell.listen(ID);
    using two = bell.listen(ID);
    using other = bell.listen(sessionId(2));
    const waits = [timed(one.wait(5000)), timed(two.wait(5000)), timed(other.wait(150))];
    bell.ring(ID);
    const [first, second, third] = await Promise.all(waits);
    expect(Math.max(first!, second!)).toBeLessThan(1000);
    expect(third).toBeGreaterThan(100);
  });

  it('tells one who hears all who has rung, also from another process', async () => {
    const bell = open();
    using all = bell.listenAll();
    expect(all.take()).toEqual([]);
    bell.ring(ID);
    await all.wait(5000);
    expect(all.take()).toEqual([ID]);
    connect(join(directory, `all.${process.pid}.sock`)).end(sessionId(2));
    await all.wait(5000);
    expect(all.take()).toEqual([sessionId(2)]);
  });

  it('says for whom it rings to those who hear all in other processes', async () => {
    const heard: string[] = [];
    const other = createServer((socket) => socket.on('data', (chunk) => heard.push(String(chunk))));
    await new Promise<void>((resolve) => void other.listen(join(directory, 'all.1.sock'), resolve));
    const bell = open();
    bell.ring(ID);
    await bell[Symbol.asyncDispose]();
    expect(heard).toEqual([ID]);
    other.close();
  });

  it('says that it may be any, where too many rang', async () => {
    const bell = open();
    using all = bell.listenAll();
    for (let number = 0; number < 1_500; number++) bell.ring(`ses_${number}`);
    await all.wait(5000);
    expect(all.take()).toBeNull();
    expect(all.take()).toEqual([]);
  });

  it('remembers one ring since the last wait, and not two', async () => {
    const bell = open();
    using listener = bell.listen(ID);
    bell.ring(ID);
    bell.ring(ID);
    expect(await timed(listener.wait(5000))).toBeLessThan(1000);
    expect(await timed(listener.wait(100))).toBeGreaterThan(80);
  });

  it('returns after the time, or when the signal aborts', async () => {
    using listener = open().listen(ID);
    expect(await timed(listener.wait(50))).toBeLessThan(2000);
    const abort = new AbortController();
    const waiting = timed(listener.wait(10_000, abort.signal));
    abort.abort();
    expect(await waiting).toBeLessThan(1000);
    expect(await timed(listener.wait(10_000, AbortSignal.abort()))).toBeLessThan(1000);
  });

  it('wakes another process', async () => {
    const child = await listenElsewhere();
    const rung = once(child, 'message');
    open().ring(ID);
    const [{ waitedMs }] = await rung;
    expect(waitedMs).toBeLessThan(10_000);
  });

  it('wakes every process that listens, and its own too', async () => {
    const all = [await listenElsewhere(), await listenElsewhere()];
    const bell = open();
    using own = bell.listen(ID);
    const waits = [...all.map((child) => once(child, 'message')), own.wait(5000)];
    bell.ring(ID);
    await Promise.all(waits);
  });

  it('works where the state directory’s path is too long for a socket', async () => {
    const home = join(directory, 'a-rather-long-name-of-a-folder'.repeat(4));
    const { sockets: at } = resolveHome({ PULSE_HOME: home, HOME: directory, XDG_RUNTIME_DIR: directory });
    expect(Buffer.byteLength(join(at, '123456789012.4194304.sock'))).toBeLessThan(100);
    expect(at.startsWith(home)).toBe(false);
    const other = resolveHome({ PULSE_HOME: `${home}2`, HOME: directory, XDG_RUNTIME_DIR: directory });
    expect(other.sockets).not.toBe(at);
    const child = await listenElsewhere(at);
    const rung = once(child, 'message');
    open(at).ring(ID);
    await rung;
  });

  it('uses the state directory itself where its path is short', () => {
    expect(resolveHome({ PULSE_HOME: '/srv/pulse', HOME: '/root' }).sockets).toBe('/srv/pulse/sockets');
  });

  it('removes the socket of a listener that died, once somebody rings', async () => {
    const child = await listenElsewhere();
    expect(sockets()).toHaveLength(1);
    const killed = once(child, 'exit');
    child.kill('SIGKILL');
    await killed;
    expect(sockets()).toHaveLength(1);
    open().ring(ID);
    for (let tries = 0; tries < 200 && sockets().length > 0; tries++) await delay(10);
    expect(sockets()).toEqual([]);
  });

  it('rings into the void without an error, also where the folder is missing', async () => {
    open(join(directory, 'none')).ring(ID);
    open().ring(ID);
    await delay(50);
  });

  it('goes on by time alone where its socket was taken away', async () => {
    const bell = open();
    using listener = bell.listen(ID);
    await delay(20);
    for (const name of sockets()) rmSync(join(directory, name));
    expect(await timed(listener.wait(100))).toBeLessThan(2000);
    bell.ring(ID);
    expect(await timed(listener.wait(5000))).toBeLessThan(1000);
  });

  it('goes on by time alone where no socket can be made', async () => {
    using listener = open(join(directory, 'x'.repeat(150))).listen(ID);
    expect(await timed(listener.wait(50))).toBeLessThan(2000);
  });

  it('bears callers that connect and say nothing, or leave at once', async () => {
    using listener = open().listen(ID);
    await delay(20);
    const path = join(directory, sockets()[0]!);
    const silent = connect(path);
    await listener.wait(5000);
    connect(path).destroy();
    await listener.wait(5000);
    silent.destroy();
  });

  it('leaves no socket behind when the last listener goes', async () => {
    const bell = open();
    const one = bell.listen(ID);
    const two = bell.listen(ID);
    await delay(20);
    one[Symbol.dispose]();
    expect(sockets()).toHaveLength(1);
    two[Symbol.dispose]();
    expect(sockets()).toEqual([]);
  });
});
