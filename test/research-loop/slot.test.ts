/** The host's one measuring slot, with real processes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMeasuringSlot, measuringSlotPath } from '../../src/loops/research/measure/measuring-slot.ts';
import { currentOwner, formatOwner } from '../../src/process/owner.ts';
import { createPulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { idea, prepareLab, research } from './lab.ts';

const HOLDER = join(import.meta.dirname, 'fixtures/slot-holder.ts');

interface Room {
  path: string;
  log: string;
  /** Takes the slot `times` times, for `holdMs` each. */
  holder(times: number, holdMs: number): ChildProcess;
  lines(): string[];
}

function roomIn(scratch: Scratch): Room {
  const [path, log] = [join(scratch.path, 'slot.lock'), join(scratch.path, 'slot.log')];
  writeFileSync(log, '');
  return {
    path,
    log,
    holder: (times, holdMs) =>
      spawn(process.execPath, [HOLDER, path, log, String(times), String(holdMs)], { stdio: 'inherit' }),
    lines: () => readFileSync(log, 'utf8').trim().split('\n').filter(Boolean),
  };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((done) => child.once('close', (code) => done(code)));

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 20) {
    if (waited > 30_000) throw new Error(`waited in vain: ${what}`);
    await sleep(20);
  }
}

/** Each beginning is followed by its own end. */
function overlaps(lines: readonly string[]): string[] {
  return lines.filter((line, index) => {
    const [what, who] = line.split(' ');
    return what === 'begin'
      ? lines[index + 1] !== undefined && lines[index + 1] !== `end ${who}`
      : lines[index - 1] !== `begin ${who}`;
  });
}

