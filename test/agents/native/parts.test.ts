import { execFileSync } from 'node:child_process';
import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nativeAdapter } from '../../../src/agents/native/adapter.ts';
import { compact, isNearlyFull } from '../../../src/agents/native/compaction.ts';
import { classifyFailure } from '../../../src/agents/native/failure.ts';
import { readSettings } from '../../../src/agents/native/settings.ts';

describe('the native agent’s settings', () => {
  const keys = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
  it.each([
    ['anthropic/claude-x', {}, ['anthropic', 'claude-x', null]],
    ['claude-x', { ANTHROPIC_BASE_URL: 'http://h/p/' }, ['anthropic', 'claude-x', 'http://h/p/v1']],
    ['claude-x', { ANTHROPIC_BASE_URL: 'http://h/v1' }, ['anthropic', 'claude-x', 'http://h/v1']],
    ['openai/gpt-x', { OPENAI_BASE_URL: 'http://h/v1' }, ['openai', 'gpt-x', 'http://h/v1']],
    ['gpt-5', {}, ['openai', 'gpt-5', null]],
    ['ollama/qwen3:8b', {}, ['ollama', 'qwen3:8b', 'http://127.0.0.1:11434/v1']],
    ['compatible/a/b', { PULSE_NATIVE_BASE_URL: 'http://h/v1' }, ['compatible', 'a/b', 'http://h/v1']],
    ['vendor/model', { PULSE_NATIVE_BASE_URL: 'http://h/v1' }, ['compatible', 'vendor/model', 'http://h/v1']],
    [null, {}, ['anthropic', 'claude-sonnet-4-5', null]],
    [null, { ANTHROPIC_API_KEY: '' }, ['openai', 'gpt-5.1', null]],
    [null, { PULSE_NATIVE_MODEL: 'openai/gpt-x' }, ['openai', 'gpt-x', null]],
  ])('understand %s with %j', (wanted, more, expected) => {
    const { provider, model, baseUrl } = readSettings(wanted, { ...keys, ...more });
    expect([provider, model, baseUrl]).toEqual(expected);
  });

  it.each([
    [null, {}],
    ['mystery', keys],
    ['anthropic/', keys],
    ['anthropic/claude-x', {}],
    ['compatible/x', keys],
    ['claude-x', { ...keys, PULSE_NATIVE_CONTEXT_WINDOW: 'big' }],
  ])('refuse %s with %j, in words', (wanted, environment) => {
    expect(() => readSettings(wanted, environment)).toThrow(/./);
  });

  it('make the agent available where a model can be asked', async () => {
    expect(await nativeAdapter.detect(keys)).toMatchObject({ available: true, hint: null });
    expect(await nativeAdapter.detect({})).toMatchObject({
      available: false,
      hint: expect.stringContaining('API_KEY'),
    });
    expect(await nativeAdapter.detect({ PULSE_NATIVE_MODEL: 'ollama/x' })).toMatchObject({ available: true });
  });
});

