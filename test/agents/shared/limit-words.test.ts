/** Usage limits that CLIs tell in words: only in their own error results, with the right moment of their end. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claudeAdapter } from '../../../src/agents/claude/adapter.ts';
import { codexAdapter } from '../../../src/agents/codex/adapter.ts';
import type { AgentAdapter } from '../../../src/agents/contract.ts';
import { copilotAdapter } from '../../../src/agents/copilot/adapter.ts';
import { geminiAdapter } from '../../../src/agents/gemini/adapter.ts';
import { opencodeAdapter } from '../../../src/agents/opencode/adapter.ts';
import { qwenAdapter } from '../../../src/agents/qwen/adapter.ts';
import { nextClockTime } from '../../../src/agents/shared/clock-words.ts';
import { readLimit } from '../../../src/agents/shared/limit-words.ts';
import { NO_OPTIONS } from '../fixture.ts';

const NOW = Date.UTC(2026, 0, 28, 22, 15);
const HOUR = 3_600_000;

describe('the words of a usage limit', () => {
  it.each([
    ['5-hour limit reached ∙ resets 3:22am (UTC)', '2026-01-29T03:22:00.000Z'],
    ['You’ve hit your limit · resets 3am (UTC)', '2026-01-29T03:00:00.000Z'],
    ["You've hit your session limit · resets 3:20am (Asia/Calcutta)", '2026-01-29T21:50:00.000Z'],
    ["You've hit your limit · resets 11pm (UTC)", '2026-01-28T23:00:00.000Z'],
    ["You've hit your limit · resets Jan 30, 11:30am (Asia/Calcutta)", '2026-01-30T06:00:00.000Z'],
    ['Opus weekly limit reached ∙ resets Feb 2, 9am (America/New_York)', '2026-02-02T14:00:00.000Z'],
    [`Claude AI usage limit reached|${(NOW + HOUR) / 1000}`, '2026-01-28T23:15:00.000Z'],
    [`Claude AI usage limit reached|${NOW + HOUR}`, '2026-01-28T23:15:00.000Z'],
    ['API Error: Claude AI usage limit reached|1769642100', '2026-01-28T23:15:00.000Z'],
    ['You’re out of extra usage · resets 12am (UTC)', '2026-01-29T00:00:00.000Z'],
    [
      'Sorry, you’ve hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 58 hours.',
      '2026-01-31T09:15:00.000Z',
    ],
    [
      'You’ve reached your weekly rate limit. Please wait for your limit to reset on January 30, 2026 at 2:00 AM (UTC)',
      '2026-01-30T02:00:00.000Z',
    ],
    [
      'You’ve hit your usage limit. Upgrade to Pro, or try again in 1 day 2 hours 3 minutes.',
      '2026-01-30T00:19:00.000Z',
    ],
    [
      'You have exhausted your capacity on this model. Your quota will reset after 8h44m7s.',
      '2026-01-29T06:59:07.000Z',
    ],
    ['[API Error: 429 Free allocated quota exceeded.]', null],
    ['[API Error: You have exhausted your daily quota on this model.]', null],
    ["You've hit your org's monthly usage limit", null],
  ])('%s', (text, resetAt) => {
    expect(readLimit(text, NOW)).toEqual({ resetAt });
  });

  it.each([
    'The 5-hour limit reached a new high in the data set.',
    'I think that you have hit your limit · resets 3am',
    'Rate limit reached for requests',
    'API Error: 529 Overloaded',
    'Credit balance is too low',
    'Not logged in · Please run /login',
    '',
  ])('are not: %s', (text) => {
    expect(readLimit(text, NOW)).toBeNull();
  });

  it('name no time where they name no zone that there is, or no time of day', () => {
    expect(readLimit('You’ve hit your limit · resets 3am (Nowhere/At_all)', NOW)).toEqual({ resetAt: null });
    expect(readLimit('You’ve hit your limit · resets 27:99', NOW)).toEqual({ resetAt: null });
    expect(readLimit('You’ve hit your limit · resets Feb 31, 3am (UTC)', NOW)).toEqual({ resetAt: null });
  });

  it('are read in time, whatever is written', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (text) => {
        const read = readLimit(`You've hit your limit · resets ${text}`, NOW);
        if (read?.resetAt) expect(Number.isNaN(Date.parse(read.resetAt))).toBe(false);
      }),
    );
    const long = `${'a-'.repeat(200_000)} limit reached`;
    const began = performance.now();
    readLimit(long, NOW);
    readLimit(`You've hit your limit. try again in ${'1 h '.repeat(100_000)}`, NOW);
    expect(performance.now() - began).toBeLessThan(500);
  });
});

describe('a time of day', () => {
  const ZONES = [
    'UTC',
    'Asia/Calcutta',
    'America/Los_Angeles',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ];

  it('is the next one that the named clock shows, in every zone and on every day', () => {
    const now = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) });
    const zones = fc.constantFrom(undefined, ...ZONES);
    fc.assert(
      fc.property(now, zones, fc.nat(23), fc.nat(59), (nowMs, zone, hour, minute) => {
        const next = nextClockTime({ hour, minute, zone }, nowMs)!;
        const shown = (ms: number) =>
          new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(ms);
        const wanted = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
        expect(next).toBeGreaterThan(nowMs);
        // A day has 25 hours at most, and the clock skips the time at most once.
        expect(next - nowMs).toBeLessThanOrEqual(50 * HOUR);
        if (shown(nowMs) === wanted) {
          expect(next - nowMs).toBeLessThanOrEqual(60_000);
          return;
        }
        const isSkipped = shown(next) !== wanted;
        if (isSkipped) expect(clockChanges(zone, next)).toBe(true);
        // Nothing earlier shows it: looked at in steps that miss no minute.
        if (isSkipped || next - nowMs > 26 * HOUR) return;
        const first = Math.ceil(nowMs / 60_000) * 60_000;
        for (let ms = first; ms < next; ms += 60_000 * 7)
          if (shown(ms) === wanted) expect(clockChanges(zone, ms)).toBe(true);
      }),
      // Twenty seconds into the very minute: too rare to be drawn in each run.
      { numRuns: 150, examples: [[Date.UTC(2026, 0, 1, 12, 30, 20), 'UTC', 12, 30]] },
    );
  });

  function clockChanges(zone: string | undefined, ms: number): boolean {
    const offset = (at: number) =>
      new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
        .formatToParts(at)
        .find(({ type }) => type === 'timeZoneName')!.value;
    return offset(ms - 24 * HOUR) !== offset(ms + 24 * HOUR);
  }
});

describe('an error result', () => {
  function end(adapter: AgentAdapter, lines: readonly object[], code = 1) {
    const parser = adapter.createParser({ ...NO_OPTIONS, nowMs: () => NOW });
    const events = lines.flatMap((line) => parser.parse(JSON.stringify(line)));
    return { events, ...parser.finish({ code, signal: null }) };
  }
  const WORDS = '5-hour limit reached ∙ resets 3:22am (UTC)';
  const AT = '2026-01-29T03:22:00.000Z';
  const claudeResult = (is_error: boolean, result: string) => ({
    ...{ type: 'result', subtype: 'success', is_error, result, session_id: 's', total_cost_usd: 0 },
  });

  it('of claude is a usage limit with its end, and says so', () => {
    const told = end(claudeAdapter, [claudeResult(true, WORDS)]);
    expect(told).toMatchObject({ ok: false, failure: 'usage_limit', resetAt: AT });
    expect(told.events).toContainEqual({ type: 'limit', message: WORDS, resetAt: AT });
  });

  it('of claude wins over the refusal that the stream calls a rate limit', () => {
    const refused = {
      ...{ type: 'assistant', error: 'rate_limit', parent_tool_use_id: null },
      message: { id: 'm', model: '<synthetic>', content: [{ type: 'text', text: WORDS }] },
    };
    expect(end(claudeAdapter, [refused, claudeResult(true, WORDS)])).toMatchObject({
      failure: 'usage_limit',
      resetAt: AT,
    });
  });

  it('is nothing that a model says, not even in a run that then fails by something else', () => {
    expect(end(claudeAdapter, [claudeResult(false, WORDS)], 0)).toMatchObject({
      ok: true,
      finalMessage: WORDS,
    });
    const said = {
      ...{ type: 'assistant', parent_tool_use_id: null },
      message: { id: 'm', model: 'x', content: [{ type: 'text', text: WORDS }] },
    };
    const overloaded = { ...claudeResult(true, 'API Error: 529 Overloaded'), api_error_status: 529 };
    expect(end(claudeAdapter, [said, overloaded])).toMatchObject({ failure: 'overloaded', resetAt: null });
    const broken = { type: 'result', subtype: 'error_during_execution', is_error: true };
    expect(end(claudeAdapter, [said, broken])).toMatchObject({ failure: 'crashed', resetAt: null });
  });

  it('of codex names how long, in older versions', () => {
    const message = 'You’ve hit your usage limit. Try again in 3 hours 5 minutes.';
    expect(end(codexAdapter, [{ type: 'turn.failed', error: { message } }])).toMatchObject({
      failure: 'usage_limit',
      resetAt: '2026-01-29T01:21:00.000Z',
    });
  });

  it('of gemini is a usage limit where the quota is one of hours', () => {
    const failed = (after: string) => {
      const message = `[API Error: You have exhausted your capacity on this model. Your quota will reset after ${after}.]`;
      return end(
        geminiAdapter,
        [{ type: 'result', status: 'error', error: { type: 'Error', message } }],
        173,
      );
    };
    expect(failed('8h44m7s')).toMatchObject({ failure: 'usage_limit', resetAt: '2026-01-29T06:59:07.000Z' });
    expect(failed('5s')).toMatchObject({ failure: 'rate_limit', resetAt: null });
  });

  it('of qwen and opencode is one too', () => {
    const refused = {
      ...{ type: 'assistant', parent_tool_use_id: null },
      message: {
        ...{ id: 'm', model: 'qwen', usage: { input_tokens: 0, output_tokens: 0 } },
        content: [{ type: 'text', text: '[API Error: 429 month allocated quota exceeded.]' }],
      },
    };
    const result = { type: 'result', subtype: 'success', is_error: false, result: 'x' };
    expect(end(qwenAdapter, [refused, result], 0)).toMatchObject({ ok: false, failure: 'usage_limit' });
    const responseBody = JSON.stringify({ error: { type: 'usage_limit_reached', resets_in_seconds: 3600 } });
    const error = {
      name: 'APIError',
      data: { message: 'The usage limit has been reached', statusCode: 429, responseBody },
    };
    expect(end(opencodeAdapter, [{ type: 'error', sessionID: 's', error }])).toMatchObject({
      failure: 'usage_limit',
      resetAt: '2026-01-28T23:15:00.000Z',
    });
  });

  it('of copilot is one where its pause is one of hours', () => {
    const failed = (pause: string) => {
      const message = `Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in ${pause}.`;
      return end(copilotAdapter, [
        { type: 'model.call_failure', data: { statusCode: 429 } },
        { type: 'session.error', data: { errorType: 'rate_limit', message } },
        { type: 'result', sessionId: 's', exitCode: 1 },
      ]);
    };
    expect(failed('2 hours')).toMatchObject({ failure: 'usage_limit', resetAt: '2026-01-29T01:15:00.000Z' });
    expect(failed('6 seconds')).toMatchObject({ failure: 'rate_limit', resetAt: null });
  });
});
