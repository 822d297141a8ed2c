/** Qwen Code: it prints what claude prints, except that a refused call is a success whose text says otherwise. */
import { join } from 'node:path';
import { createClaudeParser, type Dialect } from './claude-stream.ts';
import { type Cli, detectCli, locateCli } from './cli.ts';
import type { AgentAdapter } from './contract.ts';
import { qwenRefusal } from './qwen-failure.ts';

const CLI: Cli = {
  name: 'qwen',
  install: 'npm install -g @qwen-code/qwen-code',
  tested: { from: '0.15.10', to: '0.15.10' },
};

const DIALECT: Dialect = { refusalOf: qwenRefusal, hidesFailures: true, hasWholeUsage: true };
const MCP_FILE = 'mcp.json';

export const qwenAdapter: AgentAdapter = {
  name: CLI.name,
  environment: ['QWEN_*', 'OPENAI_*', 'DASHSCOPE_*'],
  idleByDefault: true,
  // Only where the model has a price.
  reportsCost: false,
  detect: (environment) => detectCli(CLI, environment),
  locate(environment) {
    const found = locateCli(CLI, environment);
    return typeof found === 'string' ? found : null;
  },
  command({ brief, executable, model, resume, tools, directory }) {
    const mcp = {
      httpUrl: `${tools.url}/mcp`,
      headers: { Authorization: `Bearer ${tools.token}` },
      trust: true,
    };
    return {
      file: executable ?? CLI.name,
      args: [
        ...['--output-format', 'stream-json', '--yolo'],
        ...['--mcp-config', join(directory, MCP_FILE)],
        ...(model === null ? [] : ['--model', model]),
        ...(resume === null ? [] : ['--resume', resume]),
      ],
      env: {},
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: { [MCP_FILE]: JSON.stringify({ mcpServers: { pulse: mcp } }) },
    };
  },
  createParser: (options) => createClaudeParser(options, DIALECT),
};
