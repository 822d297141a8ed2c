/** What is kept of runs, and how much of it. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { boundRecordings, createRecordings } from '../../src/engine/run/recordings.ts';
import { makeFolder } from '../agents/fixture.ts';
import { heldAttempt } from '../agents/held-attempt.ts';
import { COMPLETE, makeScene } from './scene.ts';

const END = { ok: true, failure: null, message: '', resetAt: null, finalMessage: '' } as const;
const attempt = heldAttempt({ worktreePath: '/nowhere', startSha: '0'.repeat(40) });
const same = (text: string): string => text;

function fileOf(directory: string): string {
  return join(directory, attempt.sessionId, `${attempt.iteration}.${attempt.task.attempt}.jsonl`);
}

describe('a session', () => {
  it('is recorded unless the config or the start says otherwise', async () => {
    const scene = await makeScene();
    const isRecorded = async (wish: object): Promise<boolean> => {
      const { id } = await scene.startAndRun(COMPLETE, { maxIterations: 1, ...wish });
      return existsSync(join(scene.pulse.home.recordings, id, '1.1.jsonl'));
    };
    expect(await isRecorded({})).toBe(true);
    expect(await isRecorded({ record: false })).toBe(false);
    mkdirSync(join(scene.root, '.pulse'), { recursive: true });
    writeFileSync(join(scene.root, '.pulse/config.yaml'), 'record: off\n');
    expect(await isRecorded({ trust: true })).toBe(false);
    expect(await isRecorded({ trust: true, record: true })).toBe(true);
  });
});

describe('a recording', () => {
  it('is readable by its user alone, and is never written through a link', () => {
    const directory = makeFolder();
    using recorder = createRecordings(directory)(attempt, 'command', same);
    recorder.record({ type: 'text', text: 'Said.' });
    expect(statSync(fileOf(directory)).mode & 0o777).toBe(0o600);
    const planted = makeFolder();
    const target = join(makeFolder(), 'target');
    writeFileSync(target, 'untouched');
    mkdirSync(dirname(fileOf(planted)));
    symlinkSync(target, fileOf(planted));
    using other = createRecordings(planted)(attempt, 'command', same);
    other.record({ type: 'text', text: 'Said.' });
    expect(readFileSync(target, 'utf8')).toBe('untouched');
  });

  it('of a run that prints too much ends there, and still says how the run ended', () => {
    const directory = makeFolder();
    using recorder = createRecordings(directory, { runBytes: 10_000 })(attempt, 'command', same);
    for (let line = 0; line < 100; line++) recorder.record({ type: 'text', text: 'x'.repeat(1_000) });
    recorder.finish(END);
    const lines = readFileSync(fileOf(directory), 'utf8').trim().split('\n');
    expect(lines.length).toBeLessThan(15);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ event: { type: 'done', ok: true } });
  });

  it('that cannot be written costs the run nothing', () => {
    const directory = join(makeFolder({ file: 'not a folder' }), 'file');
    using recorder = createRecordings(directory)(attempt, 'command', same);
    recorder.record({ type: 'text', text: 'Said.' });
    recorder.finish(END);
  });
});

describe('all recordings together', () => {
  it('have a bound: the oldest go, file by file, and empty folders with them', async () => {
    const directory = makeFolder();
    const files = ['a/1.1', 'a/2.1', 'b/1.1', 'b/2.1'].map((name) => join(directory, `${name}.jsonl`));
    for (const [age, file] of files.entries()) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, 'x'.repeat(100));
      utimesSync(file, 1_000 + age, 1_000 + age);
    }
    await boundRecordings(directory, 400);
    expect(files.map((file) => existsSync(file))).toEqual([true, true, true, true]);
    await boundRecordings(directory, 199);
    expect(files.map((file) => existsSync(file))).toEqual([false, false, false, true]);
    expect(existsSync(join(directory, 'a'))).toBe(false);
  });
});
