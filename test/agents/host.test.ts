/** What the host does for every agent: its folder, its tools, its end, the limits of what is kept of it. */

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { commandAdapter } from '../../src/agents/command/adapter.ts';
import type { AgentAdapter, RunEvent } from '../../src/agents/contract.ts';
import { opencodeAdapter } from '../../src/agents/opencode/adapter.ts';
import { replayAdapter } from '../../src/agents/replay/adapter.ts';
import { createRecorder } from '../../src/agents/replay/recording.ts';
import { createEventStreamParser } from '../../src/agents/shared/event-stream.ts';
import { guardScript } from '../../src/agents/shared/guard-hook.ts';
import type { AttemptSpec } from '../../src/domain/attempt.ts';
import type { NewEvent } from '../../src/domain/events.ts';
import { createRedactor, redactLines } from '../../src/domain/redact.ts';
import type { RunListener } from '../../src/engine/ports.ts';
import { createAgentHost } from '../../src/engine/run/agent-host.ts';
import { watchRetries } from '../../src/engine/run/retry-patience.ts';
import { createEventReporter } from '../../src/engine/run/run-events.ts';
import { clearRunFolders, openRunFolder } from '../../src/engine/run/run-folder.ts';
import { createToolEndpoint } from '../../src/tools/endpoint.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { makeRepo } from '../git/fixture.ts';
import { makeFolder } from './fixture.ts';
import { heldAttempt } from './held-attempt.ts';

/** A shell script that prints events. */
function scripted(script: string, more: Partial<AgentAdapter> = {}): AgentAdapter {
  return {
    ...commandAdapter,
    name: 'scripted',
    createParser: createEventStreamParser,
    command: ({ brief, directory }) => ({
      file: '/bin/sh',
      args: ['-c', script],
      env: { FOLDER: directory },
      stdin: brief,
      stopSignals: ['SIGTERM'],
      files: { 'mcp.json': 'the file' },
    }),
    ...more,
  };
}

interface RunWish extends Partial<Pick<AttemptSpec, 'resume' | 'resumeUsage' | 'command' | 'record'>> {
  idleMs?: number | null;
  hardMs?: number;
}

async function run(adapter: AgentAdapter, { idleMs = null, hardMs = 5_000, ...spec }: RunWish = {}) {
  const { root, head, env, git } = makeRepo();
  await using endpoint = createToolEndpoint();
  const events: NewEvent[] = [];
  const recorded: string[] = [];
  const host = createAgentHost({
    record: (_, agent, redact) => ({
      ...createRecorder((line) => recorded.push(line), { agent, redact, nowMs: Date.now }),
      [Symbol.dispose]: () => undefined,
    }),
    findAdapter: () => adapter,
    endpoint,
    environment: env,
    binDirectory: '/nowhere',
    redactor: createRedactor([]),
    sandboxes: { plan: async () => null, gitIn: async () => git, gitInRoom: async () => git },
    works: fakeLoops().works,
  });
  const spent: { tokens: number }[] = [];
  const limits = { hardMs, idleMs, usd: null, tokens: null, timeMs: null };
  const attempt = heldAttempt({ worktreePath: root, startSha: head, limits, ...spec });
  const listener: RunListener = {
    event: (event) => void events.push(event),
    write: () => Promise.reject(new Error('nothing is written')),
    spent: (total) => void spent.push(total),
  };
  const report = await host.run(attempt, listener, new AbortController().signal);
  return { report, events, spent, root, recorded };
}

const deniedIn = (events: readonly NewEvent[]) => events.filter(({ type }) => type === 'agent.denied');
const DONE = `echo '{"type":"text","text":"Fine."}'; echo '{"type":"done","ok":true}'`;

