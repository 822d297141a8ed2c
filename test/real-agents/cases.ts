/** What every real agent must do under Pulse, run for real against a scripted model. */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runProcess } from '../../src/process/run.ts';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import type { Step } from '../fakes/model-server/index.ts';
import { describeLongCheck } from './long-check.ts';
import { makeStage, runAlone, type Stage, type Subject, useModelServer } from './stage.ts';

const SANDBOX = await sandboxState(process.env.PATH);
if (!SANDBOX.works) console.warn(`The sandbox is not tested here. ${SANDBOX.message}`);

const PROGRAM = join(import.meta.dirname, '../../bin/pulse.js');
const HANGS_IN_A_TOOL = 'echo started > started.txt; tail -f /dev/null';

export function describeAgent(subject: Subject): void {
  const { calls, costOfCall, quietMs } = subject;
  const server = useModelServer();
  const stage = (options?: Parameters<typeof makeStage>[2]) => makeStage(subject, server(), options);
  const cost = (count: number) => (costOfCall === null ? null : expect.closeTo(count * costOfCall, 6));
  const spent = (count: number) => cost(count) ?? 0;
  /** Of a call whose tool was broken off. */
  const spentOnCut = subject.tellsCostAfterTools === 'always' ? 0 : spent(1);
  const signalled = (text: string): Step[] => [{ calls: [calls.signal('COMPLETE')] }, { text }];

  describeGuard(subject);
  describeSandbox(subject);
  describeLongCheck(subject);
  describe(`a real ${subject.name}`, () => {
    test('reads, edits, writes, commits, signals by tool, and is accounted for', async () => {
      const { scene, play } = await stage();
      const session = await play((worktree) => [
        { text: 'Reading.', calls: [calls.read(`${worktree}/a.txt`)] },
        { calls: [calls.edit(`${worktree}/a.txt`, { from: 'first', to: 'second' })] },
        { calls: [calls.write(`${worktree}/new.txt`, 'brand new')] },
        {
          calls: [
            calls.shell('git add -A && git -c user.name=a -c user.email=a@b commit -qm "of the agent"'),
          ],
        },
        ...signalled('The file is changed.'),
      ]);
      expect(session).toMatchObject({
        status: 'complete',
        stop_reason: 'completed',
        last_signal: 'COMPLETE',
      });
      expect(session.spent_usd).toEqual(spent(6));
      const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
      expect(iteration).toMatchObject({
        outcome: 'completed',
        signal_source: 'tool',
        failure_class: null,
        files_changed: ['a.txt', 'new.txt'],
        cost_usd: cost(6),
        input_tokens: 6000,
        output_tokens: 300,
        output_full: expect.stringContaining('The file is changed.'),
      });
      expect(scene.sh(scene.root, 'show', `${session.branch_name}:a.txt`)).toBe('second');
      expect(scene.refs('refs/pulse/agent/')).toHaveLength(1);
      const tools = (await scene.events(session)).filter(({ type }) => type === 'agent.tool');
      expect(tools.filter(({ data }) => data.phase === 'start').length).toBeGreaterThanOrEqual(5);
      expect(tools.filter(({ data }) => data.phase === 'end')).toHaveLength(tools.length / 2);
    });

    test('finishes a pulse: refused with every reason, then accepted, one commit', async () => {
      const { scene, rewrite } = await stage();
      const { session } = await scene.pulse.workflow.start({
        plan: {
          title: 'Greet',
          pulses: [{ id: 'hello', title: 'Say hello', description: 'Write hello.txt' }],
          verify: [{ command: 'test ! -f hello.txt || grep -q hello hello.txt', source: 'Test' }],
        },
        path: scene.root,
        agent: subject.name,
        createdBy: 'cli',
        actor: 'test',
        isApproved: true,
      });
      const { tool } = calls.signal('COMPLETE');
      const done = (input: Record<string, unknown>) =>
        calls.pulse?.('pulse_done', input) ?? { tool: tool.replace('pulse_signal', 'pulse_done'), input };
      const right = { summary: 'feat: say hello', filesChanged: ['hello.txt'] };
      rewrite([
        { calls: [calls.write(`${session.worktree_path}/hello.txt`, 'nothing')] },
        { calls: [done({ summary: 'Said hello', filesChanged: [] })] },
        { calls: [calls.shell('echo hello > hello.txt')] },
        { calls: [done(right)] },
        { text: 'Done.' },
      ]);
      const stopped = await scene.run(session);
      expect(stopped, stopped.blocked_reason ?? '').toMatchObject({
        stop_reason: 'approval_required',
        total_commits: 1,
      });
      const { pulses } = await scene.pulse.workflow.rows(session.id);
      expect(pulses).toMatchObject([{ status: 'succeeded', rejections: 1, description: 'feat: say hello' }]);
      const rejected = (await scene.events(session)).find(({ type }) => type === 'pulse.rejected');
      expect(rejected?.data.reasons).toHaveLength(3);
      expect(scene.sh(scene.root, 'log', '-1', '--format=%s', session.branch_name)).toBe('feat: say hello');
    });

    test('goes on with its own session, and is charged only for what is new', async () => {
      const made = await stage();
      const first = await runAlone(made, subject, { steps: [{ text: 'The word is xylophone.' }] });
      expect(first).toMatchObject({ failure: null, agentSessionId: expect.any(String) });
      const second = await runAlone(made, subject, {
        steps: [{ text: 'Still here.' }],
        resume: first.agentSessionId,
        resumeUsage: first.usage,
      });
      expect(second).toMatchObject({ failure: null, finalMessage: 'Still here.' });
      expect(JSON.stringify(made.asked().at(-1)?.body)).toContain('The word is xylophone.');
      expect(second.usage).toEqual(first.usage);
      expect(second.usage.inputTokens).toBeGreaterThan(0);
    });

    test('cannot go on with a session that is gone: crashed, so that the retry begins a new one', async () => {
      const made = await stage();
      const { agentSessionId } = await runAlone(made, subject, { steps: [{ text: 'Here.' }] });
      const resume = agentSessionId!.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      const { failure } = await runAlone(made, subject, { steps: [{ text: 'Still here.' }], resume });
      expect(failure).toMatchObject({ class: 'crashed' });
      expect(made.asked()).toEqual([]);
    });

    test('may be silent for longer than the idle limit while a tool works', async () => {
      const { scene, play } = await stage();
      // Not `sleep`: some refuse it.
      const works = `timeout ${quietMs / 1000 + 2} tail -f /dev/null; echo over > over.txt`;
      const session = await play(
        [{ calls: [calls.shell(works)] }, { text: 'Done.\n\n<signal>COMPLETE</signal>' }],
        { idleTimeoutMs: quietMs },
      );
      expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed' });
      const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
      expect(iteration.files_changed).toEqual(['over.txt']);
    });

    test('a limit that a file or a tool speaks of is none', async () => {
      const { play } = await stage();
      const session = await play([
        {
          calls: [
            calls.shell(
              'cat limits.txt; echo "You\'ve hit your usage limit. try again at 3:00 PM" >&2; exit 1',
            ),
          ],
        },
        { text: 'rate_limit 429 usage_limit_reached\n\n<signal>COMPLETE</signal>' },
      ]);
      expect(session).toMatchObject({
        status: 'complete',
        stop_reason: 'completed',
        spent_usd: spent(2),
      });
    });

    test('429 once: it tries again by itself, and Pulse sees it where it is told', async () => {
      const { scene, play } = await stage();
      const session = await play([
        {
          faults: [{ kind: 'status', status: 429, retryAfterS: 1 }],
          text: 'Done.\n\n<signal>COMPLETE</signal>',
        },
      ]);
      expect(session).toMatchObject({ status: 'complete', spent_usd: spent(1) });
      const retries = (await scene.events(session)).filter(({ type }) => type === 'agent.retry');
      if (subject.tellsRetries) expect(retries).toMatchObject([{ data: { attempt: 1, status: 429 } }]);
    });

    test('401: a person must act', async () => {
      const { scene, play } = await stage();
      const session = await play([{ faults: [{ kind: 'status', status: 401, times: 'always' }] }]);
      expect(session).toMatchObject({ status: 'blocked', stop_reason: 'agent_auth', spent_usd: 0 });
      expect((await scene.pulse.showIteration(session.id, { number: 1 })).iteration.failure_class).toBe(
        'auth',
      );
    });

    test('429 without end: a limit of the service, to be retried', async () => {
      const { playOneAttempt } = await stage();
      const fault = { kind: 'status', status: 429, times: 'always' } as const;
      const { data, session } = await playOneAttempt([{ faults: [fault] }], { idleTimeoutMs: quietMs });
      expect(data).toMatchObject({ ok: false, failureClass: subject.classOf429 ?? 'rate_limit' });
      expect(session.spent_usd).toBe(0);
    });

    test('connection refused: a failure of the network, to be retried', async () => {
      const { playOneAttempt } = await stage({ url: 'http://127.0.0.1:9' });
      const { data, session } = await playOneAttempt([], { idleTimeoutMs: quietMs });
      expect(data).toMatchObject({ ok: false, failureClass: 'network' });
      expect(session.spent_usd).toBe(0);
    });

    test('a context that is too small: one fresh run', async () => {
      const { playOneAttempt } = await stage();
      const { data, session } = await playOneAttempt([{ faults: [{ kind: 'overflow', times: 'always' }] }]);
      expect(data).toMatchObject({ ok: false, failureClass: 'context_overflow' });
      // At most what its own attempt to shorten the talk has cost.
      expect(session.spent_usd).toBeCloseTo(0, 3);
    });

    test('a model that never answers: the idle watchdog ends the iteration and keeps the work', async () => {
      const { scene, play } = await stage();
      const session = await play(
        [{ calls: [calls.shell('echo kept > kept.txt')] }, { faults: [{ kind: 'hang', times: 'always' }] }],
        { idleTimeoutMs: quietMs },
      );
      expect(session).toMatchObject({
        status: 'blocked',
        stop_reason: 'iteration_limit',
        spent_usd: spent(1),
      });
      const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
      expect(iteration).toMatchObject({
        status: 'timeout',
        outcome: 'timeout',
        failure_class: 'timeout_idle',
        files_changed: ['kept.txt'],
      });
    });

    test.each(['off' as const, ...(SANDBOX.works ? ['on' as const] : [])])(
      'an abort in the middle of a tool: dead within ten seconds, the tool too (sandbox %s)',
      async (sandbox) => {
        const { scene, start } = await stage();
        const session = await start([{ calls: [calls.shell(HANGS_IN_A_TOOL)] }], { sandbox });
        const running = scene.run(session);
        await startedIn(session.worktree_path);
        const began = performance.now();
        await scene.pulse.abort(session.id, { actor: 'test' });
        expect(await running).toMatchObject({
          status: 'aborted',
          stop_reason: 'aborted_by_user',
          spent_usd: spentOnCut,
        });
        expect(performance.now() - began).toBeLessThan(10_000);
        expect(processesOf(session.worktree_path)).toEqual([]);
      },
    );

    test('SIGTERM from outside in the middle of a tool: crashed, done again, complete', async () => {
      const { scene, start, rewrite } = await stage();
      const session = await start([{ calls: [calls.shell(HANGS_IN_A_TOOL)] }]);
      const running = scene.run(session);
      await startedIn(session.worktree_path);
      rewrite([{ text: 'Done.\n\n<signal>COMPLETE</signal>' }]);
      process.kill(agentIn(session.worktree_path), 'SIGTERM');
      const ended = await running;
      expect(ended).toMatchObject({ status: 'complete' });
      // What the attempt that was killed had spent is counted too, where it had told.
      expect(ended.spent_usd).toEqual(subject.tellsCostAfterTools ? spent(1) : spent(2));
      const ends = (await scene.events(session)).filter(({ type }) => type === 'iteration.ended');
      expect(ends).toMatchObject([{ data: { failureClass: 'crashed' } }, { data: { ok: true, attempt: 2 } }]);
    });

    test('an agent that does not exit after its result is ended, and its work counts', async () => {
      const { scene, play } = await stage({ wrapper: '"$REAL" "$@"; exec tail -f /dev/null' });
      const session = await play([
        { calls: [calls.shell('echo late > late.txt')] },
        { text: 'Done.\n\n<signal>COMPLETE</signal>' },
      ]);
      expect(session).toMatchObject({ status: 'complete', spent_usd: spent(2) });
      expect(scene.sh(scene.root, 'show', `${session.branch_name}:late.txt`)).toBe('late');
    });

    const forbidden = test.skipIf(!subject.forbid);
    forbidden('tools that the user has forbidden: nothing changed, a person must act', async () => {
      const { scene, home, play } = await stage();
      subject.forbid?.(home);
      const session = await play([
        { calls: [calls.shell('touch forbidden.txt')] },
        { text: 'I may not.\n\n<signal>COMPLETE</signal>' },
      ]);
      expect(session).toMatchObject({ status: 'blocked', stop_reason: 'agent_auth', spent_usd: spent(2) });
      expect((await scene.pulse.showIteration(session.id, { number: 1 })).iteration.failure_class).toBe(
        'denied',
      );
    });
  });
}

