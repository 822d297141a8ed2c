import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './stage.ts';

export const gemini: Subject = {
  name: 'gemini',
  user(url, home) {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    return { GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: 'gemini-2.5-flash' };
  },
  forbid(home) {
    mkdirSync(join(home, '.gemini/policies'), { recursive: true });
    const rule = ['[[rule]]', 'toolName = "run_shell_command"', 'commandPrefix = "touch"'];
    writeFileSync(
      join(home, '.gemini/policies/own.toml'),
      [...rule, 'decision = "deny"', 'priority = 900', ''].join('\n'),
    );
  },
  calls: {
    read: (file_path) => ({ tool: 'read_file', input: { file_path } }),
    edit: (file_path, { from, to }) => ({
      tool: 'replace',
      input: { file_path, instruction: 'a change', old_string: from, new_string: to },
    }),
    write: (file_path, content) => ({ tool: 'write_file', input: { file_path, content } }),
    shell: (command) => ({ tool: 'run_shell_command', input: { command } }),
    signal: (signal) => ({ tool: 'mcp_pulse_pulse_signal', input: { signal } }),
  },
  costOfCall: 0.000425, // 1000 tokens in and 50 out, by the list of prices
  quietMs: 10_000,
  refusesOutside: 'Path not in workspace',
  tellsRetries: true,
};
