/** The loop that only tests have, on real git, real processes and a real store. */
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { LOOPS } from '../../src/loops/all.ts';
import { operationTools } from '../../src/mcp/operation-tools.ts';
import { createPulse } from '../../src/pulse.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Session } from '../../src/store/sessions.ts';
import { until } from '../e2e/scene.ts';
import { COUNT_COMMAND, countdown } from '../fakes/countdown/index.ts';
import { startCountdown } from '../fakes/countdown/operations.ts';
import { findCountdown } from '../fakes/countdown/rows.ts';
import { createScratch } from '../fakes/scratch.ts';

it('runs a session of a loop that Pulse does not have, with its tool, its step, its child and its rows', async () => {
  using scratch = createScratch();
  const loops = [...LOOPS, countdown];
  await using pulse = await createPulse({ environment: scratch.environment, loops });
  const { session } = await pulse.call(startCountdown, {
    path: scratch.repository,
    command: COUNT_COMMAND,
    from: 3,
    hasHelper: true,
  });
  expect(await pulse.run(session.id, new AbortController().signal)).toBe('left');
  const { session: after } = await pulse.show(session.id);
  expect(after).toMatchObject({
    kind: 'countdown',
    status: 'complete',
    stop_reason: 'completed',
    total_commits: 3,
  });
  const log = scratch.git(
    'log',
    '--reverse',
    '--format=%s %(trailers:key=Countdown-Number,valueonly,separator=)',
    `main..${after.branch_name}`,
  );
  expect(log.split('\n')).toEqual(['count: 3 3', 'count: 2 2', 'count: 1 1']);
  expect(scratch.git('log', '--format=%s', `main..${after.branch_name}-helper`)).toBe('count: 1');
  const store = await openSqlite({ path: pulse.home.database, modules: loops });
  expect(await store.read((db) => findCountdown(db, session.id))).toMatchObject({ at: 0, is_fuse_lit: 1 });
  await store.close();
});

it('is started over HTTP and by an assistant, by what it contributes to the table alone', async () => {
  using scratch = createScratch();
  await using pulse = await createPulse({
    environment: scratch.environment,
    loops: [...LOOPS, countdown],
    operations: { countdown: { start: startCountdown } },
  });
  const handed: string[] = [];
  const app = createApi({ pulse, token: 'token', runSession: (id) => void handed.push(id) });
  const headers = { authorization: 'Bearer token', 'content-type': 'application/json' };
  const ask = (body: object) =>
    app.request('/api/countdown', { method: 'POST', headers, body: JSON.stringify(body) });
  const asked = { projectPath: scratch.repository, command: COUNT_COMMAND };
  expect((await ask({ ...asked, from: 11 })).status).toBe(422);
  const started = await ask({ ...asked, from: 2 });
  expect(started.status).toBe(201);
  const { session } = (await started.json()) as { session: Session };
  expect(session).toMatchObject({ kind: 'countdown', created_by: 'api' });

  const tools = operationTools({
    pulse: async () => pulse,
    operations: pulse.operations,
    runSession: async ({ id }) => void handed.push(id),
    actor: 'mcp',
    isTrusted: true,
    isInsideRun: false,
  });
  const tool = tools.find(({ name }) => name === 'pulse_countdown_start')!;
  const told = await tool.call({ ...asked, from: 1 }, new AbortController().signal);
  expect(told.structuredContent).toMatchObject({ session: { kind: 'countdown', created_by: 'mcp' } });
  expect(handed).toHaveLength(2);

  await pulse.run(session.id, new AbortController().signal);
  expect((await pulse.session(session.id)).status).toBe('complete');
});

it('is run and shown by a command line that has its command', async () => {
  using scratch = createScratch();
  const program = join(import.meta.dirname, '../fakes/countdown/pulse.ts');
  const pulse = async (...args: string[]) =>
    (
      await promisify(execFile)(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', program, ...args],
        {
          cwd: scratch.repository,
          env: scratch.environment,
        },
      )
    ).stdout;
  expect(await pulse('help')).toContain('Count down.');
  const told = await pulse('countdown', '--from', '2', '--has-helper', '--command', COUNT_COMMAND, '--json');
  const last = told.trim().split('\n').at(-1)!;
  expect(JSON.parse(last)).toMatchObject({ type: 'session.ended', session: { status: 'complete' } });
  // In one second, git's order of them says nothing.
  const counted = scratch.git('log', '--format=%s', '--all', '--grep=^count').split('\n');
  expect(counted.sort()).toEqual(['count: 1', 'count: 1', 'count: 2']);
  expect(await pulse('list')).toContain('complete');
});

it('pauses when its child has come to the end of its iteration, and continues with it', async () => {
  using scratch = createScratch();
  await using pulse = await createPulse({
    environment: scratch.environment,
    loops: [...LOOPS, countdown],
  });
  const [begun, go] = [join(scratch.path, 'begun'), join(scratch.path, 'go')];
  // The child's number is 1, and its file is not there yet.
  const command = `if [ "$PULSE_UNIT" = count-1 ] && [ ! -e count.txt ]; then touch '${begun}'; while [ ! -e '${go}' ]; do sleep 0.05; done; fi
${COUNT_COMMAND}`;
  const input = { path: scratch.repository, command, from: 2, hasHelper: true };
  const { session } = await pulse.call(startCountdown, input);
  const part = session.id.slice(-8);
  const running = pulse.run(part, new AbortController().signal);
  const types: string[] = [];
  for await (const { type } of pulse.follow(part)) {
    types.push(type);
    // It has counted all that it has to count, and waits for its child.
    if (type !== 'countdown.counted' || !types.includes('countdown.lit')) continue;
    await until('the child has begun', () => existsSync(begun));
    await pulse.pause(session.id, { actor: 'test' });
    writeFileSync(go, '');
  }
  expect(await running).toBe('left');
  expect((await pulse.show(session.id)).session.status).toBe('paused');
  expect(scratch.git('log', '--format=%s', `main..${session.branch_name}-helper`)).toBe('count: 1');
  await pulse.resume(session.id, { actor: 'test' });
  expect(await pulse.run(session.id, new AbortController().signal)).toBe('left');
  expect((await pulse.show(session.id)).session.status).toBe('complete');
});
