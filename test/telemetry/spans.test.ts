/** Spans of a session, from its events to a collector. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { EventType, PulseEvent } from '../../src/domain/events.ts';
import { createExporter } from '../../src/telemetry/exporter.ts';
import { readTelemetry } from '../../src/telemetry/settings.ts';
import { createSpanFold, type Span, type TracedSession } from '../../src/telemetry/spans.ts';

const SESSION = { id: 'ses_1', kind: 'goal', agent: 'demo', parent: null };
type Told = [EventType, Record<string, unknown>?, number?];

function fold(told: readonly Told[], session: TracedSession = SESSION): Span[] {
  const { take } = createSpanFold(session);
  return told.flatMap(([type, data = {}, iteration], index) => {
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString();
    const event: PulseEvent = { seq: index + 1, type, at, sessionId: session.id, data };
    return take(iteration === undefined ? event : { ...event, iteration });
  });
}

const STORY: Told[] = [
  ['session.created'],
  ['session.started'],
  ['iteration.planned', { unit: null }, 1],
  ['iteration.started', { attempt: 1, agent: 'demo' }, 1],
  ['agent.tool', { phase: 'start', name: 'Read' }, 1],
  ['agent.tool', { phase: 'start', name: 'Write' }, 1],
  ['agent.tool', { phase: 'end', name: 'Read', ok: true }, 1],
  ['agent.tool', { phase: 'end', name: 'Write', ok: false }, 1],
  ['iteration.ended', { ok: true, usage: { costUsd: 0.5, inputTokens: 10, outputTokens: 2 } }, 1],
  ['iteration.settled', { outcome: 'rejected', signal: 'COMPLETE', commit: 'abc' }, 1],
  ['session.blocked', { stopReason: 'verification_failed' }],
];

describe('the spans of a session', () => {
  it('are the session, its iterations, their runs and their tool calls, each in the other', () => {
    const spans = fold(STORY);
    const of = (name: string) => spans.find((span) => span.name === name)!;
    const [root, iteration, run] = [of('session goal'), of('iteration 1'), of('run demo')];
    expect(spans.map(({ name }) => name)).toEqual([
      'tool Read',
      'tool Write',
      'run demo',
      'iteration 1',
      'session goal',
    ]);
    expect(root.parentSpanId).toBeUndefined();
    expect(iteration.parentSpanId).toBe(root.spanId);
    expect(run.parentSpanId).toBe(iteration.spanId);
    expect([of('tool Read').parentSpanId, of('tool Write').parentSpanId]).toEqual([run.spanId, run.spanId]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(
      spans.every(({ traceId, spanId }) => /^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId)),
    ).toBe(true);
    expect(iteration).toMatchObject({
      error: 'rejected',
      attributes: { 'pulse.outcome': 'rejected', 'pulse.commit': 'abc' },
    });
    expect(of('tool Write').error).toBe('the call failed');
    expect(run.attributes).toMatchObject({ 'gen_ai.usage.input_tokens': 10, 'pulse.cost_usd': 0.5 });
    expect(root.attributes).toMatchObject({
      'pulse.status': 'blocked',
      'pulse.stop_reason': 'verification_failed',
    });
    expect(root.endMs - root.startMs).toBe(9_000);
  });

  it('have the same ids whoever makes them, and another root after a resume', () => {
    expect(fold(STORY)).toEqual(fold(STORY));
    const resumed = fold([...STORY, ['session.resumed'], ['session.ended', { status: 'complete' }]]);
    const roots = resumed.filter(({ name }) => name === 'session goal');
    expect(roots).toHaveLength(2);
    expect(roots[0]!.spanId).not.toBe(roots[1]!.spanId);
    expect(roots[0]!.traceId).toBe(roots[1]!.traceId);
  });

  it('end what was open when a run is interrupted or the session is aborted', () => {
    const spans = fold([...STORY.slice(0, 5), ['iteration.retried', {}, 1], ['session.aborted']]);
    expect(spans.map(({ name, error }) => [name, error])).toEqual([
      ['tool Read', null],
      ['run demo', 'interrupted'],
      ['iteration 1', null],
      ['session goal', null],
    ]);
  });

  it('of a session that works for another are in its trace', () => {
    const child = fold(STORY, { ...SESSION, id: 'ses_2', parent: { id: 'ses_1', began: 2 } });
    expect(child[0]!.traceId).toBe(fold(STORY)[0]!.traceId);
    expect(child[0]!.spanId).not.toBe(fold(STORY)[0]!.spanId);
    expect(child.at(-1)!.parentSpanId).toBe(fold(STORY).at(-1)!.spanId);
  });
});

describe('the variables of OpenTelemetry', () => {
  it('are off unless there is an address', () => {
    expect(readTelemetry({})).toEqual({ settings: null, problem: null });
    const at = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };
    expect(readTelemetry({ ...at, OTEL_SDK_DISABLED: 'true' }).settings).toBeNull();
    expect(readTelemetry({ ...at, OTEL_TRACES_EXPORTER: 'none' })).toEqual({ settings: null, problem: null });
    expect(readTelemetry(at).settings!.url).toBe('http://127.0.0.1:4318/v1/traces');
    expect(readTelemetry({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://h/x' }).settings!.url).toBe(
      'http://h/x',
    );
  });

  it('set headers, the service and its attributes', () => {
    const { settings } = readTelemetry({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://h',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x = 100%',
      OTEL_RESOURCE_ATTRIBUTES: 'team=night',
      OTEL_SERVICE_NAME: 'loops',
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    });
    expect(settings).toMatchObject({
      headers: { 'api-key': 'a b', x: '100%' },
      resource: { team: 'night', 'service.name': 'loops' },
      timeoutMs: 50,
    });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'http/json'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'otlp and none'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://h' }, 'no http'],
  ])('that ask for something else are refused in words: %o', (more, words) => {
    const { settings, problem } = readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h', ...more });
    expect([settings, problem]).toEqual([null, expect.stringContaining(words)]);
  });
});

describe('sending spans', () => {
  async function collector(answer: number) {
    const bodies: unknown[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        bodies.push({ path: request.url, key: request.headers['api-key'], ...JSON.parse(text) });
        response.writeHead(answer).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await new Promise((done) => server.once('listening', done));
    const said: string[] = [];
    const { settings } = readTelemetry({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret-key',
    });
    const exporter = createExporter({
      settings: settings!,
      say: (text) => said.push(text),
    });
    return {
      bodies,
      said,
      exporter,
      async [Symbol.asyncDispose]() {
        await new Promise((done) => server.close(done));
      },
    };
  }

  it('speaks OTLP in JSON', async () => {
    await using scene = await collector(200);
    scene.exporter.add(fold(STORY));
    await scene.exporter.flush();
    const [{ name, startTimeUnixNano, endTimeUnixNano, status, attributes }] = (
      scene.bodies[0] as { resourceSpans: { scopeSpans: { spans: Record<string, never>[] }[] }[] }
    ).resourceSpans[0]!.scopeSpans[0]!.spans.slice(-1) as [Record<string, never>];
    expect(scene.bodies[0]).toMatchObject({ path: '/v1/traces', key: 'secret-key' });
    expect({ name, startTimeUnixNano, endTimeUnixNano, status }).toEqual({
      name: 'session goal',
      startTimeUnixNano: `${BigInt(Date.UTC(2026, 0, 1) + 1_000) * 1_000_000n}`,
      endTimeUnixNano: `${BigInt(Date.UTC(2026, 0, 1) + 10_000) * 1_000_000n}`,
      status: { code: 0 },
    });
    expect(attributes).toContainEqual({ key: 'pulse.kind', value: { stringValue: 'goal' } });
    expect(scene.said).toEqual([]);
  });

  it('says once that it fails, without a key, and goes on', async () => {
    await using scene = await collector(503);
    for (let round = 0; round < 3; round++) {
      scene.exporter.add(fold(STORY));
      await scene.exporter.flush();
    }
    expect(scene.said).toEqual([expect.stringMatching(/^Spans could not be sent to http:\/\/127.*503$/)]);
    expect(scene.said.join()).not.toContain('secret-key');
    expect(scene.bodies).toHaveLength(3);
  });
});
