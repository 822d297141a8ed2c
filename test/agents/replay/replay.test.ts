import { describe, expect, test } from 'vitest';
import { commandAdapter } from '../../../src/agents/command/adapter.ts';
import type { AgentEnd, RunEvent } from '../../../src/agents/contract.ts';
import { replayAdapter } from '../../../src/agents/replay/adapter.ts';
import { createRecorder } from '../../../src/agents/replay/recording.ts';
import { makeFolder, playRun } from '../fixture.ts';

const OK: AgentEnd = { ok: true, failure: null, message: '', resetAt: null, finalMessage: '' };

function record(events: readonly RunEvent[], { end = OK as AgentEnd | null, stepMs = 0 } = {}): string {
  let now = Date.UTC(2026, 0, 1);
  const lines: string[] = [];
  const recorder = createRecorder((line) => lines.push(line), {
    agent: 'test',
    nowMs: () => now,
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
  });
  for (const event of events) {
    now += stepMs;
    recorder.record(event);
  }
  if (end) recorder.finish(end);
  return lines.map((line) => `${line}\n`).join('');
}

const said = (text: string): string =>
  record([{ type: 'text', text }], { end: { ...OK, finalMessage: text } });

describe('a recording', () => {
  test('begins with a header and dates each event from there', () => {
    const [header, first, last] = record([{ type: 'compacted' }], { stepMs: 120 }).split('\n');
    expect(JSON.parse(header!)).toEqual({
      type: 'recording',
      version: 1,
      agent: 'test',
      at: '2026-01-01T00:00:00.000Z',
    });
    expect(JSON.parse(first!)).toEqual({ atMs: 120, event: { type: 'compacted' } });
    expect(JSON.parse(last!)).toEqual({ atMs: 120, event: { type: 'done', ok: true, message: '' } });
  });

  test('holds no secret, wherever it stands', () => {
    const secret = 'hunter2';
    const events: RunEvent[] = [
      { type: 'text', text: secret },
      { type: 'tool_start', id: secret, name: secret, summary: `echo "${secret}"` },
      { type: 'raw', line: `{"${secret}":"\\n${secret}"}` },
      { type: 'limit', message: secret },
      { type: 'denied', tool: 'x', reason: secret },
    ];
    const end = {
      ...OK,
      ok: false,
      failure: 'auth' as const,
      message: secret,
      finalMessage: `the ${secret}`,
    };
    const recorded = record(events, { end });
    expect(recorded).not.toContain(secret);
    expect(
      recorded
        .trim()
        .split('\n')
        .every((line) => JSON.parse(line)),
    ).toBe(true);
  });

  test('has lines that fit into what is read of a line, with the end of a text', () => {
    const text = `${'\u0001€'.repeat(1_000_000)}<signal>COMPLETE</signal>`;
    const lines = said(text).split('\n');
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(1024 * 1024);
    expect(lines[1]).toContain('<signal>COMPLETE</signal>');
  });
});