describe('the folder of a run', () => {
  test('holds the adapter’s files for this user alone, and is gone afterwards', async () => {
    const { report, root } = await run(
      scripted(
        `stat -c '%a' "$FOLDER" "$FOLDER/mcp.json" > seen; cat "$FOLDER/mcp.json" >> seen; echo "$FOLDER" > where; ${DONE}`,
      ),
    );
    expect(report.failure).toBeNull();
    expect(readFileSync(join(root, 'seen'), 'utf8')).toBe('700\n600\nthe file');
    expect(existsSync(readFileSync(join(root, 'where'), 'utf8').trim())).toBe(false);
  });

  test('takes only files of its own', async () => {
    using folder = openRunFolder();
    expect(existsSync(folder.path)).toBe(false);
    expect(() => folder.write({ '../elsewhere': 'x' })).toThrow(/no file of the run/);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  });
});

test('folders of runs whose Pulse was killed go after an hour, and no others', async () => {
  const { pid } = spawnSync('true');
  const folder = (owner: number) => join(tmpdir(), `pulse-run-${owner}-${randomBytes(12).toString('hex')}`);
  const [dead, alive, other] = [folder(pid), folder(process.pid), `${folder(pid)}-mine`];
  const more = ['index', 'hook', 'measure', 'verify'].map((name) =>
    join(tmpdir(), `pulse-${name}-${pid}-Ab3dE9`),
  );
  for (const path of [dead, alive, other, ...more]) mkdirSync(path);
  try {
    await clearRunFolders();
    expect(existsSync(dead)).toBe(true);
    await clearRunFolders(Date.now() + 2 * 60 * 60_000);
    expect([dead, alive, other].map((path) => existsSync(path))).toEqual([false, true, true]);
    expect(more.filter((path) => existsSync(path))).toEqual([]);
  } finally {
    for (const path of [dead, alive, other, ...more]) rmSync(path, { recursive: true, force: true });
  }
});

test('what the agent calls its session is in the report, and the model that it named', async () => {
  const { report } = await run(
    scripted(`echo '{"type":"started","sessionId":"its-own","model":"m-1"}'; ${DONE}`),
  );
  expect(report).toMatchObject({ agentSessionId: 'its-own', model: 'm-1', failure: null });
});

test('the last lines of stderr are in the failure’s message, and no earlier ones', async () => {
  const { report } = await run(
    scripted('for line in 1 2 3 4 5 6 7; do echo "trouble $line" >&2; done; exit 3'),
  );
  expect(report.failure).toMatchObject({
    class: 'crashed',
    message: expect.stringContaining('trouble 3\ntrouble 4\ntrouble 5\ntrouble 6\ntrouble 7'),
  });
  expect(report.failure?.message).toContain('code 3');
  expect(report.failure?.message).not.toContain('trouble 2');
});

test('what a session had spent before matters only to a run that goes on with it', async () => {
  const resumeUsage = { costUsd: 1, inputTokens: 100, outputTokens: 10, cacheTokens: 0 };
  for (const resume of ['its-own', null]) {
    const createParser = vi.fn(createEventStreamParser);
    await run(scripted(DONE, { createParser }), { resume, resumeUsage });
    const earlier = resume === null ? null : resumeUsage;
    expect(createParser).toHaveBeenCalledWith(expect.objectContaining({ earlier }));
  }
});

test('what is reported by a tool is on top of what the stream tells: what was spent never falls', async () => {
  const usage = (tokens: number) =>
    `echo '{"type":"usage","scope":"cumulative","inputTokens":${tokens},"outputTokens":0}'`;
  const call = `fetch(process.env.PULSE_TOOLS_URL + "/tools/report_usage", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.PULSE_TOOLS_TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ inputTokens: 7 }),
  })`;
  const script = `${usage(10)}; '${process.execPath}' -e '${call}'; ${usage(12)}; ${DONE}`;
  const { report, spent } = await run(scripted(script));
  expect(report.usage).toMatchObject({ inputTokens: 19 });
  const tokens = spent.map((total) => total.tokens);
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
});

