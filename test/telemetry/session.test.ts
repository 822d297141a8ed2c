/** A whole session with a collector: its spans arrive, and a collector that is not there changes nothing. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
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

it('sends the spans of a session to the collector', async () => {
  const names: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(text);
      for (const { name } of resourceSpans[0].scopeSpans[0].spans) names.push(name);
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { status } = await runOnce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await new Promise((done) => server.close(done));
  expect(status).toBe('complete');
  expect(names).toEqual(['run command', 'iteration 1', 'session goal']);
});

it('is no worse for a collector that is not there', async () => {
  expect((await runOnce('http://127.0.0.1:9')).status).toBe('complete');
});
