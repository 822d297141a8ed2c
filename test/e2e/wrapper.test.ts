import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freePort } from '../fakes/postgres.ts';
import { olderNode, until, useScene } from './scene.ts';

const scene = useScene();
const node = olderNode();

/** The children of a process, where the system tells. */
function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

describe.skipIf(node === null || !existsSync('/proc'))('under an older Node.js', () => {
  it('a serve that is killed leaves no process that holds the state directory', async () => {
    const serve = ['serve', '--port', String(await freePort())];
    const first = scene.start(serve, { node: node! });
    await until('it serves', () => first.output().includes('http://127.0.0.1:'));
    const [serving] = childrenOf(first.child.pid!);
    expect(serving).toBeDefined();
    first.child.kill('SIGKILL');
    await until('the process that it started is gone', () => !existsSync(`/proc/${serving}`));
    const second = scene.start(serve, { node: node! });
    await until('another one serves', () => second.output().includes('http://127.0.0.1:'));
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(143);
  });
});
