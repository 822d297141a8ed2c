/** A runner that starts before its session is admitted: it takes the one that it is given, and else leaves nothing. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startReadyRunner } from '../../src/process/ready-runner.ts';

const SUPERVISE = join(import.meta.dirname, '../../src/process/supervise.ts');
const READY = join(import.meta.dirname, '../../src/process/ready-runner.ts');

/** A stand-in for bin/pulse.js whose runner notes its session, and crashes the first time. */
function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-ready-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const program = join(folder, 'program.mjs');
  const seen = join(folder, 'seen');
  writeFileSync(
    program,
    `import { readSessionId, superviseRunner, UNNAMED } from ${JSON.stringify(SUPERVISE)};
     import { appendFileSync, readFileSync } from 'node:fs';
     const [what, given] = process.argv.slice(2);
     if (what === 'supervise') {
       await superviseRunner({ program: ${JSON.stringify(program)}, sessionId: given });
       process.exit();
     }
     console.log('waits');
     const id = given === UNNAMED ? await readSessionId() : given;
     if (id) appendFileSync(${JSON.stringify(seen)}, id + '\\n');
     process.exit(readFileSync(${JSON.stringify(seen)}, 'utf8').split('\\n').length > 2 ? 0 : 1);`,
  );
  const start = { program, environment: process.env, logs: join(folder, 'logs') };
  return { folder, program, seen, start };
}

const processesOf = (program: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(program);
    } catch {
      return false;
    }
  });

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}

it('runs the session that it is given, and starts it again by its own name', async () => {
  const { seen, start, folder, program } = scene();
  const log = join(folder, 'session.log');
  {
    await using runner = startReadyRunner(start);
    expect(await runner.give('ses_1', log)).toBe(true);
    expect(await runner.give('ses_1', log), 'a second time').toBe(false);
  }
  await until(() => existsSync(seen) && readFileSync(seen, 'utf8') === 'ses_1\nses_1\n');
  await until(() => processesOf(program).length === 0);
  expect(readFileSync(log, 'utf8')).toContain('the runner of ses_1 ended (exit 1)');
  expect(readdirSync(start.logs)).toEqual([]);
});

it('leaves no process and no file where there is no session', async () => {
  const { seen, start, program } = scene();
  {
    await using _ = startReadyRunner(start);
  }
  await until(() => processesOf(program).length === 0);
  expect(existsSync(seen)).toBe(false);
  expect(readdirSync(start.logs)).toEqual([]);
});

it('ends by itself when whoever wanted it is killed', async () => {
  const { seen, start, program } = scene();
  const script = `import { startReadyRunner } from ${JSON.stringify(READY)};
    startReadyRunner(${JSON.stringify({ ...start, environment: { PATH: process.env.PATH } })}); console.log('started'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const logged = (): string =>
    readdirSync(start.logs)
      .map((name) => readFileSync(join(start.logs, name), 'utf8'))
      .join('');
  await until(() => logged().includes('waits'));
  child.kill('SIGKILL');
  await until(() => processesOf(program).length === 0);
  expect(existsSync(seen)).toBe(false);
});
