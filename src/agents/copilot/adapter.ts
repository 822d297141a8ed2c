/** GitHub Copilot CLI: `copilot --output-format json`. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardScript } from '../shared/guard-hook.ts';
import { createCopilotParser } from './stream.ts';

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
const SPANS_FILE = 'spans.jsonl';
const SPANS_VARIABLE = 'COPILOT_OTEL_FILE_EXPORTER_PATH';
const GUARD_FILE = 'guard.sh';

/** The run's folder is a plugin that brings the guard. A hook removes the data folder that copilot makes for a plugin. */
function pluginFiles(directory: string) {
  const ask = { type: 'command', bash: `bash '${join(directory, GUARD_FILE)}'`, timeoutSec: 10 };
  const tidy = { type: 'command', bash: 'rmdir "$COPILOT_PLUGIN_DATA"', timeoutSec: 5 };
  const hooks = { preToolUse: [{ ...ask, matcher: 'bash|create|edit|apply_patch' }], sessionEnd: [tidy] };
  return {
    'plugin.json': JSON.stringify({ name: 'pulse-guard', version: '1.0.0', hooks: 'hooks.json' }),
    'hooks.json': JSON.stringify({ version: 1, hooks }),
  };
}

/**
 * copilot's stream names the session only at the end, so Pulse chooses the id and prints it as the first line. copilot
 * writes its usage to a file when it exits; the script prints that file as the last line.
 */
const WITH_USAGE = `
usage=$1
printf '{"type":"pulse.session","sessionId":"%s"}\\n' "$2"
shift 2
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

export const copilotAdapter = createCliAdapter(CLI, {
  // Not GH_TOKEN and GITHUB_TOKEN: they give access to more than this agent.
  environment: ['COPILOT_*', 'GH_HOST'],
  speaksMcp: true,
  // Only where the model has a price.
  cost: 'priced',
  findProgram,
  // Its spans: one for each model call, written when the call's tools have ended.
  logFile: (_, { [SPANS_VARIABLE]: spans }) => (spans && existsSync(spans) ? spans : null),
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
    const session = resume ?? makeSessionId(directory);
    const copilot = [
      ...[executable ?? CLI.name, '--output-format', 'json'],
      ...['--allow-all', '--no-ask-user'], // there is nobody to ask
      ...['--additional-mcp-config', `@${join(directory, MCP_FILE)}`],
      ...(model === null ? [] : ['--model', model]),
      ...['--plugin-dir', directory],
      resume === null ? `--session-id=${session}` : `--resume=${session}`,
    ];
    return {
      file: '/bin/sh',
      args: ['-c', WITH_USAGE, 'sh', join(directory, USAGE_FILE), session, ...copilot],
      env: { COPILOT_AUTO_UPDATE: 'false', [SPANS_VARIABLE]: join(directory, SPANS_FILE) },
      stdin: brief,
      stopSignals: ['SIGTERM'],
      files: {
        [MCP_FILE]: JSON.stringify({ mcpServers: { pulse } }),
        [GUARD_FILE]: guardScript(tools, CLI.name),
        ...pluginFiles(directory),
      },
    };
  },
  createParser: createCopilotParser,
});

/** copilot demands a UUID. Each run has its own folder, so the id is unique. */
function makeSessionId(directory: string): string {
  const hash = createHash('sha256').update(directory).digest('hex');
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `4${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join('-');
}

/** npm's `copilot` is a script that waits for the program itself, which outlives it when it is killed. */
function findProgram(script: string): string[] {
  if (!script.endsWith('/copilot/npm-loader.js')) return [];
  const own = dirname(script);
  const platforms = process.platform === 'linux' ? ['linux', 'linuxmusl'] : [process.platform];
  return [join(own, 'node_modules/@github'), dirname(own)].flatMap((folder) =>
    platforms.map((platform) => join(folder, `copilot-${platform}-${process.arch}/copilot`)),
  );
}