describe('a silence longer than the idle limit', () => {
  const start = `echo '{"type":"step_start","sessionID":"s"}'`;
  const call = `echo '{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"completed"}}}'`;
  const finish = (reason: string) =>
    `echo '{"type":"step_finish","sessionID":"s","part":{"reason":"${reason}"}}'`;
  const opencode = (script: string) => scripted(script, { createParser: opencodeAdapter.createParser });

  test('is a tool at work, where the agent tells of calls when they are over', async () => {
    const { report } = await run(opencode(`${start}; sleep 2; ${call}; ${finish('stop')}`), { idleMs: 500 });
    expect(report.failure).toBeNull();
  });

  test('is none after the step, and none that outlasts the run’s limit', async () => {
    const after = await run(opencode(`${start}; ${call}; ${finish('tool-calls')}; sleep 60`), {
      idleMs: 500,
    });
    expect(after.report.failure?.class).toBe('timeout_idle');
    const endless = await run(opencode(`${start}; sleep 60`), { idleMs: 500, hardMs: 1_500 });
    expect(endless.report.failure?.class).toBe('timeout_hard');
  });
});

describe('a call that the guard refuses', () => {
  /** Asks as a hook does; `then` is what the agent prints after it. */
  const asks = (command: string, then = '') => {
    const call = { tool_name: 'Bash', tool_input: { command } };
    return scripted('', {
      command: ({ directory, tools }) => ({
        file: '/bin/sh',
        args: ['-c', `bash "$FOLDER/guard.sh" > /dev/null; echo '${then}'; ${DONE}`],
        env: { FOLDER: directory },
        stdin: JSON.stringify(call),
        stopSignals: ['SIGTERM'],
        files: { 'guard.sh': guardScript(tools, 'claude') },
      }),
    });
  };

  test.each(['', '{"type":"denied","tool":"Bash"}'])(
    'is told of once with its reason, and is no failure of the run, whatever the agent calls it: %s',
    async (then) => {
      const { report, events } = await run(asks('git push --force', then));
      expect(report.failure).toBeNull();
      expect(deniedIn(events)).toEqual([
        { type: 'agent.denied', data: { tool: 'Bash', reason: expect.stringContaining('does not push') } },
      ]);
    },
  );

  test('is told of in a few words, however many it has', async () => {
    const { events } = await run(asks(`echo > /usr/share/${'x'.repeat(3_000)}`));
    expect(String(deniedIn(events)[0]?.data?.reason)).toHaveLength(500);
  });

  test('is told of without the secrets in it, wherever its words are cut', async () => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
    for (const length of [10, 60, 75, 90]) {
      const words = `git push ${'x'.repeat(length)} https://me:${secret}@example.com/r.git`;
      const { events } = await run(asks(words));
      expect(deniedIn(events)).toHaveLength(1);
      expect(JSON.stringify(events)).not.toContain(secret.slice(0, 8));
    }
  });

  test('is none that it lets pass', async () => {
    expect(deniedIn((await run(asks('git status'))).events)).toEqual([]);
  });
});