/** In the sandbox an agent does all that it does outside, with the login and the settings of its user. */
function describeSandbox(subject: Subject): void {
  const { calls } = subject;
  const server = useModelServer();
  test.skipIf(!SANDBOX.works)(
    `a real ${subject.name} works in the sandbox, and sees no more than that`,
    async () => {
      const { scene, home, play } = await makeStage(subject, server());
      const secret = `${home}/secret`;
      writeFileSync(secret, 'do not tell');
      const session = await play(
        (worktree) => [
          { text: 'Reading.', calls: [calls.read(`${worktree}/a.txt`)] },
          { calls: [calls.edit(`${worktree}/a.txt`, { from: 'first', to: 'second' })] },
          { calls: [calls.shell(`cat ${secret} > copied; git add -A; git commit -qm own; true`)] },
          { calls: [calls.signal('COMPLETE')] },
          { text: 'The file is changed.' },
        ],
        { sandbox: 'on', verify: ['grep -q second a.txt && test ! -s copied'] },
      );
      const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
      expect([session.status, iteration.failure_class, iteration.output_full]).toEqual([
        'complete',
        null,
        expect.stringContaining('The file is changed.'),
      ]);
      expect(scene.sh(scene.root, 'show', `${session.branch_name}:a.txt`)).toBe('second');
      expect(scene.refs('refs/pulse/agent/')).toHaveLength(1);
    },
  );
}

