import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentExit, RunEvent } from '../../../src/agents/contract.ts';
import { createEventStreamParser, parseRunEvent } from '../../../src/agents/shared/event-stream.ts';
import { FAILURE_CLASSES } from '../../../src/domain/failures.ts';

const EXIT_0: AgentExit = { code: 0, signal: null };
const RESET = '2026-03-01T12:00:00Z';

const eventArbitrary: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.record({ type: fc.constant('started' as const), model: fc.string() }),
  fc.record({ type: fc.constant('text' as const), text: fc.string({ unit: 'grapheme' }) }),
  fc.record(
    {
      type: fc.constant('tool_start' as const),
      id: fc.string(),
      name: fc.string(),
      summary: fc.string(),
    },
    { requiredKeys: ['type', 'id', 'name'] },
  ),
  fc.record({ type: fc.constant('tool_end' as const), id: fc.string(), ok: fc.boolean() }),
  fc.record({
    type: fc.constant('usage' as const),
    scope: fc.constantFrom('call' as const, 'turn' as const, 'cumulative' as const),
    costUsd: fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value + 0),
    inputTokens: fc.nat(),
  }),
  fc.record({ type: fc.constant('retry' as const), attempt: fc.nat(), status: fc.nat(599) }),
  fc.record({ type: fc.constant('denied' as const), tool: fc.string() }),
  fc.record({ type: fc.constant('limit' as const), message: fc.string(), resetAt: fc.constant(RESET) }),
  fc.constant({ type: 'compacted' as const }),
  fc.record({ type: fc.constant('raw' as const), line: fc.string() }),
  fc.record({
    type: fc.constant('done' as const),
    ok: fc.constant(false),
    failure: fc.constantFrom(...FAILURE_CLASSES),
  }),
);

function finish(events: readonly (RunEvent | string)[], exit = EXIT_0) {
  const parser = createEventStreamParser();
  for (const event of events) parser.parse(typeof event === 'string' ? event : JSON.stringify(event));
  return parser.finish(exit);
}

describe('a line of the event stream', () => {
  test('comes back as the event it was', () => {
    fc.assert(
      fc.property(eventArbitrary, (event) => {
        expect(parseRunEvent(JSON.stringify(event))).toEqual(event);
      }),
    );
  });

  test('is raw, as it is, when it is no event', () => {
    const noEvent = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.json({ maxDepth: 8 }));
    fc.assert(
      fc.property(noEvent, (line) => {
        expect(parseRunEvent(line)).toEqual({ type: 'raw', line });
      }),
    );
  });

  test.each([
    '{"type":"text"}',
    '{"type":"text","text":1}',
    '{"type":"text","text":"cut off',
    '{"type":"teleported"}',
    '{"type":"usage","scope":"galaxy"}',
    '{"type":"usage","scope":"call","costUsd":1e999}',
    '{"type":"usage","scope":"call","inputTokens":-1}',
    '{"type":"done","ok":"yes"}',
    '[{"type":"compacted"}]',
    'null',
    '\u0000\ufffd\u001b[31m',
  ])('is raw when it only looks like one: %j', (line) => {
    expect(parseRunEvent(line)).toEqual({ type: 'raw', line });
  });

  test('survives being damaged anywhere', () => {
    const damaged = fc
      .tuple(eventArbitrary, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
      .map(([event, at, noise]) => {
        const line = JSON.stringify(event);
        const place = at % line.length;
        return line.slice(0, place) + noise + line.slice(place + 1);
      });
    fc.assert(fc.property(fc.array(damaged), (lines) => void finish(lines)));
  });

  test('may hold fields of a newer version, which are dropped', () => {
    expect(parseRunEvent('{"type":"compacted","by":"summary"}')).toEqual({ type: 'compacted' });
  });

  test('keeps its meaning when only its reset time or failure class is none', () => {
    expect(parseRunEvent('{"type":"limit","message":"m","resetAt":"tomorrow"}')).toMatchObject({
      type: 'limit',
    });
    expect(finish(['{"type":"done","ok":false,"failure":"tired","message":"too tired"}'])).toMatchObject({
      failure: 'crashed',
      message: 'too tired',
    });
  });

  test('keeps only the end of a huge text or line', () => {
    const huge = `${'x'.repeat(3_000_000)}🎉`;
    expect(parseRunEvent(JSON.stringify({ type: 'text', text: huge }))).toMatchObject({
      text: expect.stringMatching(/^x{1048574}🎉$/u),
    });
    expect(parseRunEvent(huge)).toMatchObject({
      type: 'raw',
      line: expect.stringMatching(/^x{1048574}🎉$/u),
    });
  });

  test('reads lines that are nested a hundred thousand deep', () => {
    expect(parseRunEvent('['.repeat(100_000))).toMatchObject({ type: 'raw' });
    expect(parseRunEvent('['.repeat(100_000) + ']'.repeat(100_000))).toMatchObject({ type: 'raw' });
  });
});

