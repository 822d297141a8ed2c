/** opencode: `opencode run --format json`. Settings for a run are one variable; the user's files stay untouched. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardModule } from '../shared/guard-hook.ts';
import { createOpencodeParser } from './stream.ts';

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
  // Its library for plugins. If it were missing, each run would wait until it is fetched.
  ...['package.json', 'package-lock.json', 'node_modules'],
];

const GUARD_FILE = 'pulse-guard.js';
/**
 * Before opencode loads a plugin it fetches its library, if that is missing. Without a network npm would retry for more
 * than a minute, so it tries once. The plugin removes these variables, so that the agent's own npm retries as usual.
 */
const NPM_PATIENCE = { npm_config_fetch_retries: '0', npm_config_fetch_timeout: '10000' };
const PLUGIN = `import { env } from 'node:process';

export const PulseGuard = async () => ({
  'tool.execute.before': async ({ tool, callID }, { args }) => {
    for (const name of ${JSON.stringify(Object.keys(NPM_PATIENCE))}) delete env[name];
    const reason = await reasonAgainst({ tool_name: tool, tool_use_id: callID, tool_input: args });
    if (reason) throw new Error(reason);
  },
  'tool.execute.after': async ({ tool, callID }, result) => {
    if (typeof result?.output !== 'string') return;
    const news = await newsAfter({ tool_name: tool, tool_use_id: callID });
    if (news) result.output += '\\n\\n' + news;
  },
});
`;

export const opencodeAdapter = createCliAdapter(CLI, {
  environment: ['OPENCODE_*'],
  speaksMcp: true,
  cost: 'reported',
  sandboxPaths({ home, environment }) {
    const { XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME } = environment;
    const data = join(XDG_DATA_HOME || join(home, '.local/share'), 'opencode');
    return {
      read: [
        // One by one: opencode does not start if it cannot write into the folder itself.
        ...SETTINGS.map((name) => join(XDG_CONFIG_HOME || join(home, '.config'), 'opencode', name)),
        `${join(data, 'bin')}/`,
      ],
      // One database holds its login and its sessions.
      write: [`${data}/`, `${join(XDG_STATE_HOME || join(home, '.local/state'), 'opencode')}/`],
    };
  },
  command({ brief, executable, model, resume, tools, directory }) {
    const config = {
      plugin: [pathToFileURL(join(directory, GUARD_FILE)).href],
      mcp: {
        pulse: {
          type: 'remote',
          url: `${tools.url}/mcp`,
          // The token is in the run's environment.
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
        ...['--print-logs', '--log-level', 'INFO'], // only its log shows retries and the end
        '--auto', // there is nobody to ask; what the user has denied stays denied
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--session', resume]),
      ],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        ...NPM_PATIENCE,
      },
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: { [GUARD_FILE]: `${guardModule(tools, CLI.name)}${PLUGIN}` },
    };
  },
  createParser: createOpencodeParser,
});
