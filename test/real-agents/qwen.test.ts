import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAgent } from './cases.ts';

describeAgent({
  name: 'qwen',
  user(url, home) {
    writeSettings(home, {});
    return { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy', OPENAI_MODEL: 'qwen3-coder-plus' };
  },
  forbid: (home) => writeSettings(home, { permissions: { deny: ['Bash(touch *)'] } }),
  calls: {
    read: (file_path) => ({ tool: 'read_file', input: { file_path } }),
    edit: (file_path, { from, to }) => ({
      tool: 'edit',
      input: { file_path, old_string: from, new_string: to },
    }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    shell: (command) => ({ tool: 'run_shell_command', input: { command, is_background: false } }),
    signal: (signal) => ({ tool: 'mcp__pulse__pulse_signal', input: { signal } }),
  },
  costOfCall: null, // no price is known for its models
  quietMs: 25_000,
  tellsRetries: false,
  classOf429: 'timeout_idle', // it retries in silence
});

function writeSettings(home: string, more: Record<string, unknown>): void {
  mkdirSync(join(home, '.qwen'), { recursive: true });
  const settings = { security: { auth: { selectedType: 'openai' } }, ...more };
  writeFileSync(join(home, '.qwen/settings.json'), JSON.stringify(settings));
}
