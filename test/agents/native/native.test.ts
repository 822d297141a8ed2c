import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import type { RunEvent } from '../../../src/agents/contract.ts';
import { openProcessTable } from '../../../src/process/process-table.ts';
import { defineTool } from '../../../src/tools/contract.ts';
import type { Step } from '../../fakes/model-server/index.ts';
import { createNativeScene, type NativeRun, type ProviderName } from './scene.ts';

const PROVIDERS: ProviderName[] = ['anthropic', 'openai', 'compatible'];

function ofType<T extends RunEvent['type']>(
  { events }: NativeRun,
  type: T,
): Extract<RunEvent, { type: T }>[] {
  return events.filter((event): event is Extract<RunEvent, { type: T }> => event.type === type);
}

const TASK: Step[] = [
  { text: 'Let me look.', calls: [{ tool: 'read_file', input: { path: 'README.md' } }] },
  {
    calls: [
      { tool: 'edit_file', input: { path: 'README.md', oldString: '# Scratch', newString: '# Fixed' } },
      { tool: 'write_file', input: { path: 'src/new.txt', content: 'new\n' } },
    ],
  },
  { calls: [{ tool: 'shell', input: { command: 'cat README.md src/new.txt && git status --porcelain' } }] },
  { calls: [{ tool: 'pulse_signal', input: { signal: 'COMPLETE' } }] },
  { text: 'All is done.' },
];

