/** OpenAI's Codex: `codex exec --json`. Its settings for a run are flags; the user's own files are not touched. */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cli, detectCli, locateCli } from './cli.ts';
import { createCodexParser } from './codex-stream.ts';
import type { AgentAdapter } from './contract.ts';

const CLI: Cli = {
  name: 'codex',
  install: 'npm install -g @openai/codex',
  tested: { from: '0.166.0', to: '0.166.0' },
};

export const codexAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['OPENAI_*', 'CODEX_*'],
  idleByDefault: true,
  // Only where the model is known and has a price.
  reportsCost: false,
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? nativeProgram(found) : null;
  },
  command({ brief, executable, model, resume, tools }) {
    const args = [
      ...['exec', '--json', '--skip-git-repo-check'],
      '--dangerously-bypass-approvals-and-sandbox', // its own sandbox makes .git read-only, and nobody is there to ask
      ...settings({
        'features.plugins': 'false', // they are fetched from the net, and five seconds are waited for them at the end
        check_for_update_on_startup: 'false',
        'mcp_servers.pulse.url': JSON.stringify(`${tools.url}/mcp`),
        // The run has it in its environment; arguments are everybody's to read.
        'mcp_servers.pulse.bearer_token_env_var': '"PULSE_TOOLS_TOKEN"',
      }),
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : ['resume', resume]),
      '-', // the brief comes on stdin
    ];
    return {
      file: executable ?? CLI.name,
      args,
      env: {},
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
    };
  },
  createParser: createCodexParser,
};

function settings(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/**
 * npm's `codex` is a script that starts the program itself; on an older Node.js as a child, which outlives it when it is
 * killed. So the program is started directly where it can be found.
 */
function nativeProgram(path: string): string {
  try {
    const script = realpathSync(path);
    if (!script.endsWith('/bin/codex.js')) return path;
    const own = dirname(dirname(script));
    const name = `codex-${process.platform}-${process.arch}`;
    for (const folder of [join(own, 'node_modules/@openai', name), join(dirname(own), name), own]) {
      const vendor = join(folder, 'vendor');
      if (!existsSync(vendor)) continue;
      for (const triple of readdirSync(vendor)) {
        const program = join(vendor, triple, 'bin/codex');
        if (existsSync(program)) return program;
      }
    }
    return path;
  } catch {
    return path; // what is not as expected starts as the user starts it
  }
}