describe('the measuring slot', () => {
  it('lets one process of many have it at a time', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const codes = await Promise.all([1, 2, 3, 4].map(() => ended(room.holder(5, 10))));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(room.lines()).toHaveLength(40);
    expect(overlaps(room.lines())).toEqual([]);
    expect(readdirSync(scratch.path).filter((name) => name.startsWith('slot.lock'))).toEqual([]);
  }, 60_000);

  it('replaces a holder that was killed', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const killed = room.holder(1, 600_000);
    await until('the first has it', () => room.lines().length === 1);
    const waiting = room.holder(1, 0);
    const over = ended(waiting);
    await sleep(300);
    expect(room.lines()).toHaveLength(1);
    const gone = ended(killed);
    killed.kill('SIGKILL');
    await gone;
    expect(await over).toBe(0);
    expect(room.lines()).toEqual([`begin ${killed.pid}`, `begin ${waiting.pid}`, `end ${waiting.pid}`]);
  }, 60_000);

  it('is taken over by one only when many find its holder dead at the same moment', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const slots = Array.from({ length: 8 }, () => createMeasuringSlot(() => room.path));
    const { signal } = new AbortController();
    let held = 0;
    let most = 0;
    for (let round = 0; round < 20; round++) {
      writeFileSync(room.path, formatOwner({ ...currentOwner(), startTime: 1 + round }));
      const work = async (): Promise<void> => {
        most = Math.max(most, ++held);
        await sleep(1);
        held--;
      };
      await Promise.all(slots.map((slot) => slot.hold(work, signal)));
    }
    expect(most).toBe(1);
  }, 120_000);

  it('is not waited for any longer than the caller wants to', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const slot = createMeasuringSlot(() => room.path);
    const other = createMeasuringSlot(() => room.path);
    const stop = new AbortController();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const first = slot.hold(() => isOver, new AbortController().signal);
    await until('the first has it', () => existsSync(room.path));
    const second = other.hold(async () => appendFileSync(room.log, 'never\n'), stop.signal);
    stop.abort(new Error('no longer'));
    await expect(second).rejects.toThrow();
    end();
    await first;
    expect(room.lines()).toEqual([]);
    expect(readdirSync(scratch.path).filter((name) => name.startsWith('slot.lock'))).toEqual([]);
  });

  it('is not waited for any longer inside one process either, and those behind still wait for who has it', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const slot = createMeasuringSlot(() => room.path);
    const stop = new AbortController();
    const { signal } = new AbortController();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const first = slot.hold(async () => {
      await isOver;
      appendFileSync(room.log, 'first\n');
    }, signal);
    const second = slot.hold(async () => appendFileSync(room.log, 'never\n'), stop.signal);
    const third = slot.hold(async () => appendFileSync(room.log, 'third\n'), signal);
    stop.abort(new Error('no longer'));
    await expect(second).rejects.toThrow('no longer');
    expect(room.lines()).toEqual([]);
    end();
    await Promise.all([first, third]);
    expect(room.lines()).toEqual(['first', 'third']);
    await expect(slot.hold(async () => 'never', stop.signal)).rejects.toThrow('no longer');
  }, 30_000);

  it('lies in one place of the host, where every user sees the others’ files and touches none of them', async () => {
    using scratch = createScratch();
    vi.stubEnv('TMPDIR', join(scratch.path, 'elsewhere'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(measuringSlotPath()).toBe(`/tmp/pulse-measuring/${process.getuid?.()}.lock`);

    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    const path = measuringSlotPath(scratch.path);
    // Sticky: only who made a file may remove it, or put a link in its place.
    expect(statSync(dirname(path)).mode & 0o7777).toBe(0o1777);
    const slot = createMeasuringSlot(() => path);
    const { signal } = new AbortController();
    expect(await slot.hold(async () => statSync(path).mode & 0o777, signal)).toBe(0o644);
  });

  it.runIf(process.getuid?.() === 0)(
    'is waited for while another user has it, and not for what is none of theirs',
    async () => {
      using scratch = createScratch();
      const path = measuringSlotPath(scratch.path);
      const theirs = join(dirname(path), '1234.lock');
      const slot = createMeasuringSlot(() => path);
      const { signal } = new AbortController();
      const dead = formatOwner({ ...currentOwner(), startTime: 1 });
      for (const [content, uid] of [
        [dead, 1234],
        [formatOwner(currentOwner()), 4321],
      ] as const) {
        writeFileSync(theirs, content);
        chownSync(theirs, uid, uid);
        expect(await slot.hold(async () => 'had', signal)).toBe('had');
      }
      writeFileSync(theirs, formatOwner(currentOwner()));
      chownSync(theirs, 1234, 1234);
      const held = slot.hold(async () => existsSync(theirs), signal);
      await sleep(300);
      rmSync(theirs);
      expect(await held).toBe(false);
    },
  );

  it('is each user’s own where somebody keeps that place for himself', () => {
    using scratch = createScratch();
    const own = join(scratch.path, `pulse-measuring-${process.getuid?.()}.lock`);
    const taken = scratch.file('pulse-measuring', '');
    expect(measuringSlotPath(scratch.path)).toBe(own);
    rmSync(taken);
    // A link would lead elsewhere.
    symlinkSync(scratch.repository, taken);
    expect(measuringSlotPath(scratch.path)).toBe(own);
    rmSync(taken);
    expect(measuringSlotPath(scratch.path)).toBe(join(taken, `${process.getuid?.()}.lock`));
  });

  it('is not kept by what names nobody: a broken file, a pipe, a link, a folder', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const slot = createMeasuringSlot(() => room.path);
    const signal = AbortSignal.timeout(20_000);
    const leave = [
      () => writeFileSync(room.path, 'somebody'),
      () => void execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', room.path]),
      () => symlinkSync(scratch.repository, room.path),
      () => mkdirSync(room.path),
    ];
    for (const [index, left] of leave.entries()) {
      left();
      expect(await slot.hold(async () => index, signal)).toBe(index);
    }
    expect(existsSync(join(scratch.repository, 'README.md'))).toBe(true);
  }, 30_000);

  it('gives the slot back when the work fails', async () => {
    using scratch = createScratch();
    const room = roomIn(scratch);
    const slot = createMeasuringSlot(() => room.path);
    const { signal } = new AbortController();
    await expect(slot.hold(() => Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
    expect(await slot.hold(async () => 'next', signal)).toBe('next');
  });
});

it('readings of two sessions with state directories of their own never overlap', async () => {
  using one = createScratch();
  using two = createScratch();
  const log = join(one.path, 'readings');
  const measure = `#!/bin/sh
echo "begin $$" >> '${log}'
sleep 0.05
echo "cost: $(sh src/cost)"
echo "end $$" >> '${log}'
`;
  const scripts = {
    'exp-1': idea('cheaper', 90),
    'exp-2': idea('dearer', 95),
    'exp-3': idea('cheapest', 80),
  };
  await Promise.all(
    [one, two].map(async (scratch) => {
      prepareLab(scratch, { 'measure.sh': measure });
      await using pulse = await createPulse({ environment: scratch.environment });
      const { session, progress } = await research(pulse, scratch, { scripts, iterations: 3 });
      expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
      expect(progress).toMatchObject({ metric: 80, keeps: 2, discards: 1 });
    }),
  );
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(2 * 2 * 8);
  expect(overlaps(lines)).toEqual([]);
}, 120_000);