describe('denied tools', () => {
  const DENIED = `echo '{"type":"denied","tool":"Write"}'; ${DONE}`;

  test('are a failure where nothing was changed', async () => {
    const { report } = await run(scripted(DENIED));
    expect(report.failure).toMatchObject({
      class: 'denied',
      message: 'The agent may not use Write, and changed nothing.',
    });
  });

  test.each([
    ['a file', 'echo x > new.txt'],
    ['a commit', 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m own'],
  ])('are none where the run left %s', async (_, work) => {
    const { report } = await run(scripted(`${work}; ${DENIED}`));
    expect(report.failure).toBeNull();
  });

  test.each([
    ['a failure', 'true', 'denied'],
    ['none', 'echo x > new.txt', null],
  ])('are %s where the run is played, as they were where it was recorded', async (_, work, failure) => {
    const first = await run(scripted(`${work}; ${DENIED}`), { record: true });
    expect(first.report.failure?.class ?? null).toBe(failure);
    const folder = makeFolder({ 'played.jsonl': first.recorded.map((line) => `${line}\n`).join('') });
    const again = await run(replayAdapter, { command: join(folder, 'played.jsonl') });
    expect(again.report.failure?.class ?? null).toBe(failure);
    expect(again.report.failure?.message).toBe(first.report.failure?.message);
    expect(deniedIn(again.events)).toHaveLength(1);
  });
});

describe('retries', () => {
  const retry = (status?: number): RunEvent => ({ type: 'retry', attempt: 1, status });

  test.each([
    ['go on', 'while :; do echo "$RETRY"; sleep 0.2; done'],
    ['end in silence', 'echo "$RETRY"; sleep 60'],
  ])('that %s are no sign of life: the run ends, with the class of what it met', async (_, script) => {
    const loop = `RETRY='{"type":"retry","attempt":1,"status":429}'; ${script}`;
    const { report } = await run(scripted(loop), { idleMs: 1_000 });
    expect(report.failure).toMatchObject({
      class: 'rate_limit',
      message: expect.stringContaining('nothing but try again'),
    });
  });

  test.each([
    [undefined, 'network'],
    [401, 'auth'],
    [402, 'auth'],
    [408, 'network'],
    [429, 'rate_limit'],
    [529, 'overloaded'],
  ])('with status %s are %s', (status, failure) => {
    vi.useFakeTimers();
    try {
      const stop = vi.fn();
      using watch = watchRetries({ idleMs: null }, stop);
      watch.saw(retry(status));
      vi.advanceTimersByTime(119_000);
      watch.saw(retry(status));
      expect(stop).not.toHaveBeenCalled();
      vi.advanceTimersByTime(2_000);
      expect(stop).toHaveBeenCalledWith(expect.objectContaining({ class: failure }));
    } finally {
      vi.useRealTimers();
    }
  });

  test('that the agent got over are forgotten', () => {
    vi.useFakeTimers();
    try {
      const stop = vi.fn();
      using watch = watchRetries({ idleMs: 10_000 }, stop);
      watch.saw(retry(429));
      watch.saw({ type: 'text', text: 'on' });
      vi.advanceTimersByTime(60_000);
      expect(stop).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('what is kept of a run', () => {
  test('ends with a word on it after fifty thousand events', () => {
    const kept: NewEvent[] = [];
    const tell = createEventReporter({ tell: (event) => void kept.push(event), hide: (event) => event });
    for (let count = 0; count < 60_000; count++) tell({ type: 'tool_end', id: 'x', ok: true });
    expect(kept).toHaveLength(50_001);
    expect(kept.at(-1)).toEqual({
      type: 'agent.text',
      data: { text: expect.stringContaining('is not kept') },
    });
  });

  test('and after thirty-two megabytes of text', () => {
    const kept: NewEvent[] = [];
    const tell = createEventReporter({ tell: (event) => void kept.push(event), hide: (event) => event });
    for (let count = 0; count < 100; count++) tell({ type: 'text', text: 'x'.repeat(1024 * 1024) });
    expect(kept).toHaveLength(33);
  });

  test('has the lines of an agent that prints for people, without a secret of several lines', () => {
    const kept: NewEvent[] = [];
    const tell = createEventReporter({
      tell: (event) => void kept.push(event),
      hide: (event) => event,
      hideLine: redactLines((text) => text),
    });
    const key = ['-----BEGIN PRIVATE KEY-----', 'MIIEvQIBADANBgkqhkiG9w0B', '-----END PRIVATE KEY-----'];
    for (const line of ['compiling', ...key, 'done']) tell({ type: 'raw', line });
    const texts = kept.map(({ data }) => data?.text);
    expect(texts).toEqual(['compiling', key[0], '[redacted]', '[redacted]', 'done']);
  });

  test('a stream that never ends is ended by its limits, and what it says is not held', async () => {
    const flood = `while :; do echo '{"type":"tool_start","id":"'$((i=i+1))'","name":"x"}'; done`;
    const before = process.memoryUsage().heapUsed;
    const { report, events } = await run(scripted(flood), { idleMs: 60_000 });
    expect(report.failure?.class).toBe('timeout_hard');
    expect(events.length).toBeGreaterThan(100);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  });
});
