/** Claude Code: `claude -p` with its stream of JSON lines. */
import { join } from 'node:path';
import { createClaudeParser } from './claude-stream.ts';
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { mcpConfig } from './mcp-config.ts';

const CLI: Cli = {
  name: 'claude',
  install: 'npm install -g @anthropic-ai/claude-code',
  tested: { from: '2.1.197', to: '2.1.325' },
};

const MCP_FILE = 'mcp.json';

export const claudeAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['ANTHROPIC_*', 'CLAUDE_*', 'IS_SANDBOX', 'DISABLE_*'],
  environmentFor(base) {
    const isElsewhere = Object.keys(base).some((name) => name.startsWith('CLAUDE_CODE_USE_') && base[name]);
    return isElsewhere ? ['AWS_*', 'GOOGLE_*', 'VERTEX_*'] : [];
  },
  idleByDefault: true,
  reportsCost: true,
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? found : null;
  },
  command({ brief, executable, model, resume, tools, directory }) {
    const args = [
      ...['-p', '--output-format', 'stream-json', '--verbose'],
      '--include-partial-messages', // what each call cost, and a sign of life while a long answer streams
      '--dangerously-skip-permissions', // nobody is there to ask
      ...['--mcp-config', join(directory, MCP_FILE), '--strict-mcp-config'],
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : ['--resume', resume]),
    ];
    return {
      file: executable ?? CLI.name,
      args,
      env: {
        CLAUDE_CODE_MAX_RETRIES: '3', // Pulse has its own patience: ten of claude's take minutes
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        // Without it claude refuses to work for root.
        ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
      },
      stdin: brief,
      // On SIGTERM it leaves its shells behind and says nothing; on SIGINT it ends them and tells what it spent.
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: { [MCP_FILE]: JSON.stringify(mcpConfig(tools)) },
    };
  },
  createParser: createClaudeParser,
};
