import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeServeLock } from '../../src/api/serve-lock.ts';
import { readToken } from '../../src/api/state-file.ts';
import { resolveHome } from '../../src/home.ts';
import { currentOwner, formatOwner } from '../../src/process/owner.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-serve-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the token file', () => {
  it('is made once, for its user alone, however many ask at once', async () => {
    const home = resolveHome({ PULSE_HOME: join(folder, 'home') });
    const tokens = await Promise.all(Array.from({ length: 20 }, () => readToken(home)));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect(await readToken(home)).toBe(tokens[0]);
    expect(statSync(home.token).mode & 0o777).toBe(0o600);
    expect(readdirSync(home.path)).toEqual(['token']);
  });
});

describe('the lock of serve', () => {
  const path = (): string => join(folder, 'home/serve.lock');
  const owner = currentOwner();
  const write = (holder: unknown): void => {
    writeFileSync(path(), typeof holder === 'string' ? holder : JSON.stringify(holder));
  };
  const heldBy = (changes: Partial<typeof owner>) => ({
    owner: formatOwner({ ...owner, ...changes }),
    pid: changes.pid ?? owner.pid,
    url: 'http://127.0.0.1:3002',
    since: '2026-01-01T00:00:00.000Z',
  });
  beforeEach(async () => {
    (await takeServeLock(path()))[Symbol.dispose]();
  });

  it('says where its holder listens, and goes with it', async () => {
    {
      using lock = await takeServeLock(path());
      lock.update('http://127.0.0.1:4000');
      expect(JSON.parse(readFileSync(path(), 'utf8'))).toMatchObject({
        pid: process.pid,
        url: 'http://127.0.0.1:4000',
      });
    }
    expect(existsSync(path())).toBe(false);
  });

  it('refuses while its holder lives, and names it', async () => {
    const parent = { pid: process.ppid, startTime: startTimeOf(process.ppid) };
    write(heldBy(parent));
    await expect(takeServeLock(path())).rejects.toMatchObject({
      code: 'already_serving',
      data: { pid: process.ppid, url: 'http://127.0.0.1:3002', since: '2026-01-01T00:00:00.000Z' },
    });
  });

  it.each([
    ['dead', heldBy({ pid: 4_000_000 })],
    ['another process by now', heldBy({ pid: 1, startTime: 1 })],
    ['of an earlier boot', heldBy({ bootId: 'before' })],
    ['unreadable', '{"pid": '],
    ['no holder', { owner: 'x', pid: 1, url: null, since: '' }],
  ])('replaces one whose holder is %s', async (_, holder) => {
    write(holder);
    using _lock = await takeServeLock(path());
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toMatchObject({ pid: process.pid });
  });

  it('believes a holder on another host as long as it touches its file', async () => {
    write(heldBy({ host: 'elsewhere' }));
    await expect(takeServeLock(path())).rejects.toMatchObject({ code: 'already_serving' });
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(path(), longAgo, longAgo);
    using _lock = await takeServeLock(path());
    expect(JSON.parse(readFileSync(path(), 'utf8'))).toMatchObject({ pid: process.pid });
  });
});

function startTimeOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}
