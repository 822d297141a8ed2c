/** How completion is judged; the test controls worktree and checks (docs/protocol/workflow.md, Completion). */
import { describe, expect, it } from 'vitest';
import type { BaselineIssue } from '../../src/loops/workflow/model.ts';
import { createPulseProtocol } from '../../src/loops/workflow/pulse-protocol.ts';
import type { CheckResult, JudgedChecks, PulseWorktree } from '../../src/loops/workflow/pulse-worktree.ts';
import type { PulseWork, WorkflowRun } from '../../src/loops/workflow/work-data.ts';
import type { ToolReply } from '../../src/tools/contract.ts';
import { heldAttempt } from '../agents/held-attempt.ts';
import { ACCEPTED } from '../fakes/referee.ts';
import { SPEC } from '../store/rows.ts';

const TYPES = 'tsc --noEmit';
const DONE = { summary: 'feat: a', filesChanged: ['a.ts'] };
const KNOWN: BaselineIssue = {
  command: TYPES,
  issueType: 'Error',
  source: 'Build',
  pattern: 'TS2322',
  filePath: 'src/old.ts',
  description: 'old',
  count: 1,
  category: 'error',
};

interface Options {
  agent?: string;
  baseline?: BaselineIssue[];
  /** What the check shows beyond the baseline; `null`: nothing. */
  news?: () => string | null;
  message?: (given: string) => string;
  /** What changed while it was checked. */
  answerWithinMs?: number;
  isReady?: Promise<void>;
}

function ownOf(protocol: { report(): { own?: unknown } }): WorkflowRun {
  return protocol.report().own as WorkflowRun;
}

function judged({
  agent = 'claude',
  baseline = [KNOWN],
  news = () => null,
  message,
  answerWithinMs,
  isReady,
}: Options = {}) {
  const work: PulseWork = {
    kind: 'pulse',
    pulseId: 'pul_1',
    plannedPulseId: 'one',
    baseSha: 'base',
    checks: [{ command: TYPES, source: 'Build' }],
    baseline,
    artifacts: [],
    rejections: 0,
    calls: [],
  };
  const staged = { tree: 'tree', files: ['a.ts'] };
  const worktree = {
    stage: async () => staged,
    runHooks: async (_: unknown, given: { message: string }) => ({
      failures: [],
      work: staged,
      message: message?.(given.message) ?? given.message,
    }),
    async runChecks(): Promise<JudgedChecks> {
      await isReady;
      const found = news();
      const record = { command: TYPES } as CheckResult['record'];
      const results: CheckResult[] = [
        { record, newIssues: found === null ? [] : [found], beyond: found === null ? [] : [KNOWN] },
      ];
      return { results, heldOut: [], judgement: ACCEPTED };
    },
  } as unknown as PulseWorktree;
  let rejections = 0;
  const protocol = createPulseProtocol({
    attempt: heldAttempt({ agent, work }),
    work,
    worktree,
    listener: {
      event: () => undefined,
      spent: () => undefined,
      // The one thing that it writes is a rejection.
      write: async () => ++rejections as never,
    },
    signal: new AbortController().signal,
    answerWithinMs,
  });
  let ids = 0;
  return {
    protocol,
    rejections: () => rejections,
    call: (name: string, input: object): Promise<ToolReply> =>
      protocol.tools.find((tool) => tool.name === name)!.call(input),
    /** A call of a tool of the agent's own, as its stream tells of it. */
    own(name: string, summary: string, ok: boolean, failed?: { exit: number; output: string }): void {
      const id = String(++ids);
      protocol.saw?.({ type: 'tool_start', id, name, summary });
      protocol.saw?.({ type: 'tool_end', id, ok, ...failed });
    },
  };
}

