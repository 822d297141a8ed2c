/** Claude Code: `claude -p` with its stream of JSON lines. */
import { join } from 'node:path';
import type { RunTools } from '../contract.ts';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { mcpConfig } from './mcp-config.ts';
import { createClaudeParser, WITHHELD_TOOLS } from './stream.ts';

const CLI: Cli = {
  name: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  tested: { from: '2.1.325', to: '2.1.325' },
};

const MCP_FILE = 'mcp.json';
const SETTINGS_FILE = 'settings.json';
const SETTINGS = [
  ...['settings.json', 'CLAUDE.md', 'rules', 'agents', 'commands', 'skills', 'plugins', 'hooks'],
  ...['output-styles', 'remote-settings.json', 'policy-limits.json'],
];

/**
 * claude asks Pulse's guard by HTTP: starting a process for each call would take longer than most calls. After each call
 * it takes what is new to it.
 */
function pulseHooks({ url, token }: RunTools) {
  const headers = { Authorization: `Bearer ${token}` };
  const hook = { type: 'http', url: `${url}/guard/claude`, headers, timeout: 10 };
  return {
    PreToolUse: [{ matcher: 'Bash|Write|Edit|MultiEdit|NotebookEdit', hooks: [hook] }],
    PostToolUse: [{ matcher: '*', hooks: [hook] }],
  };
}

export const claudeAdapter = createCliAdapter(CLI, {
  environment: ['ANTHROPIC_*', 'CLAUDE_*', 'IS_SANDBOX', 'DISABLE_*'],
  environmentFor(base) {
    const isElsewhere = Object.keys(base).some((name) => name.startsWith('CLAUDE_CODE_USE_') && base[name]);
    return isElsewhere ? ['AWS_*', 'GOOGLE_*', 'VERTEX_*'] : [];
  },
  speaksMcp: true,
  cost: 'reported',
  sandboxPaths({ home, environment, worktree }) {
    const own = environment.CLAUDE_CONFIG_DIR || join(home, '.claude');
    // The run must not read the transcripts of other projects.
    const transcripts = join(own, 'projects', worktree.replace(/[^A-Za-z0-9]/g, '-'));
    return {
      read: [
        environment.CLAUDE_CONFIG_DIR ? join(own, '.claude.json') : join(home, '.claude.json'),
        ...SETTINGS.map((name) => join(own, name)),
      ],
      write: [join(own, '.credentials.json'), `${transcripts}/`],
    };
  },
  command({ brief, executable, model, resume, tools, directory, ownMcp = false }) {
    const args = [
      ...['-p', '--output-format', 'stream-json', '--verbose'],
      '--include-partial-messages', // the cost of each call, and a sign of life while a long answer streams
      '--dangerously-skip-permissions', // there is nobody to ask
      ...['--mcp-config', join(directory, MCP_FILE)],
      ...(ownMcp ? [] : ['--strict-mcp-config']), // servers of the user's own may wait for a login, or for somebody to ask
      ...['--settings', join(directory, SETTINGS_FILE)], // beside the user's own
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : ['--resume', resume]),
    ];
    return {
      file: executable ?? CLI.name,
      args,
      env: {
        CLAUDE_CODE_MAX_RETRIES: '3', // claude's default of ten takes minutes; Pulse retries by itself
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // A background task would wake claude up after its result, but Pulse ends the run, and the task, then.
        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
        // Without it claude refuses to run as root.
        ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
      },
      stdin: brief,
      // On SIGTERM claude leaves its shells running and prints nothing; on SIGINT it ends them and reports what it spent.
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: {
        [MCP_FILE]: JSON.stringify(mcpConfig(tools)),
        [SETTINGS_FILE]: JSON.stringify({ hooks: pulseHooks(tools), permissions: { deny: WITHHELD_TOOLS } }),
      },
    };
  },
  createParser: createClaudeParser,
});
