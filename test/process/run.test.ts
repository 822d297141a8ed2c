import { expect, it } from 'vitest';
import { runProcess } from '../../src/process/run.ts';
import { useScene } from './scene.ts';

const scene = useScene();

it('returns the output, the exit and how long it took', async () => {
  const result = await runProcess(scene.shell('echo out; echo err >&2; exit 3'));
  expect(result).toMatchObject({ code: 3, signal: null, stdout: 'out\n', stderr: 'err\n' });
  expect(result).toMatchObject({ truncated: false, timedOut: false });
  expect(result.durationMs).toBeGreaterThan(0);
});

it('stops a process that takes too long, and says so', async () => {
  const result = await runProcess({ ...scene.shell(`echo begun; sleep ${scene.forever}`), timeoutMs: 100 });
  expect(result).toMatchObject({ signal: 'SIGTERM', timedOut: true, stdout: 'begun\n' });
  expect(result.durationMs).toBeLessThan(1500);
});

it('keeps the end of a long output', async () => {
  const result = await runProcess({ ...scene.shell('seq 1 100000'), maxOutputBytes: 14 });
  expect(result).toMatchObject({ code: 0, stdout: '\n99999\n100000\n', truncated: true });
});

it('keeps no half character at the beginning of a tail', async () => {
  const result = await runProcess({ ...scene.shell('printf éé'), maxOutputBytes: 3 });
  expect(result.stdout).toBe('é');
});

it('returns a failed start as a value', async () => {
  const result = await runProcess({ ...scene.shell(''), file: 'no-such-program' });
  expect(result).toMatchObject({ code: null, stdout: '', spawnError: { code: 'ENOENT' } });
});