describe('a failed call', () => {
  it('of a command that Pulse has just run itself and found content is held against nobody', async () => {
    const { call, own } = judged();
    own('Bash', TYPES, false);
    own('Bash', `/bin/bash -lc '${TYPES}'`, false);
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
  });

  it('of such a command counts while it shows something new', async () => {
    const { call, own } = judged({ news: () => 'a new error' });
    own('Bash', TYPES, false);
    expect((await call('pulse_done', DONE)).reasons).toEqual([
      'a new error',
      expect.stringContaining(`shell ${TYPES}`),
    ]);
  });

  it('of another command is held against the pulse once, one of a file until it has succeeded', async () => {
    const { call, own } = judged();
    own('Bash', 'make lint', false);
    own('Edit', 'a.ts', false);
    expect((await call('pulse_done', DONE)).reasons).toHaveLength(2);
    expect((await call('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('edit a.ts')]);
    own('Edit', 'a.ts', true);
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
  });

  it('of a command is held again while the checks show something new', async () => {
    let news: string | null = 'a new error';
    const { call, own } = judged({ news: () => news });
    own('Bash', 'make lint', false);
    expect((await call('pulse_done', DONE)).reasons).toHaveLength(2);
    news = null;
    expect((await call('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('make lint')]);
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
  });

  it('of a command of its own is none where all it shows was there before, told by absolute paths too', async () => {
    const { call, protocol } = judged({ agent: 'native' });
    const output = `${SPEC.worktreePath}/src/old.ts(3,1): error TS2322: old\n`;
    const failed = { ok: false, output, reasons: ['exit 2'] };
    protocol.called?.({ name: 'shell', input: { command: 'npx tsc -p .' }, reply: failed });
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
  });

  it("of a CLI's own shell is none where all it shows was there before, as its stream tells it", async () => {
    const { call, own } = judged();
    const old = 'src/old.ts(3,1): error TS2322: old\n';
    own('command_execution', "/bin/bash -lc 'npm run types'", false, { exit: 2, output: old });
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
    own('Bash', 'npm run types', false, { exit: 2, output: `${old}src/new.ts(1,1): error TS2304: new\n` });
    expect((await call('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('npm run types')]);
  });

  it('that nobody can read is not excused by the exit code of another command', async () => {
    const known: BaselineIssue = {
      ...KNOWN,
      command: 'make lint',
      pattern: 'exit 1',
      filePath: null,
      description: 'exit 1',
    };
    const { call, protocol } = judged({ agent: 'native', baseline: [known] });
    const failed = { ok: false, output: 'oh\n', reasons: ['exit 1'] };
    protocol.called?.({ name: 'shell', input: { command: 'make lint' }, reply: failed });
    protocol.called?.({ name: 'shell', input: { command: './deploy' }, reply: failed });
    expect((await call('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('./deploy')]);
  });

  it("of the native agent's counts as it was answered, not as its stream tells it", async () => {
    const { protocol, call, own } = judged({ agent: 'native' });
    const output = 'src/old.ts(3,1): error TS2322: old\n';
    protocol.called?.({
      name: 'shell',
      input: { command: 'npm run types' },
      reply: { ok: false, output, reasons: ['exit 2'] },
    });
    own('shell', 'npm run types', false);
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
    protocol.called?.({
      name: 'shell',
      input: { command: 'npm run types' },
      reply: { ok: false, output: `${output}src/new.ts(1,1): error TS2304: new\n`, reasons: ['exit 2'] },
    });
    expect((await call('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('npm run types')]);
  });
});

describe('an answer', () => {
  it('that takes longer than a client waits is pending, and told when it is asked for', async () => {
    const ready = Promise.withResolvers<void>();
    const { call } = judged({ answerWithinMs: 20, isReady: ready.promise });
    const pending = await call('pulse_done', DONE);
    expect(pending).toMatchObject({ ok: false, pending: 'check-1' });
    expect(await call('pulse_done_result', { id: 'check-1' })).toMatchObject({ pending: 'check-1' });
    expect(await call('pulse_done_result', { id: 'check-9' })).toMatchObject({
      ok: false,
      reasons: ['unknown id'],
    });
    ready.resolve();
    expect(await call('pulse_done_result', { id: 'check-1' })).toMatchObject({ ok: true });
  });

  it('names the hatch from the second rejection on; it waives (a) and (b), never (c) and (d)', async () => {
    const { protocol, call, own } = judged({ news: () => 'a new error' });
    own('Edit', 'a.ts', false);
    const unresolvedIssues = [{ issue: 'x', reason: 'y' }];
    const early = await call('pulse_done', { ...DONE, unresolvedIssues });
    expect(early.reasons).toHaveLength(3);
    expect(early.output).not.toContain('unresolvedIssues');
    expect((await call('pulse_done', DONE)).output).toContain('unresolvedIssues');
    const wrong = await call('pulse_done', { summary: 'A', filesChanged: [], unresolvedIssues });
    expect(wrong.reasons).toEqual([
      expect.stringContaining('Conventional Commit'),
      expect.stringContaining('missing: a.ts'),
    ]);
    expect(wrong.output).toContain('unresolvedIssues');
    expect(await call('pulse_done', { ...DONE, unresolvedIssues })).toMatchObject({ ok: true });
    expect(ownOf(protocol).completion).toMatchObject({ unresolvedIssues, leftOver: [KNOWN] });
    expect(protocol.report().checks).toHaveLength(1);
  });

  it('judges the message that the commit-msg hook leaves', async () => {
    const { protocol, call } = judged({ message: (given) => `${given}\n\nChange-Id: 1` });
    expect(await call('pulse_done', DONE)).toMatchObject({ ok: true });
    expect(ownOf(protocol).completion?.summary).toBe('feat: a\n\nChange-Id: 1');
    const { call: other } = judged({ message: () => 'WIP' });
    expect((await other('pulse_done', DONE)).reasons).toEqual([expect.stringContaining('hook left it')]);
  });
});

describe('a judgement whose agent is gone', () => {
  const gone = async ({ isClean, news }: { isClean: boolean; news?: () => string }) => {
    const ready = Promise.withResolvers<void>();
    const { call, protocol, rejections } = judged({ answerWithinMs: 20, isReady: ready.promise, news });
    expect(await call('pulse_done', DONE)).toMatchObject({ pending: 'check-1' });
    const settled = protocol.settled!({ isClean, finalMessage: '' });
    ready.resolve();
    await settled;
    return { completion: ownOf(protocol).completion, rejections: rejections() };
  };

  it('is waited for where the agent ended cleanly, and its acceptance counts', async () => {
    expect(await gone({ isClean: true })).toMatchObject({ completion: { summary: 'feat: a' } });
  });

  it('says nothing where the agent ended badly', async () => {
    expect(await gone({ isClean: false })).toEqual({ completion: null, rejections: 0 });
  });

  it('is not held against the pulse where it refuses', async () => {
    expect(await gone({ isClean: true, news: () => 'a new error' })).toEqual({
      completion: null,
      rejections: 0,
    });
  });
});
