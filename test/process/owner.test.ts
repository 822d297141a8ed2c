import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { cleanupGuarantee } from '../../src/process/guarantee.ts';
import { currentOwner, formatOwner, ownerState, parseOwner } from '../../src/process/owner.ts';
import { openProcessTable } from '../../src/process/process-table.ts';

it('knows itself for alive, also when written down and read again', () => {
  const owner = currentOwner();
  expect(owner).toMatchObject({ host: hostname(), pid: process.pid });
  expect(parseOwner(formatOwner(owner))).toEqual(owner);
  expect(ownerState(parseOwner(formatOwner(owner)))).toBe('alive');
});

it('knows a process for dead once it has ended', async () => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const owner = { ...currentOwner(), ...openProcessTable().stat(child.pid!)! };
  expect(ownerState(owner)).toBe('alive');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(ownerState(owner)).toBe('dead');
});

it.each([
  ['another process with the same pid', { startTime: 1 }, 'dead'],
  ['another boot of this machine', { bootId: 'before' }, 'dead'],
  ['another machine', { host: 'else.example' }, 'elsewhere'],
  ['another container, where this pid is somebody else', { namespace: '1', startTime: 1 }, 'elsewhere'],
] as const)('calls %s by what it is', (_, change, state) => {
  expect(ownerState({ ...currentOwner(), ...change })).toBe(state);
});

it.runIf(process.platform === 'linux')(
  'says in which namespace its pid counts, and reads texts without it',
  () => {
    const owner = currentOwner();
    expect(owner.namespace).toMatch(/^\d+$/);
    const { namespace: _, ...older } = owner;
    expect(ownerState(parseOwner(formatOwner(older)))).toBe('alive');
  },
);

it('keeps a host name with a slash, and refuses a text that names no owner', () => {
  const owner = { host: 'a/b c', bootId: '', pid: 1, startTime: 2 };
  expect(parseOwner(formatOwner(owner))).toEqual(owner);
  for (const text of ['', 'host', 'h/b/x/1', 'h/b/1/2/3'])
    expect(() => parseOwner(text)).toThrow('names no owner');
});

it('says by what means runs are cleaned up', () => {
  expect(cleanupGuarantee(true).means).toEqual(['cgroup', 'environ', 'group']);
  expect(cleanupGuarantee(false).means).toEqual(['descent', 'environ', 'group']);
  expect(cleanupGuarantee().sentence).toMatch(/\.$/);
});
