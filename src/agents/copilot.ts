/** GitHub Copilot CLI: `copilot --output-format json`. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { createCopilotParser } from './copilot-stream.ts';

const CLI: Cli = {
  name: 'copilot',
  install: 'npm install -g @github/copilot',
  tested: { from: '1.0.102', to: '1.0.102' },
};

const SETTINGS = [
  ...[
    'config.json',
    'settings.json',
    'mcp-config.json',
    'copilot-instructions.md',
    'agents',
    'skills',
    'hooks',
  ],
];
const MCP_FILE = 'mcp.json';
const USAGE_FILE = 'usage.json';

/** What was spent goes to a file alone, when it exits: here it becomes the stream's last line. */
const WITH_USAGE = `
usage=$1
shift
exec 3<&0
"$@" --usage-output-file "$usage" <&3 3<&- &
agent=$!
exec 3<&-
trap 'kill -TERM $agent 2>/dev/null' INT TERM
wait $agent
code=$?
while kill -0 $agent 2>/dev/null; do
  wait $agent
  code=$?
done
[ -s "$usage" ] && tr -d '\\n' <"$usage" && echo
exit $code`;

export const copilotAdapter: AgentAdapter = {
  name: CLI.name,
  // Not GH_TOKEN and GITHUB_TOKEN: they open more than this agent.
  environment: ['COPILOT_*', 'GH_HOST'],
  idleByDefault: true,
  // Only where the model has a price.
  cost: 'priced',
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? nativeProgram(found) : null;
  },
  sandboxPaths({ home, environment }) {
    const own = environment.COPILOT_HOME || join(home, '.copilot');
    return {
      read: SETTINGS.map((name) => join(own, name)),
      write: [`${join(own, 'session-state')}/`],
    };
  },
  command({ brief, executable, model, resume, tools, directory }) {
    const headers = { Authorization: `Bearer ${tools.token}` };
    const pulse = { type: 'http', url: `${tools.url}/mcp`, headers, tools: ['*'] };
    const copilot = [
      ...[executable ?? CLI.name, '--output-format', 'json'],
      ...['--allow-all', '--no-ask-user'], // nobody is there to ask
      ...['--additional-mcp-config', `@${join(directory, MCP_FILE)}`],
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : [`--resume=${resume}`]),
    ];
    return {
      file: '/bin/sh',
      args: ['-c', WITH_USAGE, 'sh', join(directory, USAGE_FILE), ...copilot],
      env: { COPILOT_AUTO_UPDATE: 'false' },
      stdin: brief,
      stopSignals: ['SIGTERM'],
      files: { [MCP_FILE]: JSON.stringify({ mcpServers: { pulse } }) },
    };
  },
  createParser: createCopilotParser,
};

/** npm's `copilot` is a script that waits for the program itself, which outlives it when it is killed. */
function nativeProgram(path: string): string {
  try {
    const script = realpathSync(path);
    if (!script.endsWith('/copilot/npm-loader.js')) return path;
    const own = dirname(script);
    const platforms = process.platform === 'linux' ? ['linux', 'linuxmusl'] : [process.platform];
    for (const folder of [join(own, 'node_modules/@github'), dirname(own)]) {
      for (const platform of platforms) {
        const program = join(folder, `copilot-${platform}-${process.arch}/copilot`);
        if (existsSync(program)) return program;
      }
    }
    return path;
  } catch {
    return path; // what is not as expected starts as the user starts it
  }
}