/** With the program itself, as somebody who has just read it: a repository, an agent, and nothing else chosen. */
export function describeReadme(subject: Subject): void {
  const { calls, name } = subject;
  const server = useModelServer();

  test(`a real ${name} goes the way of the README: init, doctor, start, status, merge last`, async () => {
    const { scene, rewrite } = await makeStage(subject, server());
    const { root, sh, environment } = scene;
    const pulse = async (...words: string[]) => {
      const { code, stdout, stderr } = await runProcess({
        ...{ runId: null, file: process.execPath, args: [PROGRAM, ...words], cwd: root, env: environment },
        timeoutMs: 120_000,
      });
      expect(code, `${words.join(' ')}: ${stdout}${stderr}`).toBe(0);
      return stdout;
    };
    await pulse('init');
    expect(sh(root, 'status', '--porcelain', '-uall')).toBe('?? .pulse/config.yaml');
    const ready = new RegExp(`^✓ .*${name}`, 'm');
    expect(await pulse('doctor')).toMatch(ready);
    rewrite([
      { text: 'I begin.', calls: [calls.shell('echo second > a.txt')] },
      { text: 'I claim it.\n\n<signal>COMPLETE</signal>' },
    ]);
    const followed = await pulse('start', 'Say second', '--agent', name, '--verify', 'grep -q second a.txt');
    expect(followed).toContain('complete  verified by grep -q second a.txt');
    expect(await pulse('status')).toMatch(/Say second[\s\S]*verified/);
    expect(sh(root, 'show', 'main:a.txt')).toBe('first');
    expect(await pulse('merge', 'last')).toMatch(/^main is at [0-9a-f]{10} now\.$/m);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('second\n');
    expect(sh(root, 'status', '--porcelain', '-uall')).toBe('?? .pulse/config.yaml');
    expect(await pulse('list')).toContain('merged into main');
  });
}

