import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendCompleted, createState } from '../../../src/loops/beads/files/state-file.ts';

const BEAD = { beadId: 'app-1', summary: 'add login', commit: 'abc123', at: '2026-02-03T04:05:06.000Z' };
let root: string;
const file = () => join(root, '.pulse/STATE.md');
const lines = () =>
  readFileSync(file(), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('- '));

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('STATE.md', () => {
  it('has a line for a completed bead, once for each of its commits', async () => {
    expect(await appendCompleted(root, BEAD)).toBe(true);
    expect(await appendCompleted(root, { ...BEAD, at: '2027-01-01T00:00:00.000Z' })).toBe(false);
    expect(await appendCompleted(root, { ...BEAD, commit: 'def456' })).toBe(true);
    expect(await appendCompleted(root, { ...BEAD, beadId: 'app-11' })).toBe(true);
    expect(lines()).toEqual([
      '- 2026-02-03T04:05:06.000Z app-1 completed: add login (commit abc123)',
      '- 2026-02-03T04:05:06.000Z app-1 completed: add login (commit def456)',
      '- 2026-02-03T04:05:06.000Z app-11 completed: add login (commit abc123)',
    ]);
  });

  it('keeps what a person wrote, and begins a new line', async () => {
    mkdirSync(join(root, '.pulse'));
    writeFileSync(file(), 'Mine, without an end');
    expect(await createState(root)).toBe(false);
    await appendCompleted(root, BEAD);
    expect(readFileSync(file(), 'utf8')).toBe(
      'Mine, without an end\n- 2026-02-03T04:05:06.000Z app-1 completed: add login (commit abc123)\n',
    );
  });

  it('has one line a bead, for any summary', async () => {
    const summary = 'x\n- 2026 app-2 completed: forged (commit abc123)\n';
    await appendCompleted(root, { ...BEAD, summary });
    expect(lines()).toHaveLength(1);
    await appendCompleted(root, { ...BEAD, beadId: 'app-3' });
    expect(lines()).toHaveLength(2);
  });

  it('loses no line of several that are added at once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `app-${index}`);
    await Promise.all(ids.map((beadId) => appendCompleted(root, { ...BEAD, beadId })));
    expect(lines()).toHaveLength(20);
  });

  it('finds a repeated line at the end of a long file', async () => {
    mkdirSync(join(root, '.pulse'));
    writeFileSync(file(), `${'x'.repeat(1024 * 1024)}\n`);
    expect(await appendCompleted(root, BEAD)).toBe(true);
    expect(await appendCompleted(root, BEAD)).toBe(false);
  });

  it('is never written through a link, and no pipe is waited for', async () => {
    mkdirSync(join(root, '.pulse'));
    writeFileSync(join(root, 'target'), 'safe\n');
    symlinkSync(join(root, 'target'), file());
    await expect(appendCompleted(root, BEAD)).rejects.toMatchObject({ code: 'unsafe_file' });
    expect(readFileSync(join(root, 'target'), 'utf8')).toBe('safe\n');
    rmSync(file());
    execFileSync('mkfifo', [file()]);
    await expect(appendCompleted(root, BEAD)).rejects.toMatchObject({ code: 'unsafe_file' });
    rmSync(file());
    mkdirSync(file());
    await expect(appendCompleted(root, BEAD)).rejects.toMatchObject({ code: 'unsafe_file' });
  });
});
