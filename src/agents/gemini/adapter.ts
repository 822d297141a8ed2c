/** Google's Gemini CLI: `gemini --output-format stream-json`. */
import { join } from 'node:path';
import { type Cli, createCliAdapter } from '../shared/cli.ts';
import { guardScript } from '../shared/guard-hook.ts';
import { findGeminiLog } from './log.ts';
import { createGeminiParser } from './stream.ts';

const CLI: Cli = {
  name: 'gemini',
  install: 'npm install -g @google/gemini-cli',
  tested: { from: '0.61.0', to: '0.61.0' },
};

const SETTINGS = [
  ...['settings.json', '.env', 'GEMINI.md', 'extensions', 'commands', 'policies', 'skills', 'agents'],
  ...['google_accounts.json', 'installation_id', 'trustedFolders.json'],
];
const HOOKS_FILE = 'hooks.json';
const GUARD_FILE = 'guard.sh';
const EXTENSION_FILE = 'gemini-extension.json';

/**
 * gemini takes a tool server only from its settings (from system-wide ones only if root owns them). So the run gets a
 * folder of settings with a link to each entry of the user's, and one more extension. What gemini creates there is lost
 * after the run; its sessions lie in the user's folder, so that they can be resumed.
 */
const WITH_EXTENSION = `
own=\${GEMINI_CLI_HOME:-$HOME} run=$1
shift
mkdir -p "$own/.gemini/tmp" "$run/.gemini/extensions/pulse-tools/hooks"
ln -s "$run/${EXTENSION_FILE}" "$run/.gemini/extensions/pulse-tools/"
ln -s "$run/${HOOKS_FILE}" "$run/.gemini/extensions/pulse-tools/hooks/"
for entry in "$own"/.gemini/* "$own"/.gemini/.[!.]* "$own"/.gemini/extensions/* "$own/.env"; do
  there=$run/\${entry#"$own/"}
  [ -e "$entry" ] && [ ! -e "$there" ] && ln -s "$entry" "$there"
done
export GEMINI_CLI_HOME="$run"
exec "$@"`;

export const geminiAdapter = createCliAdapter(CLI, {
  environment: ['GEMINI_*', 'GOOGLE_*'],
  speaksMcp: true,
  // Only where the model has a price.
  cost: 'priced',
  sandboxPaths({ home, environment }) {
    const own = environment.GEMINI_CLI_HOME || home;
    return {
      // `tmp` has its sessions, and a program of its own.
      read: [
        join(own, '.env'),
        ...SETTINGS.map((name) => join(own, '.gemini', name)),
        `${join(own, '.gemini/tmp/bin')}/`,
      ],
      write: [join(own, '.gemini/oauth_creds.json'), `${join(own, '.gemini/tmp')}/`],
    };
  },
  logFile: findGeminiLog,
  command({ brief, executable, model, resume, tools, directory }) {
    const gemini = [
      ...[executable ?? CLI.name, '--output-format', 'stream-json'],
      '--yolo', // there is nobody to ask, and without it gemini offers no tools that change anything
      ...(model === null ? [] : ['--model', model]),
      ...(resume === null ? [] : ['--resume', resume]),
    ];
    const pulse = { httpUrl: `${tools.url}/mcp`, headers: { Authorization: `Bearer ${tools.token}` } };
    const extension = { name: 'pulse-tools', version: '1.0.0', mcpServers: { pulse } };
    const hook = { name: 'pulse-guard', type: 'command', command: `bash '${join(directory, GUARD_FILE)}'` };
    const guard = { matcher: 'run_shell_command|write_file|replace', hooks: [{ ...hook, timeout: 10_000 }] };
    return {
      file: '/bin/sh',
      args: ['-c', WITH_EXTENSION, 'sh', directory, ...gemini],
      env: {
        // Otherwise the process only starts another one, and ignores signals.
        GEMINI_CLI_NO_RELAUNCH: 'true',
        // gemini does not start in a folder that is not trusted.
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
      stdin: brief,
      stopSignals: ['SIGINT', 'SIGTERM'],
      files: {
        [EXTENSION_FILE]: JSON.stringify(extension),
        [HOOKS_FILE]: JSON.stringify({ hooks: { BeforeTool: [guard] } }),
        [GUARD_FILE]: guardScript(tools, CLI.name),
      },
    };
  },
  createParser: createGeminiParser,
});