describe('replaying', () => {
  test('gives the same events and the same end', async () => {
    const events: RunEvent[] = [
      { type: 'started', model: 'm' },
      { type: 'tool_start', id: '1', name: 'Read', summary: 'Read a' },
      { type: 'tool_end', id: '1', ok: true },
      { type: 'raw', line: '{"type":"done","ok":false}' },
      { type: 'text', text: 'Done. <signal>COMPLETE</signal>' },
      { type: 'usage', scope: 'call', costUsd: 0.25, inputTokens: 10 },
    ];
    const end = { ...OK, finalMessage: 'Done. <signal>COMPLETE</signal>' };
    const worktree = makeFolder({ 'run.jsonl': record(events, { end }) });
    const played = await playRun(replayAdapter, { worktree, command: 'run.jsonl', iteration: 7 });
    expect(played.events).toEqual([...events, { type: 'done', ok: true, message: '' }]);
    expect(played.end).toEqual(end);
  });

  test('gives the end of an agent whose adapter concluded it from the output', async () => {
    const worktree = makeFolder();
    const original = await playRun(commandAdapter, {
      worktree,
      command: 'echo a; echo "<signal>CONTINUE</signal>"',
    });
    const failed = await playRun(commandAdapter, { worktree, command: 'echo a; exit 9' });
    const recordings = makeFolder({
      '1.1.jsonl': record(failed.events, { end: failed.end }),
      '1.2.jsonl': record(original.events, { end: original.end }),
    });
    const again = (attempt: number) => playRun(replayAdapter, { worktree, command: recordings, attempt });
    expect((await again(1)).end).toEqual(failed.end);
    expect((await again(2)).end).toEqual(original.end);
  });

  test('gives a usage limit with its reset time', async () => {
    const end: AgentEnd = {
      ok: false,
      failure: 'usage_limit',
      message: 'limit',
      resetAt: '2026-01-01T05:00:00Z',
      finalMessage: '',
    };
    const worktree = makeFolder({ 'run.jsonl': record([], { end }) });
    expect((await playRun(replayAdapter, { worktree, command: 'run.jsonl' })).end).toEqual(end);
  });

  test('plays a run and the question that came after it in the same attempt as one', async () => {
    const worktree = makeFolder({ 'run.jsonl': `${said('first')}\n${said('second')}` });
    const { end, events } = await playRun(replayAdapter, { worktree, command: 'run.jsonl' });
    expect(end).toMatchObject({ ok: true, finalMessage: 'second' });
    expect(events.map(({ type }) => type)).not.toContain('raw');
  });

  test('gives a crash where the recording has no end', async () => {
    const worktree = makeFolder({ 'run.jsonl': record([{ type: 'text', text: 'x' }], { end: null }) });
    const { end } = await playRun(replayAdapter, { worktree, command: 'run.jsonl' });
    expect(end).toMatchObject({ ok: false, failure: 'crashed', finalMessage: 'x' });
  });

  test('hands on a line it cannot read', async () => {
    const recorded = said('x').split('\n');
    recorded.splice(1, 0, 'damaged', '{"atMs":"soon"}');
    const worktree = makeFolder({ 'run.jsonl': recorded.join('\n') });
    const { events, end } = await playRun(replayAdapter, { worktree, command: 'run.jsonl' });
    expect(events.slice(0, 2)).toEqual([
      { type: 'raw', line: 'damaged' },
      { type: 'raw', line: '{"atMs":"soon"}' },
    ]);
    expect(end.ok).toBe(true);
  });
});

describe('a folder of recordings', () => {
  const folder = () =>
    makeFolder({ '1.1.jsonl': said('1.1'), '1.2.jsonl': said('1.2'), '10.1.jsonl': said('10.1') });
  const play = async (command: string, iteration: number, attempt: number) =>
    (await playRun(replayAdapter, { worktree: makeFolder(), command, iteration, attempt })).end;

  test('has one for each iteration and attempt; an attempt that was not recorded plays the last', async () => {
    const command = folder();
    expect((await play(command, 1, 1)).finalMessage).toBe('1.1');
    expect((await play(command, 1, 2)).finalMessage).toBe('1.2');
    expect((await play(command, 1, 3)).finalMessage).toBe('1.2');
    expect((await play(command, 10, 1)).finalMessage).toBe('10.1');
  });

  test('without the iteration is an agent that cannot be started, with the reason', async () => {
    const command = folder();
    expect(await play(command, 2, 1)).toMatchObject({
      failure: 'spawn_failed',
      message: `${command} has no recording of iteration 2.`,
    });
  });

  test.each([
    ['nothing there', {}, 'run.jsonl', /There is no recording/],
    ['an empty file', { 'run.jsonl': '' }, 'run.jsonl', /is not a recording/],
    ['some other file', { 'run.jsonl': '# Readme\n' }, 'run.jsonl', /is not a recording/],
    [
      'another version',
      { 'run.jsonl': '{"type":"recording","version":2}\n' },
      'run.jsonl',
      /another version/,
    ],
  ])('is refused with a reason: %s', async (_, files, command, message) => {
    const { end } = await playRun(replayAdapter, { worktree: makeFolder(files), command });
    expect(end).toMatchObject({
      ok: false,
      failure: 'spawn_failed',
      message: expect.stringMatching(message),
    });
  });
});

describe('the pauses of a replay', () => {
  const events: RunEvent[] = [{ type: 'compacted' }, { type: 'compacted' }];

  test.each([
    ['are at most 200 ms', {}, 10_000, 400, 1_500],
    ['are as recorded with speed 1', { PULSE_REPLAY_SPEED: '1' }, 500, 1_000, 2_500],
    ['are shorter with a higher speed', { PULSE_REPLAY_SPEED: '10' }, 3_000, 600, 2_000],
    ['are none with speed 0', { PULSE_REPLAY_SPEED: '0' }, 60_000, 0, 600],
  ])('%s', async (_, environment: Record<string, string>, stepMs, atLeast, atMost) => {
    const worktree = makeFolder({ 'run.jsonl': record(events, { stepMs }) });
    const { process } = await playRun(replayAdapter, { worktree, command: 'run.jsonl', environment });
    expect(process.durationMs).toBeGreaterThanOrEqual(atLeast);
    expect(process.durationMs).toBeLessThan(atMost);
  });
});
