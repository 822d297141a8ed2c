/** OpenAI's Codex: `codex exec --json`. Settings for a run are flags; the user's files stay untouched. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardScript } from '../shared/guard-hook.ts';
import { findCodexLog } from './log.ts';
import { createCodexParser } from './stream.ts';

const CLI: Cli = {
  name: 'codex',
  install: 'npm install -g @openai/codex',
  tested: { from: '0.166.0', to: '0.166.0' },
  // Another version may hash hooks differently, and then it runs without the guard.
  doubt: 'Another version may pass over the guard, which is trusted by its hash (docs/agents.md).',
};

const GUARD_FILE = 'guard.sh';
/**
 * codex runs only hooks that are trusted by their hash. `--dangerously-bypass-hook-trust` would also run the hooks of the
 * repository, so Pulse trusts these two hooks only. The file's path is a variable: otherwise each run would have another
 * hash. `hooks/list` of `codex app-server` shows key and hash.
 */
const ASK = 'hooks=[{type="command",command="bash \\"$PULSE_GUARD\\"",timeout=10}]';
const GUARD_HOOK = `[{matcher="^(Bash|apply_patch)$",${ASK}}]`;
/** After a call: what is new to the agent. */
const NEWS_HOOK = `[{${ASK}}]`;
const TRUSTED = {
  pre_tool_use: 'sha256:d9f488910af038946a2c670ad375db8353355cb6ee9991621f688dfdb7e9095f',
  post_tool_use: 'sha256:ff2d337007342ba1d5442b39d1b3e4de96ff769ba2dcd7406e0038cc4762ddb7',
};
const SETTINGS = ['config.toml', 'AGENTS.md', 'prompts', 'skills', 'rules', 'installation_id'];

export const codexAdapter = createCliAdapter(CLI, {
  environment: ['OPENAI_*', 'CODEX_*'],
  speaksMcp: true,
  // Only where the model is known and has a price.
  cost: 'priced',
  findProgram,
  sandboxPaths({ home, environment }) {
    const own = environment.CODEX_HOME || join(home, '.codex');
    return {
      read: SETTINGS.map((name) => join(own, name)),
      write: [join(own, 'auth.json'), `${join(own, 'sessions')}/`],
    };
  },
  logFile: findCodexLog,
  command({ brief, executable, model, resume, tools, directory }) {
    const args = [
      ...['exec', '--json', '--skip-git-repo-check'],
      '--dangerously-bypass-approvals-and-sandbox', // its own sandbox makes .git read-only, and there is nobody to ask
      ...settings({
        'features.plugins': 'false', // codex fetches them from the net, and waits five seconds for them at the end
        check_for_update_on_startup: 'false',
        'hooks.PreToolUse': GUARD_HOOK,
        'hooks.PostToolUse': NEWS_HOOK,
        'hooks.state': trustedHooks(),
        'mcp_servers.pulse.url': JSON.stringify(`${tools.url}/mcp`),
        // The token is in the run's environment: every user could read it in the arguments.
        'mcp_servers.pulse.bearer_token_env_var': '"PULSE_TOOLS_TOKEN"',
      }),
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : ['resume', resume]),
      '-', // the brief comes on stdin
    ];
    return {
      file: executable ?? CLI.name,
      args,
      env: { PULSE_GUARD: join(directory, GUARD_FILE) },
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: { [GUARD_FILE]: guardScript(tools, CLI.name) },
    };
  },
  createParser: createCodexParser,
});

function trustedHooks(): string {
  const entries = Object.entries(TRUSTED).map(
    ([event, hash]) => `"/<session-flags>/config.toml:${event}:0:0"={trusted_hash="${hash}"}`,
  );
  return `{${entries.join(',')}}`;
}

function settings(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** npm's `codex` is a script that starts the program itself; on an older Node.js as a child, which outlives it. */
function findProgram(script: string): string[] {
  if (!script.endsWith('/bin/codex.js')) return [];
  const own = dirname(dirname(script));
  const name = `codex-${process.platform}-${process.arch}`;
  const vendors = [join(own, 'node_modules/@openai', name), join(dirname(own), name), own].map((folder) =>
    join(folder, 'vendor'),
  );
  return vendors
    .filter((vendor) => existsSync(vendor))
    .flatMap((vendor) => readdirSync(vendor).map((triple) => join(vendor, triple, 'bin/codex')));
}
