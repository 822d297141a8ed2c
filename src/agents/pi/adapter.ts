/** pi: `pi --mode json --print`. It has no MCP: it runs `pulse tool` in its shell, as the brief explains. */
import { join } from 'node:path';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardModule } from '../shared/guard-hook.ts';
import { createPiParser } from './stream.ts';

const CLI: Cli = {
  name: 'pi',
  install: 'npm install -g @mariozechner/pi-coding-agent',
  tested: { from: '0.73.1', to: '0.73.1' },
};

const SETTINGS = [
  ...['settings.json', 'models.json', 'AGENTS.md', 'SYSTEM.md', 'skills', 'prompts', 'extensions', 'bin'],
];

const GUARD_FILE = 'pulse-guard.js';
const EXTENSION = `export default function (pi) {
  pi.on('tool_call', async ({ toolName, toolCallId, input }) => {
    const call = { tool_name: toolName, tool_use_id: toolCallId, tool_input: input };
    const reason = await reasonAgainst(call);
    return reason ? { block: true, reason } : undefined;
  });
}
`;

export const piAdapter = createCliAdapter(CLI, {
  environment: ['PI_*'],
  cost: 'reported',
  sandboxPaths({ home, environment }) {
    const own = environment.PI_CODING_AGENT_DIR || join(home, '.pi/agent');
    return {
      read: SETTINGS.map((name) => join(own, name)),
      write: [join(own, 'auth.json'), `${join(own, 'sessions')}/`],
    };
  },
  command({ brief, executable, model, resume, tools, directory }) {
    return {
      file: executable ?? CLI.name,
      args: [
        ...['--mode', 'json', '--print'],
        ...['--extension', join(directory, GUARD_FILE)],
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--session', resume]),
      ],
      env: { PI_SKIP_VERSION_CHECK: '1' },
      stdin: brief,
      // On SIGINT it leaves its shells behind.
      stopSignals: ['SIGTERM', 'SIGINT'],
      files: { [GUARD_FILE]: `${guardModule(tools, CLI.name)}${EXTENSION}` },
    };
  },
  createParser: createPiParser,
});
