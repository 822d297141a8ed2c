import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBeads } from './bead-cases.ts';
import { describeAgent } from './cases.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

const CONFIG = '.config/opencode/opencode.json';

const opencode: Subject = {
  name: 'opencode',
  user(url, home) {
    mkdirSync(join(home, '.config/opencode'), { recursive: true });
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      name: 'scripted',
      options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
      models: {
        model: {
          tool_call: true,
          cost: { input: 1, output: 10 },
          limit: { context: 200_000, output: 8_000 },
        },
      },
    };
    const config = {
      model: 'scripted/model',
      small_model: 'scripted/model',
      enabled_providers: ['scripted'],
      provider: { scripted },
    };
    writeFileSync(join(home, CONFIG), JSON.stringify(config));
    return {
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    };
  },
  forbid(home) {
    const config = JSON.parse(readFileSync(join(home, CONFIG), 'utf8'));
    const permission = { bash: { '*': 'allow', 'touch *': 'deny' } };
    writeFileSync(join(home, CONFIG), JSON.stringify({ ...config, permission }));
  },
  calls: {
    read: (filePath) => ({ tool: 'read', input: { filePath } }),
    edit: (filePath, { from, to }) => ({
      tool: 'edit',
      input: { filePath, oldString: from, newString: to },
    }),
    write: (filePath, content) => ({ tool: 'write', input: { filePath, content } }),
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a step' } }),
    signal: (signal) => ({ tool: 'pulse_pulse_signal', input: { signal } }),
  },
  costOfCall: 0.0015, // 1000 tokens in and 50 out
  quietMs: 10_000,
  tellsRetries: false, // without their status
  tellsCostAfterTools: 'always',
  classOf429: 'network', // ended in the middle of its retries
};

describeAgent(opencode);
describeBeads(opencode, { window: null });

const server = useModelServer();

test('the guard of a real opencode stands beside the user’s own plugins, and leaves nothing behind', async () => {
  const { scene, home, play } = await makeStage(opencode, server());
  const seen = join(scene.folder, 'seen-by-the-plugin');
  const plugin = join(home, '.config/opencode/plugins/own.js');
  mkdirSync(join(plugin, '..'), { recursive: true });
  const body = `appendFileSync('${seen}', \`\${tool}\\n\`)`;
  writeFileSync(
    plugin,
    `import { appendFileSync } from 'node:fs';
export const Own = async () => ({ 'tool.execute.before': async ({ tool }) => ${body} });\n`,
  );
  const session = await play([
    { calls: [opencode.calls.shell('env | grep -ci npm_config_fetch > kept.txt; true')] },
    { text: 'Done.\n\n<signal>COMPLETE</signal>' },
  ]);
  expect(session.status).toBe('complete');
  expect(readFileSync(seen, 'utf8')).toBe('bash\n');
  // What makes npm impatient for the plugin's sake is not for what the agent runs.
  expect(scene.sh(scene.root, 'show', `${session.branch_name}:kept.txt`)).toBe('0');
  const { iteration } = await scene.pulse.showIteration(session.id, { number: 1 });
  expect(iteration.files_changed).toEqual(['kept.txt']);
  expect(readFileSync(join(home, CONFIG), 'utf8')).not.toContain('pulse');
  expect(readdirSync(join(home, '.config/opencode/plugins'))).toEqual(['own.js']);
});

test('a real opencode at a usage limit retries without saying why: a failure of the network', async () => {
  const { playOneAttempt } = await makeStage(opencode, server());
  const resetAt = new Date(Date.now() + 60 * 60_000);
  const { data } = await playOneAttempt([{ faults: [{ kind: 'usage_limit', resetAt, times: 'always' }] }], {
    idleTimeoutMs: opencode.quietMs,
  });
  expect(data).toMatchObject({ ok: false, failureClass: 'network' });
});
