import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAgent } from './cases.ts';
import type { Subject } from './stage.ts';

const shell = (command: string) => ({ tool: 'bash', input: { command } });
/** It has no MCP. */
const pulse = (name: string, input: Record<string, unknown>) =>
  shell(`pulse tool ${name} '${JSON.stringify(input)}'`);

const pi: Subject = {
  name: 'pi',
  user(url, home) {
    const folder = join(home, '.pi/agent');
    mkdirSync(folder, { recursive: true });
    const model = {
      id: 'model',
      cost: { input: 1, output: 10, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 8_000,
    };
    const scripted = {
      baseUrl: `${url}/v1`,
      api: 'openai-completions',
      apiKey: 'dummy',
      models: [model],
    };
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { scripted } }));
    const settings = { defaultProvider: 'scripted', defaultModel: 'model' };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    return { PI_OFFLINE: '1' };
  },
  calls: {
    read: (path) => ({ tool: 'read', input: { path } }),
    edit: (path, { from, to }) => ({
      tool: 'edit',
      input: { path, edits: [{ oldText: from, newText: to }] },
    }),
    write: (path, content) => ({ tool: 'write', input: { path, content } }),
    shell,
    signal: (signal) => pulse('pulse_signal', { signal }),
    pulse,
  },
  costOfCall: 0.0015, // 1000 tokens in and 50 out
  quietMs: 10_000,
  tellsRetries: false, // the first are its SDK's, which says nothing
};

describeAgent(pi);
