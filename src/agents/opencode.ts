/** opencode: `opencode run --format json`. Its settings for a run are one variable; the user's own files are not touched. */
import { join } from 'node:path';
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { createOpencodeParser } from './opencode-stream.ts';

const CLI: Cli = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  tested: { from: '1.18.33', to: '1.18.33' },
};

const SETTINGS = [
  ...[
    'opencode.json',
    'opencode.jsonc',
    'config.json',
    'AGENTS.md',
    'agent',
    'agents',
    'command',
    'commands',
  ],
  ...['mode', 'modes', 'plugin', 'plugins', 'skill', 'skills', 'tool', 'tools'],
];

export const opencodeAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['OPENCODE_*'],
  idleByDefault: true,
  cost: 'told',
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? found : null;
  },
  sandboxPaths({ home, environment }) {
    const { XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME } = environment;
    const data = join(XDG_DATA_HOME || join(home, '.local/share'), 'opencode');
    return {
      read: [
        // One by one: the folder itself must be its to write into, or it does not start.
        ...SETTINGS.map((name) => join(XDG_CONFIG_HOME || join(home, '.config'), 'opencode', name)),
        `${join(data, 'bin')}/`,
      ],
      // One database holds its login and its sessions.
      write: [`${data}/`, `${join(XDG_STATE_HOME || join(home, '.local/state'), 'opencode')}/`],
    };
  },
  command({ brief, executable, model, resume, tools }) {
    const config = {
      mcp: {
        pulse: {
          type: 'remote',
          url: `${tools.url}/mcp`,
          // The run has it in its environment.
          headers: { Authorization: 'Bearer {env:PULSE_TOOLS_TOKEN}' },
          oauth: false,
          enabled: true,
        },
      },
    };
    return {
      file: executable ?? CLI.name,
      args: [
        ...['run', '--format', 'json'],
        ...['--print-logs', '--log-level', 'INFO'], // retries, and that it is done, stand in its log alone
        '--auto', // nobody is there to ask; what the user has denied stays denied
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--session', resume]),
      ],
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_AUTOUPDATE: '1' },
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
    };
  },
  createParser: createOpencodeParser,
};
