import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeAgent, describeTokenBudget } from './cases.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

const copilot: Subject = {
  name: 'copilot',
  user: (url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: 'dummy',
    COPILOT_MODEL: 'gpt-4.1',
  }),
  calls: {
    read: (path) => ({ tool: 'view', input: { path } }),
    edit: (path, { from, to }) => ({ tool: 'edit', input: { path, old_str: from, new_str: to } }),
    write: (path, file_text) => ({ tool: 'create', input: { path, file_text } }),
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a step' } }),
    signal: (signal) => ({ tool: 'pulse-pulse_signal', input: { signal } }),
  },
  costOfCall: null, // no price is known for its model
  quietMs: 10_000,
  tellsRetries: true,
};

describeAgent(copilot);
describeTokenBudget(copilot, 'echo more >> log.txt; timeout 1 tail -f /dev/null');

const server = useModelServer();

test('the guard of a real copilot leaves nothing at home and nothing in the commit', async () => {
  const { scene, home, play } = await makeStage(copilot, server());
  const session = await play([
    { calls: [copilot.calls.shell('echo kept > kept.txt')] },
    { text: 'Done.\n\n<signal>COMPLETE</signal>' },
  ]);
  expect(session.status).toBe('complete');
  const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
  expect(iteration.files_changed).toEqual(['kept.txt']);
  const own = join(home, '.copilot');
  expect(['hooks', 'settings.json', 'mcp-config.json'].filter((name) => existsSync(join(own, name)))).toEqual(
    [],
  );
  const data = join(own, 'plugin-data/_direct');
  expect(existsSync(data) ? readdirSync(data) : []).toEqual([]);
  expect(readdirSync(join(own, 'installed-plugins'))).toEqual([]);
});
