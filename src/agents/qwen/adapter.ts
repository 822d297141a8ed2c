/** Qwen Code. It prints the same lines as claude, but reports a refused call as a success. */
import { join } from 'node:path';
import { createClaudeParser, type Dialect } from '../claude/stream.ts';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardScript } from '../shared/guard-hook.ts';
import { qwenRefusal } from './failure.ts';

const CLI: Cli = {
  name: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  tested: { from: '0.15.10', to: '0.15.10' },
};

const DIALECT: Dialect = { refusalOf: qwenRefusal, hidesFailures: true, hasWholeUsage: true };
const SETTINGS = [
  ...['settings.json', '.env', 'QWEN.md', 'extensions', 'commands', 'skills', 'agents', 'installation_id'],
];
const DEFAULTS_FILE = 'defaults.json';
const GUARD_FILE = 'guard.sh';
const MCP_FILE = 'mcp.json';
/**
 * By default qwen retries a rate limit for ten minutes in silence, and by then the idle limit ends the run. With this it
 * retries for about one minute; after that Pulse waits.
 */
const IMPATIENT = { generationConfig: { maxRetries: 0 } };

export const qwenAdapter = createCliAdapter(CLI, {
  environment: ['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*'],
  speaksMcp: true,
  // Only where the model has a price.
  cost: 'priced',
  sandboxPaths({ home }) {
    const own = join(home, '.qwen');
    return {
      read: [join(home, '.env'), ...SETTINGS.map((name) => join(own, name)), `${join(own, 'tmp/bin')}/`],
      write: [join(own, 'oauth_creds.json'), `${join(own, 'projects')}/`, `${join(own, 'tmp')}/`],
    };
  },
  command({ brief, executable, model, resume, tools, directory }) {
    const mcp = {
      httpUrl: `${tools.url}/mcp`,
      headers: { Authorization: `Bearer ${tools.token}` },
      trust: true,
    };
    const hook = { name: 'pulse-guard', type: 'command', command: `bash '${join(directory, GUARD_FILE)}'` };
    const guard = { matcher: 'run_shell_command|write_file|edit', hooks: [{ ...hook, timeout: 10_000 }] };
    return {
      file: executable ?? CLI.name,
      args: [
        ...['--output-format', 'stream-json', '--yolo'],
        ...['--mcp-config', join(directory, MCP_FILE)],
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--resume', resume]),
      ],
      // Defaults only: the user's own settings still win.
      env: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: join(directory, DEFAULTS_FILE) },
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: {
        [MCP_FILE]: JSON.stringify({ mcpServers: { pulse: mcp } }),
        [DEFAULTS_FILE]: JSON.stringify({ hooks: { PreToolUse: [guard] }, model: IMPATIENT }),
        [GUARD_FILE]: guardScript(tools, CLI.name),
      },
    };
  },
  createParser: (options) => createClaudeParser(options, DIALECT),
});
