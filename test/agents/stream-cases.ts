/** Plays streams that the real agents printed (fixtures/<agent>/<case>.jsonl), with the lines of their log where they stood. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  AgentAdapter,
  AgentEnd,
  AgentExit,
  AgentParser,
  ParserOptions,
  RunEvent,
} from '../../src/agents/contract.ts';
import { createRecorder } from '../../src/agents/replay/recording.ts';
import { createEventStreamParser } from '../../src/agents/shared/event-stream.ts';
import type { FailureClass } from '../../src/domain/failures.ts';
import { NO_OPTIONS } from './fixture.ts';

export interface Played {
  events: RunEvent[];
  end: AgentEnd;
}

export interface Playing {
  exit?: number | NodeJS.Signals;
  options?: Partial<ParserOptions>;
  /** A line of its log, besides those of the fixture. */
  stderr?: string;
}

export function fixtureFolder({ name }: AgentAdapter): string {
  return join(import.meta.dirname, 'fixtures', name);
}

export function linesOf(adapter: AgentAdapter, name: string): string[] {
  return readFileSync(join(fixtureFolder(adapter), `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
}

export function play(adapter: AgentAdapter, name: string, playing: Playing = {}): Played {
  const { exit = 0, options, stderr } = playing;
  const parser = adapter.createParser({ ...NO_OPTIONS, ...options });
  const lines = linesOf(adapter, name).concat(stderr ?? []);
  const events = lines.flatMap((line) => parseAny(parser, line));
  return { events, end: parser.finish(exitOf(exit)) };
}

/** What is no JSON came from the log. */
function parseAny(parser: AgentParser, line: string): RunEvent[] {
  return line.startsWith('{') ? parser.parse(line) : (parser.parseStderr?.(line) ?? []);
}

function exitOf(exit: number | NodeJS.Signals): AgentExit {
  return typeof exit === 'number' ? { code: exit, signal: null } : { code: null, signal: exit };
}

export function all<T extends RunEvent['type']>({ events }: Played, type: T) {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
}

export function last<T extends RunEvent['type']>(played: Played, type: T) {
  return all(played, type).at(-1);
}

/** Each call that began has ended, under the same name. */
function expectBalanced(played: Played): void {
  const starts = all(played, 'tool_start').map(({ id, name }) => `${id} ${name}`);
  const ends = all(played, 'tool_end').map(({ id, name }) => `${id} ${name}`);
  expect(ends.sort()).toEqual(starts.sort());
}

/** The end of the same run once it is recorded (`--record`) and played (`replay`). */
function playedAgain({ events, end }: Played): AgentEnd {
  const lines: string[] = [];
  const recorder = createRecorder((line) => lines.push(line), {
    agent: 'test',
    nowMs: Date.now,
    redact: (text) => text,
  });
  for (const event of events) recorder.record(event);
  recorder.finish(end);
  const parser = createEventStreamParser();
  for (const line of lines.slice(1)) parser.parse(JSON.stringify(JSON.parse(line).event));
  return parser.finish({ code: end.ok ? 0 : 1, signal: null });
}

/** case, exit, class: whatever else is in the stream. */
export type End = [name: string, exit: number | NodeJS.Signals, failure: FailureClass | null];

/** Those that stop in the middle of a call. */
const CUT_SHORT = ['interrupted', 'terminated'];

export function describeStreams(adapter: AgentAdapter, ends: readonly End[]): void {
  describe(`a stream of ${adapter.name}`, () => {
    test('has a case here for every fixture', () => {
      const files = readdirSync(fixtureFolder(adapter));
      expect(ends.map(([name]) => `${name}.jsonl`).sort()).toEqual(files.sort());
    });

    test.each(ends)('%s with exit %s ends as %s', (name, exit, failure) => {
      const played = play(adapter, name, { exit });
      expect(played.end).toMatchObject({ ok: failure === null, failure });
      if (failure !== null) expect(played.end.message).not.toBe('');
      if (failure !== 'usage_limit') expect(played.end.resetAt).toBeNull();
      expect(all(played, 'done').length).toBeLessThanOrEqual(1);
      expect(all(played, 'limit')).toHaveLength(failure === 'usage_limit' ? 1 : 0);
      if (!CUT_SHORT.includes(name)) expectBalanced(played);
      expect(playedAgain(played)).toEqual(played.end);
    });

    test('is no success without its last line, nor with another exit', () => {
      const parser = adapter.createParser(NO_OPTIONS);
      for (const line of beforeTheEnd(adapter)) parser.parse(line);
      expect(parser.finish({ code: 0, signal: null })).toMatchObject({ ok: false, failure: 'crashed' });
      expect(play(adapter, 'task', { exit: 1 }).end).toMatchObject({ ok: false, failure: 'crashed' });
      expect(play(adapter, 'task', { exit: 'SIGTERM' }).end).toMatchObject({ ok: false, failure: 'crashed' });
    });

    test('tells of the task: session, texts, calls and their ends, the final message, what was spent', () => {
      const played = play(adapter, 'task');
      const [sessionId] = all(played, 'started').flatMap((event) => event.sessionId ?? []);
      expect(sessionId).toMatch(/^[\w-]{20,}$/);
      expect(all(played, 'text').map(({ text }) => text)).toEqual([
        'Reading.',
        'All done.\n<signal>COMPLETE</signal>',
      ]);
      expect(played.end.finalMessage).toBe('All done.\n<signal>COMPLETE</signal>');
      expect(all(played, 'tool_start')).toHaveLength(5);
      expect(all(played, 'raw')).toEqual([]);
      expect(all(played, 'done')).toEqual([{ type: 'done', ok: true }]);
    });
  });
}

/** What holds for an agent of which every line is known, whose session is a UUID and whose `done` comes last. */
export function describeWholeStreams(
  adapter: AgentAdapter,
  { ends, spent }: { ends: readonly End[]; spent: { inputTokens: number; costUsd?: number } },
): void {
  describe(`a stream of ${adapter.name}`, () => {
    test.each(ends)('has no line in %s that is not understood', (name, exit) => {
      const raw = all(play(adapter, name, { exit }), 'raw');
      // One without a line is a sign of life.
      expect(raw.filter(({ line }) => line !== '')).toEqual([]);
    });

    test('names its session by a UUID, and its end comes last', () => {
      const played = play(adapter, 'task');
      expect(last(played, 'started')?.sessionId).toMatch(/^[0-9a-f-]{36}$/);
      expect(played.events.at(-1)).toEqual({ type: 'done', ok: true });
    });

    test('counts what was spent once, whatever was told on the way', () => {
      const usage = last(play(adapter, 'task'), 'usage');
      const { inputTokens, costUsd } = spent;
      expect(usage).toMatchObject({ scope: 'cumulative', inputTokens, outputTokens: 250, cacheTokens: 200 });
      expect(usage?.costUsd).toEqual(costUsd);
    });
  });
}

/** The task without the line that says it is done; of an agent whose lines do not, without the last. */
function beforeTheEnd(adapter: AgentAdapter): string[] {
  const lines = linesOf(adapter, 'task').filter((line) => line.startsWith('{'));
  const parser = adapter.createParser(NO_OPTIONS);
  const at = lines.findIndex((line) => parser.parse(line).some(({ type }) => type === 'done'));
  return lines.slice(0, at);
}
