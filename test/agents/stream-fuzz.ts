/** Streams as no agent should print them: bent, cut, binary, endless. Parsers never throw, never bloat, never lie. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentAdapter, AgentParser, RunEvent } from '../../src/agents/contract.ts';
import { parseRunEvent } from '../../src/agents/shared/event-stream.ts';
import { createLineSplitter } from '../../src/process/lines.ts';
import { NO_OPTIONS } from './fixture.ts';
import { fixtureFolder } from './stream-cases.ts';

const MB = 1024 * 1024;

/** An assistant's line with this text, and one that calls a tool, as the agent prints them. */
export interface FuzzLines {
  says(text: string): string;
  /** Left out where a call is told of when it is over: there is nothing to remember. */
  calls?(id: string): string;
  /** What the tool gave back. */
  answers?(id: string, text: string): string;
  /** Lines of its own log, where that is read (`parseLog`). */
  logs?: readonly unknown[];
}

export function describeFuzz(adapter: AgentAdapter, lines: FuzzLines): void {
  describe(`the parser of ${adapter.name}, fuzzed`, () => {
    const folder = fixtureFolder(adapter);
    const printed = readdirSync(folder)
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'))
      .filter((line) => line.startsWith('{'));

    test('takes real lines with any field bent: what comes out still fits the types', () => {
      fc.assert(
        fc.property(fc.array(bentLine(printed), { maxLength: 20 }), (stream) => {
          const parser = adapter.createParser(NO_OPTIONS);
          for (const line of stream) expectEvents(parser.parse(line));
          expectEnd(parser);
        }),
        { numRuns: 500 },
      );
    });

    test('takes real streams cut anywhere', () => {
      const bytes = Buffer.from(printed.join('\n'));
      fc.assert(
        fc.property(fc.nat(bytes.length), fc.nat(20_000), (from, length) => {
          const parser = adapter.createParser(NO_OPTIONS);
          const splitter = createLineSplitter(MB, (line) => expectEvents(parser.parse(line)));
          splitter.push(bytes.subarray(from, from + length));
          splitter.end();
          expectEnd(parser);
        }),
      );
    });

    test('takes binary on both streams', () => {
      fc.assert(
        fc.property(fc.array(fc.string({ unit: 'binary' })), (stream) => {
          const parser = adapter.createParser(NO_OPTIONS);
          for (const line of stream) {
            expectEvents(parser.parse(line));
            expectEvents(parser.parse(`{"type":"${line}`));
            expectEvents(parser.parseStderr?.(line) ?? []);
            expectEvents(parser.parseLog?.(line) ?? []);
            expectEvents(parser.parseLog?.(`{"type":"${line}`) ?? []);
          }
          expect(expectEnd(parser).ok).toBe(false);
        }),
      );
    });

    const { logs } = lines;
    test('has a log to be fuzzed if it reads one', () => {
      expect(logs !== undefined).toBe(adapter.createParser(NO_OPTIONS).parseLog !== undefined);
    });

    test.skipIf(!logs)('takes lines of its log with any field bent, among those of its stream', () => {
      const logged = (logs ?? []).map((line) => JSON.stringify(line));
      const either = fc.record({ log: bentLine(logged), line: bentLine(printed) });
      let told = 0;
      fc.assert(
        fc.property(fc.array(either, { maxLength: 10 }), (stream) => {
          const parser = adapter.createParser(NO_OPTIONS);
          for (const { log, line } of stream) {
            const events = parser.parseLog?.(log) ?? [];
            told += events.length;
            expectEvents(events);
            expectEvents(parser.parse(line));
          }
          expectEnd(parser);
        }),
        { numRuns: 300 },
      );
      expect(told).toBeGreaterThan(0);
    });

    test('keeps the end of a text of ten megabytes, and of many', () => {
      const parser = adapter.createParser(NO_OPTIONS);
      for (let count = 0; count < 5; count++) parser.parse(lines.says(`${'é'.repeat(10 * MB)}end`));
      const { finalMessage } = parser.finish({ code: 1, signal: null });
      expect(finalMessage.length).toBe(MB);
      expect(finalMessage.endsWith('éend')).toBe(true);
    });

    test('a line of ten megabytes, cut as the host cuts it, is raw', () => {
      const parser = adapter.createParser(NO_OPTIONS);
      const events: RunEvent[] = [];
      const splitter = createLineSplitter(MB, (line) => events.push(...parser.parse(line)));
      splitter.push(Buffer.from(`${lines.says('x'.repeat(10 * MB))}\n${lines.says('then')}\n`));
      expect(events[0]?.type).toBe('raw');
      expect(parser.finish({ code: 1, signal: null }).finalMessage).toBe('then');
    });

    const { calls, answers } = lines;
    test.skipIf(!calls)(
      'a call whose answer is a line of ten megabytes is over with it, and only once',
      () => {
        const parser = adapter.createParser(NO_OPTIONS);
        const events: RunEvent[] = [];
        const splitter = createLineSplitter(MB, (line) => events.push(...parser.parse(line)));
        splitter.push(Buffer.from(`${calls?.('one')}\n${answers?.('one', '"x"\n'.repeat(2 * MB))}\n`));
        const ended = () => events.filter(({ type }) => type === 'tool_end');
        // The idle clock stands still while a call is open.
        expect(ended()).toMatchObject([{ id: 'one', name: expect.any(String) }]);
        splitter.push(Buffer.from(`${lines.says('then')}\n`));
        expect(ended()).toHaveLength(1);
      },
    );

    test.skipIf(!calls)('remembers a bounded number of calls of a stream that opens them for ever', () => {
      const opened = (parser: AgentParser, id: string) =>
        parser.parse(calls?.(id) ?? '').filter(({ type }) => type === 'tool_start').length;
      const parser = adapter.createParser(NO_OPTIONS);
      let count = 0;
      for (let id = 0; id < 50_000; id++) count += opened(parser, `call_${id}`);
      expect(count).toBe(1000);
      // A fresh one: the other would refuse any id by now.
      expect(opened(adapter.createParser(NO_OPTIONS), 'x'.repeat(10_000))).toBe(0);
    });
  });
}

/** A real line, with some of its values replaced by anything. */
function bentLine(printed: readonly string[]): fc.Arbitrary<string> {
  return fc
    .record({
      line: fc.constantFrom(...printed),
      bends: fc.array(fc.record({ at: fc.nat(200), value: anything() }), { maxLength: 3 }),
    })
    .map(({ line, bends }) => {
      let count = 0;
      const bend = (_: string, value: unknown): unknown => {
        count += 1;
        const found = bends.find(({ at }) => at === count);
        return found && count > 1 ? found.value : value;
      };
      return JSON.stringify(JSON.parse(line), bend);
    });
}

function anything(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(-1, 1e300, 0.5, '', 'result', null, true, 'error', 1e18, [], {}, 'success'),
    fc.string({ unit: 'binary' }),
  );
}

/** As `--record` writes them and `replay` reads them. */
function expectEvents(events: readonly RunEvent[]): void {
  for (const event of events) {
    if (event.type !== 'raw') expect(parseRunEvent(JSON.stringify(event)).type).toBe(event.type);
  }
}

function expectEnd(parser: AgentParser) {
  const end = parser.finish({ code: 0, signal: null });
  expect(end.ok).toBe(end.failure === null);
  if (!end.ok) expect(end.message).not.toBe('');
  if (end.resetAt !== null) expect(Number.isNaN(Date.parse(end.resetAt))).toBe(false);
  return end;
}
