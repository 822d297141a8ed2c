import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until, useScene } from '../e2e/scene.ts';

const scene = useScene();

it('the examples of docs/rest.md work as printed', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/rest.md'), 'utf8');
  const blocks = [...text.matchAll(/^```sh runnable\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  expect(blocks.length).toBeGreaterThan(3);
  const port = await freePort();
  const server = scene.start(['serve', '--port', String(port)]);
  await until('it listens', () => server.output().includes('The token is in'));

  const { code, output } = await runShell(blocks.join('\n').replaceAll('3002', String(port)));
  expect(code, output).toBe(0);
  expect(output).toContain('"type":"session.ended"');
  expect(output).toContain('"passed":true');
  expect(output).toContain('"status":"aborted"');
  expect(output).toContain('"description":"feat: say hello"');
  expect(output).toContain('+hello');
  expect(output).toContain('"merged":{"base":"main","sha":"');
  expect(output).toContain('keep: Empty it. Metric: 2 → 0 (delta: -2)');
  expect(output).toContain('"phase":"complete"');
  expect(output).toContain('pulse_sessions{status="complete"} 3');
  server.child.kill('SIGTERM');
  await server.ended;
}, 60_000);

function runShell(script: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, HOME: scene.directory, PULSE_HOME: scene.home };
    const shell = spawn('/bin/sh', ['-ec', `exec 2>&1\n${script}`], { cwd: scene.repository, env });
    let output = '';
    shell.stdout.on('data', (chunk) => (output += chunk));
    shell.once('error', reject);
    shell.once('close', (code) => resolve({ code, output }));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
