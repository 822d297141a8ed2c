/** pi: `pi --mode json --print`. It speaks no MCP: its shell has `pulse tool`, and the brief says so. */
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { createPiParser } from './pi-stream.ts';

const CLI: Cli = {
  name: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  tested: { from: '0.73.1', to: '0.73.1' },
};

export const piAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['PI_*'],
  idleByDefault: true,
  reportsCost: true,
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? found : null;
  },
  command({ brief, executable, model, resume }) {
    return {
      file: executable ?? CLI.name,
      args: [
        ...['--mode', 'json', '--print'],
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--session', resume]),
      ],
      env: { PI_SKIP_VERSION_CHECK: '1' },
      stdin: brief,
      // On SIGINT it leaves its shells behind.
      stopSignals: ['SIGTERM', 'SIGINT'],
    };
  },
  createParser: createPiParser,
};