describe('the native agent', () => {
  it.each(PROVIDERS)('does a whole task with a model of %s', async (provider) => {
    const scene = await createNativeScene();
    const run = await scene.run({ provider, steps: TASK });
    expect(run.end).toEqual({
      ok: true,
      failure: null,
      message: '',
      resetAt: null,
      finalMessage: 'All is done.',
    });
    expect(run.process).toMatchObject({ code: 0, stderr: '' });
    expect(run.signal).toEqual({ signal: 'COMPLETE', reason: null });
    expect(readFileSync(join(scene.repository, 'README.md'), 'utf8')).toBe('# Fixed\n');
    expect(readFileSync(join(scene.repository, 'src/new.txt'), 'utf8')).toBe('new\n');
    expect(run.calls.map(([name, { ok }]) => [name, ok])).toEqual([
      ['read_file', true],
      ['edit_file', true],
      ['write_file', true],
      ['shell', true],
      ['pulse_signal', true],
    ]);
    expect(run.events[0]).toEqual({ type: 'started', model: 'a-model' });
    expect(ofType(run, 'text').map(({ text }) => text)).toEqual(['Let me look.', 'All is done.']);
    expect(ofType(run, 'tool_start').map(({ name, summary }) => `${name} ${summary}`)).toEqual([
      'read_file README.md',
      'edit_file README.md',
      'write_file src/new.txt',
      'shell cat README.md src/new.txt && git status --porcelain',
      'pulse_signal COMPLETE',
    ]);
    const ends = ofType(run, 'tool_end');
    expect(ends.map(({ id }) => id)).toEqual(ofType(run, 'tool_start').map(({ id }) => id));
    expect(ends.every(({ ok }) => ok)).toBe(true);
    expect(ofType(run, 'usage')).toHaveLength(5);
    // What the model is given back is what the tools said.
    expect(JSON.stringify(scene.requests().at(-1)?.body)).toContain('?? src/');
  });

  it('tells tokens of each kind, what they cost and how full the window is', async () => {
    const scene = await createNativeScene();
    const usage = { input: 1000, output: 50, cached: 300 };
    const run = await scene.run({
      steps: [{ text: 'Done.', usage }],
      environment: { PULSE_NATIVE_CONTEXT_WINDOW: '9000' },
    });
    expect(ofType(run, 'usage')).toEqual([
      {
        type: 'usage',
        scope: 'call',
        inputTokens: 1000,
        cacheTokens: 300,
        outputTokens: 50,
        contextTokens: 1350,
        contextWindow: 9000,
        costUsd: (1300 * 10 + 50 * 100) / 1e6,
      },
    ]);
    // OpenAI counts what was cached as part of the input.
    const other = await scene.run({ provider: 'openai', steps: [{ text: 'Done.', usage }] });
    expect(ofType(other, 'usage')[0]).toMatchObject({
      inputTokens: 700,
      cacheTokens: 300,
      contextTokens: 1050,
    });
  });

  it('has OpenAI keep nothing, and Anthropic cache what it will be told again', async () => {
    const scene = await createNativeScene();
    const steps: Step[] = [{ calls: [{ tool: 'shell', input: { command: 'true' } }] }, { text: 'Done.' }];
    await scene.run({ provider: 'openai', steps });
    for (const { body } of scene.requests()) {
      expect(body.store).toBe(false);
      expect(JSON.stringify(body)).not.toContain('item_reference');
    }
    await scene.run({ provider: 'anthropic', steps });
    for (const { body } of scene.requests()) {
      const messages = (body.messages as unknown[]).map((message) => JSON.stringify(message));
      expect(messages.map((message) => message.includes('cache_control'))).toEqual(
        messages.map((_, index) => index === messages.length - 1),
      );
    }
  });

  it.each(PROVIDERS)('tries again after 429, as late as %s’s server asks, and says so', async (provider) => {
    const scene = await createNativeScene();
    const faults = [{ kind: 'status', status: 429, retryAfterS: 1 } as const];
    const run = await scene.run({ provider, steps: [{ text: 'Done.', faults }] });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Done.' });
    expect(ofType(run, 'retry')).toEqual([{ type: 'retry', attempt: 1, status: 429, delayMs: 1000 }]);
    expect(scene.requests()).toHaveLength(2);
  });

  it.each([
    ['a server that stays overloaded', { kind: 'status', status: 529, retryAfterS: 0 }, 'overloaded', 3],
    ['a server error', { kind: 'status', status: 500, retryAfterS: 0 }, 'overloaded', 3],
    ['rate limits without end', { kind: 'status', status: 429, retryAfterS: 0 }, 'rate_limit', 3],
    [
      'a wait that is too long to sit through',
      { kind: 'status', status: 429, retryAfterS: 600 },
      'rate_limit',
      1,
    ],
    ['a key that is not accepted', { kind: 'status', status: 401 }, 'auth', 1],
    ['a model that is not there', { kind: 'status', status: 404 }, 'crashed', 1],
    ['a bill that is not paid', { kind: 'status', status: 402 }, 'auth', 1],
  ] as const)('ends with the right class at %s', async (_, fault, failure, requests) => {
    const scene = await createNativeScene();
    const run = await scene.run({ steps: [{ text: 'Done.', faults: [{ ...fault, times: 'always' }] }] });
    expect(run.end).toMatchObject({ ok: false, failure, finalMessage: '' });
    expect(run.end.message).not.toBe('');
    expect(run.process).toMatchObject({ code: 1, stderr: '' });
    expect(scene.requests()).toHaveLength(requests);
    expect(ofType(run, 'retry')).toHaveLength(requests - 1);
  });

  it.each(PROVIDERS)('takes the time at which a usage limit ends from %s’s own fields', async (provider) => {
    const scene = await createNativeScene();
    const resetAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
    const run = await scene.run({
      provider,
      steps: [{ faults: [{ kind: 'usage_limit', resetAt, times: 'always' }] }],
    });
    expect(run.end).toMatchObject({ ok: false, failure: 'usage_limit', resetAt: resetAt.toISOString() });
    expect(ofType(run, 'limit')).toHaveLength(1);
    expect(scene.requests()).toHaveLength(1);
  });

  it('takes no word of a tool’s output for a limit', async () => {
    const scene = await createNativeScene();
    writeFileSync(
      join(scene.repository, 'log.txt'),
      '429 usage limit reached, insufficient_quota, prompt is too long\n',
    );
    const run = await scene.run({
      steps: [
        { calls: [{ tool: 'read_file', input: { path: 'log.txt' } }] },
        { text: '429 usage_limit_reached: rate limit.' },
      ],
    });
    expect(run.end).toMatchObject({ ok: true, failure: null, resetAt: null });
    expect(ofType(run, 'limit')).toEqual([]);
  });

  it('names a server that cannot be reached, after two more tries', async () => {
    const scene = await createNativeScene();
    const run = await scene.run({ environment: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } });
    expect(run.end).toMatchObject({ ok: false, failure: 'network' });
    expect(run.process.stderr).toBe('');
    expect(ofType(run, 'retry')).toHaveLength(2);
  });

  it.each(['reset', 'cut'] as const)('tries again when the connection is %s', async (kind) => {
    const scene = await createNativeScene();
    const run = await scene.run({
      steps: [
        {
          text: 'One.',
          calls: [{ tool: 'shell', input: { command: 'echo x >> count' } }],
          faults: [{ kind }],
        },
        { text: 'Done.' },
      ],
    });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Done.' });
    expect(ofType(run, 'retry')).toHaveLength(1);
    // Half an answer has done nothing and said nothing.
    expect(ofType(run, 'text').map(({ text }) => text)).toEqual(['One.', 'Done.']);
    expect(readFileSync(join(scene.repository, 'count'), 'utf8')).toBe('x\n');
  });

  it.each(PROVIDERS)(
    'takes half an answer of %s for none, even where its stream ends in good order',
    async (provider) => {
      const scene = await createNativeScene();
      let asked = 0;
      const proxy = createServer(async (request, response) => {
        const body = await text(request);
        const answer = await fetch(`${scene.server.url}${request.url}`, { method: 'POST', body });
        const events = (await answer.text()).split('\n\n');
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${(++asked === 1 ? events.slice(0, 3) : events).join('\n\n')}\n\n`);
      });
      onTestFinished(() => void proxy.close());
      await once(proxy.listen(0, '127.0.0.1'), 'listening');
      const { port } = proxy.address() as AddressInfo;
      const through = (url: string) => url.replace(/:\d+/, `:${port}`);
      const run = await scene.run({ provider, steps: [{ text: 'All of it.' }], through });
      expect(run.end).toMatchObject({ ok: true, finalMessage: 'All of it.' });
      expect(ofType(run, 'text')).toHaveLength(1);
      expect(ofType(run, 'retry')).toHaveLength(1);
    },
  );

  /** A server of chat completions that is no better than it should be. */
  async function serve(answer: (response: ServerResponse) => void | Promise<void>) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      void answer(response);
    });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    return { provider: 'compatible' as const, through: () => `http://127.0.0.1:${port}` };
  }

  it('shows that it lives while a slow answer comes', async () => {
    const scene = await createNativeScene();
    const piece = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const slow = await serve(async (response) => {
      for (const content of ['Slowly', ', ', 'but ', 'surely', '.']) {
        response.write(piece({ content }));
        await sleep(600);
      }
      response.end(`${piece({}, 'stop')}data: [DONE]\n\n`);
    });
    const run = await scene.run(slow);
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Slowly, but surely.' });
    const signs = ofType(run, 'raw');
    expect(signs.every(({ line }) => line === '')).toBe(true);
    expect([1, 2, 3]).toContain(signs.length);
  });

  it('breaks off an answer that never ends, before it fills the memory', async () => {
    const scene = await createNativeScene();
    const endless = await serve((response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
        response.once('drain', flood);
      };
      flood();
    });
    const run = await scene.run(endless);
    expect(run.end).toMatchObject({ ok: false, failure: 'network' });
    expect(run.end.message).toContain('does not end');
  });

  it.each(['request', 'first_event'] as const)(
    'dies at once on SIGTERM while the model hangs after the %s',
    async (after) => {
      const scene = await createNativeScene();
      const stop = new AbortController();
      const began = performance.now();
      const running = scene.run({
        steps: [{ text: 'x', faults: [{ kind: 'hang', after }] }],
        signal: stop.signal,
      });
      while (scene.requests().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      stop.abort();
      const run = await running;
      expect(run.process.signal).toBe('SIGTERM');
      expect(run.end).toMatchObject({ ok: false, failure: 'crashed' });
      expect(performance.now() - began).toBeLessThan(20_000);
    },
  );

  it('leaves no command behind when it is ended in the middle of one', async () => {
    const scene = await createNativeScene();
    const stop = new AbortController();
    const command = 'touch begun; setsid sleep 411 & sleep 412';
    const running = scene.run({
      steps: [{ calls: [{ tool: 'shell', input: { command } }] }],
      signal: stop.signal,
    });
    while (!existsSync(join(scene.repository, 'begun')))
      await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect((await running).process.signal).toBe('SIGTERM');
    const table = openProcessTable();
    expect(table.pids().filter((pid) => /^sleep 41[12]/.test(table.command(pid)))).toEqual([]);
  });

  it('gives a failed call back to the model and goes on', async () => {
    const scene = await createNativeScene();
    const run = await scene.run({
      steps: [
        { calls: [{ tool: 'edit_file', input: { path: 'README.md', oldString: 'x', newString: 'y' } }] },
        { calls: [{ tool: 'no_such_tool', input: { a: 1 } }] },
        { calls: [{ tool: 'read_file', input: { path: 5 } }] },
        { text: 'I see.' },
      ],
    });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'I see.' });
    expect(ofType(run, 'tool_end').map(({ ok }) => ok)).toEqual([false, false, false]);
    const asked = JSON.stringify(scene.requests().at(-1)?.body);
    expect(asked).toContain('before you change it');
    expect(asked).toContain('no_such_tool');
    expect(asked).toContain('is not valid');
  });

  it.each(PROVIDERS)('survives arguments of %s that are no JSON', async (provider) => {
    const scene = await createNativeScene();
    const run = await scene.run({
      provider,
      steps: [{ calls: [{ tool: 'shell', input: '{"command": "touch half' }] }, { text: 'Again, then.' }],
    });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Again, then.' });
    expect(ofType(run, 'tool_end').map(({ ok }) => ok)).toEqual([false]);
    expect(run.calls).toEqual([]);
    // Servers refuse a conversation in which an input is no object.
    const asked = JSON.stringify(scene.requests().at(-1)?.body);
    expect(asked).toContain(provider === 'anthropic' ? '"input":{}' : '"arguments":"{}"');
    expect(existsSync(join(scene.repository, 'half'))).toBe(false);
  });

  it('gives back an object where the arguments are JSON but none', async () => {
    const scene = await createNativeScene();
    const calls = [
      { tool: 'shell', input: '5' },
      { tool: 'shell', input: '["ls"]' },
    ];
    const run = await scene.run({ steps: [{ calls }, { text: 'Again, then.' }] });
    expect(run.end).toMatchObject({ ok: true });
    expect(ofType(run, 'tool_end').map(({ ok }) => ok)).toEqual([false, false]);
    const asked = JSON.stringify(scene.requests().at(-1)?.body);
    expect(asked).not.toMatch(/"input":[^{]/);
  });

  it('asks again when the answer is empty, and not for ever', async () => {
    const scene = await createNativeScene();
    const run = await scene.run({ steps: [{ text: '' }] });
    expect(run.end).toMatchObject({
      ok: false,
      failure: 'crashed',
      message: 'The model answers with nothing.',
    });
    expect(scene.requests()).toHaveLength(3);
  });

  it('compacts old results when the window gets full, and keeps notes, words and the newest results', async () => {
    const scene = await createNativeScene();
    for (let i = 0; i < 9; i++)
      writeFileSync(join(scene.repository, `f${i}.txt`), `content-${i} `.repeat(100));
    const steps: Step[] = [
      {
        text: 'I keep in mind: blue.',
        calls: [{ tool: 'note', input: { text: `remember ${'this '.repeat(60)}` } }],
      },
      ...Array.from({ length: 9 }, (_, i) => ({
        calls: [{ tool: 'read_file', input: { path: `f${i}.txt` } }],
        usage: { input: i === 8 ? 8000 : 100 },
      })),
      { text: 'Done.' },
    ];
    const run = await scene.run({ steps, environment: { PULSE_NATIVE_CONTEXT_WINDOW: '10000' } });
    expect(run.end).toMatchObject({ ok: true });
    expect(ofType(run, 'compacted')).toHaveLength(1);
    const asked = JSON.stringify(scene.requests().at(-1)?.body);
    expect(asked).toContain('[compacted] read_file f0.txt: done');
    expect(asked).not.toContain('content-0 content-0');
    expect(asked).not.toContain('content-2 content-2');
    for (let i = 3; i < 9; i++) expect(asked).toContain(`content-${i} content-${i}`);
    expect(asked).toContain('Fix it.');
    expect(asked).toContain('I keep in mind: blue.');
    expect(asked).toContain('this this this');
  });

  it('knows how full the window is where the server counts nothing', async () => {
    const scene = await createNativeScene();
    writeFileSync(join(scene.repository, 'big.txt'), 'word '.repeat(1000));
    const usage = { input: 0, output: 0 };
    const steps: Step[] = [
      ...Array.from({ length: 8 }, () => ({
        calls: [{ tool: 'read_file', input: { path: 'big.txt' } }],
        usage,
      })),
      { text: 'Done.', usage },
    ];
    const run = await scene.run({
      provider: 'compatible',
      steps,
      environment: { PULSE_NATIVE_CONTEXT_WINDOW: '9000' },
    });
    expect(run.end).toMatchObject({ ok: true });
    expect(ofType(run, 'compacted').length).toBeGreaterThan(0);
    expect(ofType(run, 'usage').at(-1)).toMatchObject({ inputTokens: 0, contextTokens: expect.any(Number) });
  });

  it.each(PROVIDERS)('compacts and asks again when %s says that the window is full', async (provider) => {
    const scene = await createNativeScene();
    writeFileSync(join(scene.repository, 'big.txt'), 'many words '.repeat(1000));
    const read = { calls: [{ tool: 'read_file', input: { path: 'big.txt' } }] };
    const steps: Step[] = [read, read, { text: 'Done.', faults: [{ kind: 'overflow' }] }];
    const run = await scene.run({ provider, steps });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Done.' });
    expect(ofType(run, 'compacted')).toHaveLength(1);
    const sizes = scene.requests().map(({ body }) => JSON.stringify(body).length);
    expect(sizes.at(-1)).toBeLessThan(sizes.at(-2)!);
    const hopeless = await scene.run({
      provider,
      steps: [{ faults: [{ kind: 'overflow', times: 'always' }] }],
    });
    expect(hopeless.end).toMatchObject({ ok: false, failure: 'context_overflow' });
  });

  it('tells the model what Pulse wants it to know, and what it must ask for again', async () => {
    const scene = await createNativeScene();
    const notice = 'Your time is nearly up: wrap up.';
    const noticing = defineTool({
      name: 'look',
      description: 'Look.',
      input: z.object({}),
      call: () => ({ ok: false, output: 'not yet', reasons: ['slow'], pending: 'chk_1', notice }),
    });
    const steps: Step[] = [{ calls: [{ tool: 'look', input: {} }] }, { text: 'Wrapped up.' }];
    const run = await scene.run({ steps, tools: [noticing] });
    expect(run.end).toMatchObject({ ok: true, finalMessage: 'Wrapped up.' });
    expect(JSON.stringify(scene.requests().at(-1)?.body)).toContain(`<system-reminder>${notice}`);
    // And what comes later is no failure.
    expect(JSON.stringify(scene.requests().at(-1)?.body)).toContain('not yet\\n- slow\\npending: chk_1');
    expect(JSON.stringify(scene.requests().at(-1)?.body)).not.toContain('is_error');
  });

  it('stops after its last step, and warns before', async () => {
    const scene = await createNativeScene();
    const steps = Array.from({ length: 9 }, () => ({
      calls: [{ tool: 'shell', input: { command: 'true' } }],
    }));
    const run = await scene.run({ steps, environment: { PULSE_NATIVE_MAX_STEPS: '7' } });
    expect(run.end).toMatchObject({ ok: true, message: 'Stopped after 7 steps.' });
    expect(scene.requests()).toHaveLength(7);
    expect(JSON.stringify(scene.requests()[1]?.body)).not.toContain('steps are left');
    expect(JSON.stringify(scene.requests()[2]?.body)).toContain('Only 5 steps are left');
  });

  it('says what is missing when there is no model to ask', async () => {
    const scene = await createNativeScene();
    const run = await scene.run({ environment: { ANTHROPIC_API_KEY: '' } });
    expect(run.end).toMatchObject({ ok: false, failure: 'auth', message: 'ANTHROPIC_API_KEY is not set.' });
  });
});