/** It is refused what Pulse's own tools refuse, and whoever follows the session sees it. */
function describeGuard(subject: Subject): void {
  const { calls } = subject;
  const server = useModelServer();
  test(`a real ${subject.name} is refused what Pulse’s own tools refuse: a failed call with a way out`, async () => {
    const { scene, play, asked } = await makeStage(subject, server());
    const session = await play([
      { calls: [calls.shell('git push origin HEAD')] },
      { calls: [calls.shell('git push --force origin HEAD:main')] },
      { calls: [calls.write('/proc/outside-the-worktree.txt', 'x')] },
      { calls: [calls.shell('echo done > /proc/another.txt')] },
      { text: 'I leave it.\n\n<signal>COMPLETE</signal>' },
    ]);
    // Nothing was changed, and yet it is no `denied`: the refusals are Pulse's own.
    expect(session).toMatchObject({ status: 'complete' });
    expect((await scene.pulse.showIteration(session.id, { number: 1 })).iteration.failure_class).toBeNull();
    const told = JSON.stringify(asked().at(-1)?.body);
    const outside = subject.refusesOutside ?? 'outside-the-worktree.txt, which is outside';
    const words = ['an agent does not push', outside, 'another.txt, which is outside'];
    expect(words.filter((word) => !told.includes(word))).toEqual([]);
    expect(told.includes('leave publishing to Pulse')).toBe(true);
    const refused = (await scene.events(session)).filter(({ type }) => type === 'agent.denied');
    const reasons = refused.map(({ data }) => String(data.reason));
    expect(reasons).toEqual([
      expect.stringMatching(/^git push origin HEAD: .*an agent does not push/),
      expect.stringMatching(/^git push --force origin HEAD:main: .*an agent does not push/),
      // What the agent refuses by itself, it says or does not say in its own way.
      ...(subject.refusesOutside ? [] : [expect.stringContaining(outside)]),
      expect.stringContaining('another.txt, which is outside'),
    ]);
  });
}