describe('how a run ended', () => {
  test('is a success with done and exit 0, and its final message is the last text that is not blank', () => {
    const events: RunEvent[] = [
      { type: 'text', text: 'first' },
      { type: 'tool_start', id: '1', name: 'Read' },
      { type: 'text', text: 'last' },
      { type: 'text', text: ' \n' },
      { type: 'done', ok: true },
    ];
    expect(finish(events)).toEqual({
      ok: true,
      failure: null,
      message: '',
      resetAt: null,
      finalMessage: 'last',
    });
  });

  test.each<[string, RunEvent[], AgentExit, string]>([
    ['without a done', [{ type: 'text', text: 'x' }], EXIT_0, 'crashed'],
    ['with a done but a failing exit', [{ type: 'done', ok: true }], { code: 1, signal: null }, 'crashed'],
    ['with a done but killed', [{ type: 'done', ok: true }], { code: null, signal: 'SIGKILL' }, 'crashed'],
    [
      'with a done that is ok and names a failure',
      [{ type: 'done', ok: true, failure: 'auth' }],
      EXIT_0,
      'auth',
    ],
    ['with a failed done', [{ type: 'done', ok: false, failure: 'overloaded' }], EXIT_0, 'overloaded'],
    ['with a failed done of no class', [{ type: 'done', ok: false }], EXIT_0, 'crashed'],
  ])('is a failure %s', (_, events, exit, failure) => {
    const end = finish(events, exit);
    expect(end).toMatchObject({ ok: false, failure, resetAt: null });
    expect(end.message).not.toBe('');
  });

  test('is a usage limit with its reset time when the run failed after one', () => {
    const limit: RunEvent = { type: 'limit', message: 'limit reached', resetAt: RESET };
    expect(finish([limit], { code: 1, signal: null })).toMatchObject({
      failure: 'usage_limit',
      resetAt: RESET,
    });
    expect(finish([limit, { type: 'done', ok: false, failure: 'usage_limit' }])).toMatchObject({
      resetAt: RESET,
    });
    expect(finish([limit, { type: 'done', ok: true }])).toMatchObject({ ok: true, resetAt: null });
    expect(finish([limit, { type: 'done', ok: false, failure: 'auth' }])).toMatchObject({
      failure: 'auth',
      resetAt: null,
    });
    expect(finish([{ type: 'limit', message: 'close to it' }])).toMatchObject({ failure: 'crashed' });
  });

  test('is fixed by the first done; what follows is raw', () => {
    const parser = createEventStreamParser();
    parser.parse('{"type":"done","ok":false,"failure":"auth"}');
    const late = '{"type":"done","ok":true}';
    expect(parser.parse(late)).toEqual([{ type: 'raw', line: late }]);
    expect(parser.finish(EXIT_0)).toMatchObject({ ok: false, failure: 'auth' });
  });

  test('a blank line is nothing', () => {
    expect(createEventStreamParser().parse(' \r')).toEqual([]);
  });
});
