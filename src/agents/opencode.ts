/** opencode: `opencode run --format json`. Its settings for a run are one variable; the user's own files are not touched. */
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { createOpencodeParser } from './opencode-stream.ts';

const CLI: Cli = {
  name: 'opencode',
  install: 'npm install -g opencode-ai',
  tested: { from: '1.18.33', to: '1.18.33' },
};

export const opencodeAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['OPENCODE_*'],
  idleByDefault: true,
  reportsCost: true,
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? found : null;
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
