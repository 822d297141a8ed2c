import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeAgent, describeUsageLimit } from './cases.ts';
import type { Subject } from './stage.ts';

const codex: Subject = {
  name: 'codex',
  user(url, home) {
    mkdirSync(join(home, '.codex'), { recursive: true });
    writeFileSync(
      join(home, '.codex/config.toml'),
      [
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        '[analytics]',
        'enabled = false',
      ].join('\n'),
    );
    return { OPENAI_API_KEY: 'dummy' };
  },
  forbid(home) {
    mkdirSync(join(home, '.codex/rules'), { recursive: true });
    const rule = 'prefix_rule(pattern=["touch"], decision="forbidden", justification="not here")\n';
    writeFileSync(join(home, '.codex/rules/default.rules'), rule);
  },
  calls: {
    read: (path) => ({ tool: 'exec_command', input: { cmd: `cat ${path}` } }),
    edit: (path, { from, to }) => patch(`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`),
    write: (path, text) => patch(`*** Add File: ${path}`, `+${text}`),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd, yield_time_ms: 30_000 } }),
    signal: (signal) => ({ tool: 'mcp__pulse/pulse_signal', input: { signal } }),
  },
  costOfCall: null, // the stream names no model
  quietMs: 10_000,
  tellsRetries: true,
};

function patch(...lines: string[]) {
  return { tool: 'apply_patch', input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') };
}

describeAgent(codex);
describeUsageLimit(codex);