it('costs nothing to know: no part of the SDK is loaded before the agent’s own process', () => {
  const adapter = new URL('../../../src/agents/native/adapter.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import(${JSON.stringify(adapter)});
    process.stdout.write(loaded.join('\\n'));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(loaded).toContain('native/settings');
  expect(loaded).not.toMatch(/node_modules\/(ai|@ai-sdk)\//);
});

describe('a failure of a model call', () => {
  const answer = (statusCode: number, error: object = {}, responseHeaders = {}) => ({
    statusCode,
    responseHeaders,
    responseBody: JSON.stringify({ error }),
    message: 'said',
  });

  it.each([
    [answer(401), 'auth', false],
    [answer(403), 'auth', false],
    [answer(402), 'auth', false],
    [answer(429), 'rate_limit', true],
    [answer(429, { code: 'insufficient_quota' }), 'usage_limit', false],
    [answer(429, { message: 'insufficient_quota usage limit' }), 'rate_limit', true],
    [answer(503), 'overloaded', true],
    [answer(529), 'overloaded', true],
    [answer(413), 'context_overflow', false],
    [answer(400, { code: 'context_length_exceeded' }), 'context_overflow', false],
    [answer(400, { message: 'prompt is too long: 1 > 0' }), 'context_overflow', false],
    [answer(400, { message: 'a prompt is too long' }), 'crashed', false],
    [answer(404), 'crashed', false],
    [answer(200), 'network', true],
    [{ type: 'overloaded_error', message: 'busy' }, 'overloaded', true],
    [{ error: { type: 'rate_limit_error' } }, 'rate_limit', true],
    [Object.assign(new Error('x'), { cause: { code: 'ECONNREFUSED' } }), 'network', true],
  ])('%j is %s', (thrown, name, isPassing) => {
    expect(classifyFailure(thrown)).toMatchObject({ class: name, isPassing });
  });

  it('takes waiting times in seconds and as a date', () => {
    const wait = (text: string) =>
      classifyFailure(answer(429, {}, { 'retry-after': text }), () => 0).retryAfterMs;
    expect(wait('1.5')).toBe(1500);
    expect(wait('Thu, 01 Jan 1970 00:00:07 GMT')).toBe(7000);
    expect(wait('soon')).toBeUndefined();
  });

  it('is told between words where it is cut: half a secret is not known as one', () => {
    const { message } = classifyFailure(
      answer(400, { message: `${'word '.repeat(198)}key quiet-otter-9f31-river` }),
    );
    expect(message).not.toContain('quiet');
    expect(message).toMatch(/word key …$/);
  });

  it('has a class and a message whatever is thrown', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (thrown) => {
        const { class: name, message } = classifyFailure(thrown);
        expect(name).toMatch(/^\w+$/);
        expect(message.length).toBeLessThanOrEqual(1000);
      }),
    );
  });
});

describe('compaction', () => {
  const call = (id: number, name = 'read_file', input: object = { path: `f${id}` }): ModelMessage => ({
    role: 'assistant',
    content: [
      { type: 'text', text: `words ${id} ${'w'.repeat(300)}` },
      { type: 'tool-call', toolCallId: `c${id}`, toolName: name, input },
    ],
  });
  const result = (id: number, length: number, isError = false): ModelMessage => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: `c${id}`,
        toolName: 'read_file',
        output: { type: isError ? 'error-text' : 'text', value: 'x'.repeat(length) },
      },
    ],
  });

  it('keeps the brief, all words, and the newest results; makes one line of the rest; changes nothing in place', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lengths, fc.nat(8), (sizes, kept) => {
        const messages: ModelMessage[] = [
          { role: 'user', content: 'brief '.repeat(500) },
          ...sizes.flatMap((size, id) => [call(id), result(id, size)]),
        ];
        const before = JSON.stringify(messages);
        const small = compact(messages, kept);
        expect(JSON.stringify(messages)).toBe(before);
        const old = sizes.slice(0, Math.max(0, sizes.length - kept));
        expect(small === null).toBe(old.every((size) => size <= 200));
        if (!small) return;
        expect(small[0]).toEqual(messages[0]);
        expect(small).toHaveLength(messages.length);
        sizes.forEach((size, id) => {
          expect(small[1 + 2 * id]).toEqual(messages[1 + 2 * id]);
          const text = JSON.stringify(small[2 + 2 * id]);
          if (id >= old.length || size <= 200) expect(small[2 + 2 * id]).toEqual(messages[2 + 2 * id]);
          else expect(text).toContain(`[compacted] read_file f${id}: done, ${size} characters`);
        });
        // A second time there is nothing left to win.
        expect(compact(small, kept)).toBeNull();
      }),
    );
  });

  it('shortens what was written, says what failed, and keeps notes', () => {
    const messages = [
      call(0, 'multi_edit', { path: 'a', edits: [{ oldString: 'o'.repeat(500), newString: 'n' }] }),
      result(0, 500, true),
      call(1, 'note', { text: 'n'.repeat(500) }),
      result(1, 6),
    ];
    const small = JSON.stringify(compact(messages, 0));
    expect(small).toContain('[compacted] 500 characters');
    expect(small).toContain('"newString":"n"');
    expect(small).toContain('multi_edit a: failed');
    expect(small).toContain('n'.repeat(500));
  });

  it('comes before the window is full', () => {
    expect(isNearlyFull(7600, 10_000)).toBe(true);
    expect(isNearlyFull(7400, 10_000)).toBe(false);
  });
});
