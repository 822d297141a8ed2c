import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch } from '../fakes/scratch.ts';

it('the token of serve stands nowhere in what an agent’s words became, however it is written', async () => {
  using scratch = createScratch();
  const token = 'Zk3vQ9-uLw_7xTn2bYc5RmE8aHd4PsJg1oKf6iVt0Xy';
  mkdirSync(scratch.home, { mode: 0o700 });
  writeFileSync(join(scratch.home, 'token'), `${token}\n`, { mode: 0o600 });
  await using pulse = await createPulse({ environment: scratch.environment });
  const encoded = Buffer.from(token).toString('base64');
  const { session } = await pulse.start({
    goal: 'Tell it',
    path: scratch.repository,
    createdBy: 'cli',
    command: `printf 'It is %s, %s. <signal>BLOCKED: %s</signal>' '${token}' '${encoded}' '${token}'`,
  });
  // The goal's own command names it: what is looked at is what came of it.
  await pulse.run(session.id, new AbortController().signal);
  const { events, iterations } = await pulse.export(session.id);
  const { blocked_reason: reason } = await pulse.session(session.id);
  const told = JSON.stringify([events.slice(1), iterations.map((row) => row.output_full), reason]);
  expect(told).toContain('It is [redacted], [redacted]');
  expect(told).not.toContain(token);
  expect(told).not.toContain(encoded.slice(0, 20));
});
