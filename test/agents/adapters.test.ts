/** What holds for every adapter, whoever wrote it. */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acpAdapter } from '../../src/agents/acp/adapter.ts';
import { claudeAdapter } from '../../src/agents/claude/adapter.ts';
import { codexAdapter } from '../../src/agents/codex/adapter.ts';
import { commandAdapter } from '../../src/agents/command/adapter.ts';
import type { AgentAdapter } from '../../src/agents/contract.ts';
import { copilotAdapter } from '../../src/agents/copilot/adapter.ts';
import { demoAdapter } from '../../src/agents/demo/adapter.ts';
import { geminiAdapter } from '../../src/agents/gemini/adapter.ts';
import { nativeAdapter } from '../../src/agents/native/adapter.ts';
import { opencodeAdapter } from '../../src/agents/opencode/adapter.ts';
import { piAdapter } from '../../src/agents/pi/adapter.ts';
import { qwenAdapter } from '../../src/agents/qwen/adapter.ts';
import { AGENT_NAMES } from '../../src/agents/registry.ts';
import { replayAdapter } from '../../src/agents/replay/adapter.ts';
import { ownScript } from '../../src/agents/shared/own-script.ts';
import { makeFolder, makeRun, NO_OPTIONS, playRun } from './fixture.ts';

interface Subject {
  adapter: AgentAdapter;
  /** A command with which it succeeds in a folder that holds `recording`. */
  command: string | null;
  /** A command (or environment) with which it is still busy after a second. */
  slow: { command: string | null; environment: Record<string, string> };
}

const HEADER = '{"type":"recording","version":1,"agent":"test","at":"2026-01-01T00:00:00.000Z"}';
const FILES = {
  'quick.jsonl': [
    HEADER,
    '{"atMs":0,"event":{"type":"text","text":"Done. <signal>COMPLETE</signal>"}}',
    '{"atMs":1,"event":{"type":"done","ok":true}}',
    '',
  ].join('\n'),
  'slow.jsonl': [HEADER, '{"atMs":60000,"event":{"type":"done","ok":true}}', ''].join('\n'),
};

const SUBJECTS: Subject[] = [
  {
    adapter: commandAdapter,
    command: 'cat >/dev/null; echo "Done. <signal>COMPLETE</signal>"',
    slow: { command: 'sleep 60', environment: {} },
  },
  { adapter: demoAdapter, command: null, slow: { command: null, environment: { PULSE_DEMO_SPEED: '0.01' } } },
  {
    adapter: replayAdapter,
    command: 'quick.jsonl',
    slow: { command: 'slow.jsonl', environment: { PULSE_REPLAY_SPEED: '1' } },
  },
];

/** Those that are programs of others: what they do is tested on their recorded streams and in test/real-agents. */
const ADAPTERS = [
  ...SUBJECTS.map(({ adapter }) => adapter),
  ...[claudeAdapter, codexAdapter, geminiAdapter, opencodeAdapter, piAdapter, qwenAdapter, copilotAdapter],
  ...[acpAdapter, nativeAdapter],
];

describe.each(SUBJECTS)('the adapter $adapter.name', ({ adapter, command, slow }) => {
  test('has a name that Pulse knows and is available where Pulse runs', async () => {
    expect(AGENT_NAMES).toContain(adapter.name);
    const detection = await adapter.detect(process.env);
    expect(detection).toMatchObject({ available: true, hint: null });
    expect(existsSync(detection.path!)).toBe(true);
  });

  test('says how to start it, without starting anything, the same each time', () => {
    const run = makeRun({ brief: 'the brief', command });
    const started = adapter.command(run);
    expect(isAbsolute(started.file)).toBe(true);
    expect(started.stdin).toBe('the brief');
    expect(started.stopSignals.length).toBeGreaterThan(0);
    expect(adapter.command(run)).toEqual(started);
  });

  test('succeeds with a final message, and leaves nothing running', async () => {
    const worktree = makeFolder(FILES);
    const { end, process } = await playRun(adapter, { worktree, command });
    expect(process).toMatchObject({ code: 0, stderr: '', timedOut: false });
    expect(end).toMatchObject({ ok: true, failure: null, resetAt: null });
    expect(end.finalMessage).toContain('<signal>');
  });

  test('succeeds with a brief of a megabyte that holds every kind of character', async () => {
    const worktree = makeFolder(FILES);
    const brief = `"quotes" $HOME \`x\` 'y' \\ ß 🎉\n${'line\n'.repeat(200_000)}`;
    const { end } = await playRun(adapter, { worktree, command, brief });
    expect(end.ok).toBe(true);
  });

  test('ends when it is told to', async () => {
    const worktree = makeFolder(FILES);
    const stop = new AbortController();
    void setTimeout(300).then(() => stop.abort());
    const { end, process } = await playRun(adapter, { worktree, ...slow, signal: stop.signal });
    expect(process.durationMs).toBeLessThan(5_000);
    expect(end).toMatchObject({ ok: false, failure: 'crashed' });
    expect(end.message).toContain('SIGTERM');
  });

  test('holds a bounded part of what is printed', () => {
    const parser = adapter.createParser(NO_OPTIONS);
    const text = 'é'.repeat(700_000);
    for (let index = 0; index < 10; index++)
      parser.parse(JSON.stringify({ type: 'text', text: text + index }));
    const { finalMessage } = parser.finish({ code: 1, signal: null });
    expect(finalMessage.length).toBeLessThanOrEqual(1024 * 1024);
    expect(finalMessage).toMatch(/9"?\}?$/);
  });
});

describe.each(ADAPTERS)('the parser of $name', (adapter) => {
  test('calls a run that said nothing and was killed crashed', () => {
    const end = adapter.createParser(NO_OPTIONS).finish({ code: null, signal: 'SIGKILL' });
    expect(end).toMatchObject({ ok: false, failure: 'crashed', finalMessage: '' });
    expect(end.message).toContain('SIGKILL');
  });

  test('never calls a run with a failing exit code a success, and never throws, whatever it printed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' })),
        fc.integer({ min: 1, max: 255 }),
        (lines, code) => {
          const parser = adapter.createParser(NO_OPTIONS);
          for (const line of lines) parser.parse(line);
          const end = parser.finish({ code, signal: null });
          expect(end.ok).toBe(false);
          expect(end.failure).not.toBeNull();
          expect(end.message).not.toBe('');
        },
      ),
    );
  });
});

test('a script of this package ends as the module that starts it: .ts in a checkout, .js once built', () => {
  expect(ownScript('file:///p/src/agents/demo/adapter.ts', './agent')).toBe('/p/src/agents/demo/agent.ts');
  expect(ownScript('file:///p%20q/dist/agents/demo/adapter.js', './agent')).toBe(
    '/p q/dist/agents/demo/agent.js',
  );
});