/** Where the vendor's own limit has a reset time: Pulse waits for it. */
export function describeUsageLimit(subject: Subject): void {
  const server = useModelServer();
  test(`a real ${subject.name} at its usage limit: the session waits for the stated time`, async () => {
    const { scene, start }: Stage = await makeStage(subject, server(), { isSubscriber: true });
    const resetAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 60 * 60_000);
    const session = await start([{ faults: [{ kind: 'usage_limit', resetAt, times: 'always' }] }]);
    const running = scene.run(session);
    const { data } = await scene.seen(session, 'iteration.ended');
    expect(data).toMatchObject({ ok: false, failureClass: 'usage_limit' });
    const { data: limit } = await scene.seen(session, 'agent.limit');
    expect(Math.abs(Date.parse(String(limit.resetAt)) - resetAt.getTime())).toBeLessThanOrEqual(60_000);
    const waiting = await waitsFor(scene, session.id);
    expect(waiting.status).toBe('running');
    expect(Math.abs(Date.parse(waiting.resume_at ?? '') - resetAt.getTime())).toBeLessThanOrEqual(120_000);
    await scene.pulse.abort(session.id, { actor: 'test' });
    expect(await running).toMatchObject({ status: 'aborted' });
  });
}

async function waitsFor(scene: Stage['scene'], id: string) {
  for (let tries = 0; tries < 200; tries++) {
    const session = await scene.pulse.session(id);
    if (session.resume_at !== null) return session;
    await delay(50);
  }
  throw new Error('the session does not wait');
}

async function startedIn(worktree: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (existsSync(`${worktree}/started.txt`)) return;
    await delay(50);
  }
  throw new Error('the tool was not started within 30 s');
}

/** The agent itself: the process in the worktree whose parent is this one. */
function agentIn(worktree: string): number {
  const own = processesOf(worktree).filter((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(status);
  });
  expect(own).toHaveLength(1);
  return own[0]!;
}

function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      } catch {
        return false; // gone, or a zombie
      }
    });
}

/** `step`: a command that takes about a second, so that the tokens of the call before it are told. */
export function describeTokenBudget(subject: Subject, step: string): void {
  const server = useModelServer();
  test(`a budget of tokens ends a real ${subject.name} while it runs, to within one call`, async () => {
    const { play } = await makeStage(subject, server());
    const call = { calls: [subject.calls.shell(step)] };
    const session = await play(
      Array.from({ length: 40 }, () => call),
      { budgetTokens: 2_500 },
    );
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'budget_tokens' });
    expect(session.total_tokens_used).toBeGreaterThan(2_500);
    expect(session.total_tokens_used).toBeLessThanOrEqual(2_500 + 2 * 1_050);
  });
}
