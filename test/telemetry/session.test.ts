/** A whole session with a collector: its spans arrive, and a collector that is not there changes nothing. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createSwarmScene } from '../beads/swarm-scene.ts';
import { createScratch } from '../fakes/scratch.ts';

async function runOnce(endpoint: string) {
  using scratch = createScratch();
  await using pulse = await createPulse({
    environment: { ...scratch.environment, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
  });
  const { session } = await pulse.start({
    ...{ goal: 'Write x', path: scratch.repository, createdBy: 'cli', agent: 'command' },
    command: 'echo x > x; echo "<signal>COMPLETE</signal>"',
  });
  await pulse.run(session.id, new AbortController().signal);
  return (await pulse.show(session.id)).session;
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

async function collecting(work: (endpoint: string) => Promise<void>): Promise<SentSpan[]> {
  const sent: SentSpan[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(text);
      sent.push(...resourceSpans[0].scopeSpans[0].spans);
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await new Promise((done) => server.close(done));
  return sent;
}

it('sends the spans of a session to the collector', async () => {
  const sent = await collecting(async (endpoint) => {
    expect((await runOnce(endpoint)).status).toBe('complete');
  });
  expect(sent.map(({ name }) => name)).toEqual(['run command', 'iteration 1', 'session goal']);
});

it('sends those of a swarm’s workers, each below the swarm in its trace', async () => {
  const sent = await collecting(async (endpoint) => {
    await using scene = await createSwarmScene({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } });
    await scene.bead('one');
    await scene.bead('two');
    const id = await scene.start('echo x > "$PULSE_UNIT.txt"; echo done', { workers: 2 });
    await scene.drive(id);
    expect((await scene.pulse.session(id)).status).toBe('complete');
  });
  const sessions = sent.filter(({ name }) => name === 'session beads');
  const swarm = sessions.find(({ parentSpanId }) => parentSpanId === undefined)!;
  const workers = sessions.filter(({ parentSpanId }) => parentSpanId === swarm.spanId);
  expect([sessions.length, workers.length]).toEqual([3, 2]);
  expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(1);
  for (const { spanId } of workers) {
    const [iteration] = sent.filter(({ parentSpanId }) => parentSpanId === spanId);
    const runs = sent.filter(({ parentSpanId }) => parentSpanId === iteration!.spanId);
    expect([iteration!.name, runs.map(({ name }) => name)]).toEqual(['iteration 1', ['run command']]);
  }
});

it('is no worse for a collector that is not there', async () => {
  expect((await runOnce('http://127.0.0.1:9')).status).toBe('complete');
});
