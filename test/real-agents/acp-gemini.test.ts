/** The `acp` agent with the real gemini at the other end; run with gemini's own suite. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../engine/scene.ts';
import { makeStage, type StepsOf, type Subject, useModelServer } from './stage.ts';
import { agentProgram } from './versions.ts';

const shell = (command: string) => ({ tool: 'run_shell_command', input: { command } });

/** What its command sets for it, besides what its own files hold. */
const VARIABLES = 'GEMINI_CLI_NO_RELAUNCH=true GEMINI_CLI_TRUST_WORKSPACE=true';
const command = `${VARIABLES} exec '${agentProgram('gemini')}' --acp`;

const gemini: Subject = {
  name: 'gemini',
  user(url, home) {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    const variables = {
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: 'gemini-2.5-pro',
    };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(home, '.gemini/.env'), lines.join(''));
    return {};
  },
  calls: {
    read: (file_path) => ({ tool: 'read_file', input: { file_path } }),
    edit: (file_path, { from, to }) => ({
      tool: 'replace',
      input: { file_path, instruction: 'a change', old_string: from, new_string: to },
    }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    shell,
    signal: (signal) => ({ tool: 'mcp_pulse_pulse_signal', input: { signal } }),
  },
  costOfCall: null,
  quietMs: 10_000,
  tellsRetries: false,
};

const server = useModelServer();

async function stage() {
  const made = await makeStage(gemini, server());
  const asAcp = { agent: 'acp', command };
  return {
    ...made,
    start: (steps: StepsOf) => made.start(steps, asAcp),
    play: (steps: StepsOf, input: object = {}) => made.play(steps, { ...asAcp, ...input }),
  };
}

test('gemini over acp: reads, edits, writes, commits, signals by tool, and is accounted for', async () => {
  const { calls } = gemini;
  const { scene, play } = await stage();
  const session = await play((worktree) => [
    { text: 'Reading.', calls: [calls.read(`${worktree}/a.txt`)] },
    { calls: [calls.edit(`${worktree}/a.txt`, { from: 'first', to: 'second' })] },
    { calls: [calls.write(`${worktree}/new.txt`, 'brand new')] },
    { calls: [shell('git add -A && git -c user.name=a -c user.email=a@b commit -qm "of the agent"')] },
    { calls: [calls.signal('COMPLETE')] },
    { text: 'The file is changed.' },
  ]);
  expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed', last_signal: 'COMPLETE' });
  const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
  expect(iteration).toMatchObject({
    signal_source: 'tool',
    files_changed: ['a.txt', 'new.txt'],
    input_tokens: 6000,
    output_tokens: 300,
    output_full: expect.stringContaining('The file is changed.'),
  });
  expect(iteration.output_full).not.toContain('MODE_UPDATE');
});

test('gemini over acp is refused what Pulse’s own tools refuse, and goes on', async () => {
  const { calls } = gemini;
  const { scene, play, asked } = await stage();
  const session = await play((worktree) => [
    { text: 'Pushing.', calls: [shell('git push origin HEAD')] },
    { calls: [shell('git push --force origin HEAD:main')] },
    { calls: [shell('echo done > /proc/another.txt')] },
    { calls: [calls.write('/proc/outside-the-worktree.txt', 'x')] },
    { calls: [calls.write(`${worktree}/new.txt`, 'brand new')] },
    { text: 'I leave it.\n\n<signal>COMPLETE</signal>' },
  ]);
  expect(session).toMatchObject({ status: 'complete' });
  const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
  expect(iteration).toMatchObject({ failure_class: null, files_changed: ['new.txt'] });
  const events = await scene.events(session);
  const refused = events.filter(({ type }) => type === 'agent.denied').map(({ data }) => String(data.reason));
  expect(refused).toEqual([
    expect.stringMatching(/^git push origin HEAD: .*an agent does not push/),
    expect.stringMatching(/^git push --force origin HEAD:main: .*an agent does not push/),
    expect.stringContaining('another.txt, which is outside'),
  ]);
  const told = JSON.stringify(asked().at(-1)?.body);
  expect(told.match(/was canceled by the user/g)).toHaveLength(3);
  expect(told).toContain('Path not in workspace'); // it refuses that by itself, and asks nobody
  const tools = events.filter(({ type }) => type === 'agent.tool');
  const ends = tools.filter(({ data }) => data.phase === 'end').map(({ data }) => data.ok);
  expect(ends).toEqual([false, false, false, false, true]);
});

test('gemini over acp at 401: a person must act', async () => {
  const { play } = await stage();
  const session = await play([{ faults: [{ kind: 'status', status: 401, times: 'always' }] }]);
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'agent_auth' });
});

test('gemini over acp, whose model never answers: the idle watchdog ends it', async () => {
  const { scene, play } = await stage();
  const session = await play([{ faults: [{ kind: 'hang', times: 'always' }] }], { idleTimeoutMs: 10_000 });
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'iteration_limit' });
  expect((await scene.pulse.showIteration(session.id, { number: 1 })).iteration.failure_class).toBe(
    'timeout_idle',
  );
});

test('gemini over acp, aborted in the middle of a tool: dead within ten seconds, the tool too', async () => {
  const { scene, start } = await stage();
  const session = await start([{ calls: [shell('echo started > started.txt; tail -f /dev/null')] }]);
  const running = scene.run(session);
  await until(() => existsSync(join(session.worktree_path, 'started.txt')), 30_000);
  const began = performance.now();
  await scene.pulse.abort(session.id, { actor: 'test' });
  expect(await running).toMatchObject({ status: 'aborted' });
  expect(performance.now() - began).toBeLessThan(10_000);
  // That nothing is left in the session's folders, the scene checks at its end.
});
