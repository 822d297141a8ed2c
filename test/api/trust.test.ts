/** A repository's own config over HTTP: nobody can be asked there, so that it is refused or trusted by a field. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { makeApiScene } from './scene.ts';

const RESEARCH = {
  goal: 'Lower',
  metric: { name: 'cost', direction: 'lower', verifyCommand: 'echo 1' },
  scope: { inScope: ['src/**'] },
};
const PLAN = { title: 'Greet', pulses: [{ id: 'one', title: 'One', description: 'Say hello.' }] };

function writeConfig(root: string, text: string): string {
  mkdirSync(join(root, '.pulse'), { recursive: true });
  writeFileSync(join(root, '.pulse/config.yaml'), text);
  return join(root, '.pulse/config.yaml');
}

it.each([
  ['/api/pulse/start', { goal: 'g' }],
  ['/api/workflows', { plan: PLAN }],
  ['/api/research', { research: RESEARCH }],
])('%s refuses what nobody trusts, and takes the word of the request for one session', async (path, what) => {
  const { ask, root, pulse, handed, refs } = await makeApiScene();
  const config = writeConfig(root, 'command: touch ran\nsetup: [touch set-up]\n');
  const body = { projectPath: root, ...what };
  for (const trust of [undefined, false]) {
    expect(await ask('POST', path, { body: { ...body, trust } })).toMatchObject({
      status: 409,
      json: {
        error: {
          code: 'untrusted_config',
          hint: expect.stringContaining('pulse trust'),
          details: { path: config, settings: { command: 'touch ran', setup: ['touch set-up'] } },
        },
      },
    });
  }
  expect([(await pulse.list({})).sessions, handed, refs('refs/heads')]).toEqual([
    [],
    [],
    ['refs/heads/main'],
  ]);
  const trusted = await ask('POST', path, { body: { ...body, trust: true } });
  expect(trusted, JSON.stringify(trusted.json)).toMatchObject({ status: 201 });
  expect((await ask('POST', path, { body })).status).toBe(409);
});

it('an edited plan with new checks is prepared by a trusted config alone', async () => {
  const { ask, root, run, environment } = await makeApiScene();
  await writeTrustedConfig(root, { text: 'setup: ["true"]\n', environment });
  const body = { projectPath: root, plan: PLAN, agent: 'demo' };
  const { json } = await ask('POST', '/api/workflows', { body });
  await run({ id: json.sessionId });
  writeConfig(root, 'setup: [touch ran]\n');
  const approve = (plan: object) =>
    ask('POST', `/api/workflows/${json.sessionId}/approve`, { body: { plan } });
  const edited = { ...PLAN, verify: [{ command: 'true', source: 'Test' }] };
  expect(await approve(edited)).toMatchObject({
    status: 409,
    json: { error: { code: 'untrusted_config' } },
  });
  writeConfig(root, 'setup: ["true"]\n');
  expect((await approve(edited)).status).toBe(202);
});
