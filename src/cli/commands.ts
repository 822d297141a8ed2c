/** Every command of this version. Help, parsing and completion all read this one table. */

import { CONTEXT_COMMANDS } from '../context/cli/commands.ts';
import { COORDINATION_COMMANDS } from '../coordination/cli/commands.ts';
import { CHANNELS } from '../domain/channels.ts';
import { LOOP_COMMANDS } from '../loops/commands.ts';
import * as session from '../operations/session/definitions.ts';
import { AFTER_COMMANDS } from './after-commands.ts';
import { BY_ITSELF_COMMANDS } from './by-itself-commands.ts';
import type { CommandSpec } from './command-spec.ts';
import { describeCommand } from './operation-command.ts';
import { DETACH, SESSION } from './session-options.ts';

const resumed = describeCommand(session.resume);

export const COMMANDS: readonly CommandSpec[] = [
  ...LOOP_COMMANDS,
  {
    ...resumed,
    group: 'Run',
    details:
      'The config is read again; what is given here wins over it, as what was given at the start does. Limits are ' +
      'totals. After a limit was reached it needs a higher one.',
    options: [...resumed.options!, DETACH],
    examples: [
      'pulse resume last --answer "Use bcrypt."',
      'pulse resume 3f2c --max-iterations 20',
      'pulse resume last --setup "npm install"',
    ],
    load: () => import('./commands/resume.ts'),
  },
  {
    ...describeCommand(session.note),
    group: 'Run',
    summary: 'Tell a session something without stopping it.',
    details:
      'The next brief quotes it, once. A running agent gets it with the next answer of one of the tools of Pulse, if it ' +
      'uses them. With --answer it is the reply to what a stopped session asked, and the session continues.',
    examples: ['pulse note last "Leave the public API as it is."', 'pulse note 3f2c "Port 8080." --answer'],
    load: () => import('./commands/note.ts'),
  },
  {
    ...describeCommand(session.accept),
    group: 'Run',
    details: 'For a session that is blocked with checks_changed. pulse checks ID shows what was changed.',
    options: [DETACH],
    examples: ['pulse accept last'],
    load: () => import('./commands/accept.ts'),
  },
  {
    ...describeCommand(session.reject),
    group: 'Run',
    details: 'For a session that is blocked with checks_changed. It counts as a rejected completion.',
    options: [DETACH],
    examples: ['pulse reject last "Keep the old snapshot; the header must not change."'],
    load: () => import('./commands/reject.ts'),
  },
  {
    name: 'serve',
    group: 'Run',
    summary: 'Open the HTTP API and run the sessions that are started on it.',
    details:
      'It continues the sessions that the last `pulse serve` of this state directory ran. When it is asked to stop, it ' +
      'ends their agents and gives the sessions back; they stay running for the next start.\n' +
      'Every change, and beyond loopback every request, needs the token, which is in the file `token` of the state directory.',
    options: [
      { name: 'port', value: 'integer', placeholder: 'N', help: 'Listen on this port (3002).' },
      { name: 'host', value: 'text', placeholder: 'ADDRESS', help: 'Listen on this address (127.0.0.1).' },
      { name: 'adopt', help: 'Continue every session of this machine that nobody runs.' },
    ],
    examples: ['pulse serve', 'pulse serve --port 4000 --adopt'],
    load: () => import('./commands/serve.ts'),
  },
  {
    name: 'open',
    group: 'Look',
    summary: 'Open the page of `pulse serve`, or a session on it, in a browser.',
    details:
      'Prints a link that signs one device in, once, within ten minutes, and opens it where there is a screen. The device ' +
      'gets a key of its own, which can be taken back.',
    arguments: [{ ...SESSION, isOptional: true }],
    options: [
      { name: 'read', help: 'The device may look and change nothing.' },
      { name: 'devices', help: 'List the devices that have a key.' },
      { name: 'revoke', value: 'text', placeholder: 'DEVICE', help: 'Take the key of this device back.' },
    ],
    examples: ['pulse open', 'pulse open last', 'pulse open --read'],
    isPersonOnly: true,
    load: () => import('./commands/open.ts'),
  },
  {
    name: 'daemon',
    group: 'Run',
    summary: 'Run attempts of sessions that are driven elsewhere.',
    details:
      'For a fleet: all hosts share one PostgreSQL (PULSE_DATABASE_URL) and a git remote. A session whose config has ' +
      '`labels` is worked on by daemons that have all of them, in their own clones; results come back by the remote.\n' +
      'When it is asked to stop, it ends its agents and gives their attempts back.',
    options: [
      {
        name: 'labels',
        value: 'text',
        placeholder: 'A,B',
        help: 'What this daemon has: it takes attempts that ask for nothing else.',
      },
      { name: 'concurrency', value: 'integer', placeholder: 'N', help: 'Attempts at once (1).' },
    ],
    examples: ['pulse daemon --labels linux,gpu'],
    load: () => import('./commands/daemon.ts'),
  },
  {
    ...describeCommand(session.showChecks),
    group: 'Look',
    examples: ['pulse checks last'],
    load: () => import('./commands/checks.ts'),
  },
  {
    name: 'status',
    group: 'Look',
    summary: 'Show one session, or all: what needs you, what failed, what runs, what is done.',
    arguments: [{ ...SESSION, isOptional: true }],
    examples: ['pulse status', 'pulse status last'],
    load: () => import('./commands/status.ts'),
  },
  {
    ...describeCommand(session.list),
    group: 'Look',
    examples: ['pulse list --status blocked'],
    load: () => import('./commands/list.ts'),
  },
  {
    name: 'watch',
    group: 'Look',
    summary: 'Follow a session without touching it. Without an ID: all of them, on one screen.',
    details:
      'Ctrl-C stops watching; the session continues. Without an ID at a terminal: every session, what needs you first; ' +
      'answer, pause, abort and look at changes and evidence by a key (? shows them). Elsewhere the newest that runs is followed.',
    arguments: [{ ...SESSION, isOptional: true }],
    load: () => import('./commands/watch.ts'),
  },
  {
    name: 'log',
    group: 'Look',
    summary: 'Print what happened, with what the agent said.',
    arguments: [SESSION],
    options: [{ name: 'iteration', value: 'integer', placeholder: 'N', help: 'Only this iteration.' }],
    examples: ['pulse log 3f2c --iteration 2'],
    load: () => import('./commands/log.ts'),
  },
  {
    ...describeCommand(session.pause),
    group: 'Steer',
    load: () => import('./commands/pause.ts'),
  },
  {
    ...describeCommand(session.abort),
    group: 'Steer',
    load: () => import('./commands/abort.ts'),
  },
  ...AFTER_COMMANDS,
  ...BY_ITSELF_COMMANDS,
  ...CONTEXT_COMMANDS,
  ...COORDINATION_COMMANDS,
  {
    ...describeCommand(session.verify),
    group: 'Account',
    details:
      'Exit 0 when every command is fresh (same tree, same result again), 1 otherwise.\n' +
      'What names no session may be a commit, a branch or a range (main..HEAD) of the repository here: then the signed ' +
      'proofs in refs/attestations/commits are checked, without a store. They must be signed by a key of `proof.keys` in ' +
      "the base branch's config, or of --key; then their commands run in a fresh checkout (docs/proof.md).",
    arguments: [
      {
        name: 'ID',
        isSession: () => true,
        help: 'The session’s id, four or more characters of its beginning or end, or last; or a commit, branch or range.',
      },
    ],
    options: [
      {
        name: 'key',
        value: 'text',
        placeholder: 'FILE',
        isRepeated: true,
        help: 'Of a commit: believe this public key, too. May be repeated.',
      },
      {
        name: 'base',
        value: 'text',
        placeholder: 'BRANCH',
        help: 'Of a commit: the branch whose `proof.keys` count (the main branch of origin).',
      },
      {
        name: 'all',
        help: 'Of a range: run the commands of every proof again, not of the last commit alone.',
      },
      { name: 'no-run', help: 'Of a commit: check signatures and trees alone, and run nothing.' },
    ],
    examples: [
      'pulse verify last',
      'pulse verify origin/main..HEAD',
      'pulse verify HEAD --key pulse-key.pem',
    ],
    load: () => import('./commands/verify.ts'),
  },
  {
    ...describeCommand(session.exportSession),
    group: 'Account',
    options: [
      {
        name: 'format',
        value: 'text',
        placeholder: 'F',
        choices: ['json', 'md', 'html'],
        help: 'json, or md or html for a report to read (default: by the name of the file, else json).',
      },
      { name: 'output', value: 'text', placeholder: 'FILE', help: 'Write to this file instead of stdout.' },
    ],
    examples: ['pulse export 3f2c --format md', 'pulse export 3f2c --output evidence.html'],
    load: () => import('./commands/export.ts'),
  },
  {
    name: 'key',
    group: 'Account',
    summary: 'Show the public key by which others know the proofs of this installation.',
    details:
      'Who believes them adds it to `proof.keys` in .pulse/config.yaml of the base branch. The key is made when it is ' +
      'first needed; its private half never leaves the state directory (docs/proof.md). `rotate` makes another one: the ' +
      'private half of the old one is gone then, its public half is still shown.',
    arguments: [
      { name: 'ACTION', isOptional: true, choices: ['show', 'rotate'], help: 'show (default) or rotate.' },
    ],
    options: [
      { name: 'export', value: 'text', placeholder: 'FILE', help: 'Write it to a new file, as PEM.' },
    ],
    examples: ['pulse key', 'pulse key --export pulse-key.pem', 'pulse key rotate'],
    isPersonOnly: true,
    load: () => import('./commands/key.ts'),
  },
  {
    name: 'init',
    group: 'Set up',
    summary: 'Look at this repository and write .pulse/config.yaml.',
    details:
      'Also writes what workers need: .pulse/onboarding.json, .pulse/tooling-status.json, .pulse/STATE.md and ' +
      '.codex/pulse_status.mjs. All but the config is kept out of git. Where the config is there already, only what is missing or of ' +
      'another version of Pulse is written, and the config stays.',
    options: [{ name: 'force', help: 'Replace the config that is there.' }],
    isPersonOnly: true,
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'doctor',
    group: 'Set up',
    summary: 'Say what works on this machine, what is missing and how to get it.',
    options: [
      {
        name: 'verify',
        value: 'text',
        placeholder: 'CMD',
        isRepeated: true,
        help: "Say what protects this check, instead of the config's.",
      },
      { name: 'gc', help: 'Delete kept refs older than 30 days and left-over refs of attempts.' },
    ],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'config',
    group: 'Set up',
    summary: 'Show each setting, its value and where it comes from.',
    arguments: [{ name: 'NAME', isOptional: true, help: 'Only this setting.' }],
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'trust',
    group: 'Set up',
    summary: "Believe what this repository's own config says, as it is now.",
    details:
      'A config that came with a repository may name commands, variables to hand on and a wider sandbox. Its limits, ' +
      '`context`, `labels` and `proof` hold without a question; the rest is believed once you have said so, and asked for again ' +
      'when the file changes. `pulse init` trusts what it wrote; `pulse start "…" --trust` says it for one session.',
    options: [
      { name: 'yes', help: 'Do not ask.' },
      { name: 'path', value: 'text', placeholder: 'DIR', help: 'The repository (default: here).' },
    ],
    examples: ['pulse trust', 'pulse trust --yes'],
    isPersonOnly: true,
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'notify',
    group: 'Set up',
    summary: 'Try whether a service can tell you what happens, or let somebody write to Pulse.',
    details:
      'pair prints a code: who sends it to the bot as `/pair CODE` within ten minutes may write to Pulse from then on. test ' +
      'sends one message by what `notify` of the config says: to the first of `allow` (telegram, sms, discord, slack), ' +
      'or to the address (webhook, ntfy) or command that is named there (docs/notifications.md).',
    arguments: [
      { name: 'ACTION', choices: ['test', 'pair'], help: 'test or pair.' },
      { name: 'CHANNEL', choices: CHANNELS, help: `One of ${CHANNELS.join(', ')}.` },
    ],
    options: [
      {
        ...{ name: 'path', value: 'text', placeholder: 'DIR' },
        help: 'The repository (default: here; outside of one, your own config alone).',
      },
    ],
    examples: ['pulse notify test telegram', 'pulse notify pair telegram'],
    isPersonOnly: true,
    load: () => import('./commands/notify.ts'),
  },
  {
    name: 'completion',
    group: 'Set up',
    summary: 'Print a completion script for your shell.',
    arguments: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'], help: 'bash, zsh or fish.' }],
    examples: [
      'source <(pulse completion bash)',
      'pulse completion fish > ~/.config/fish/completions/pulse.fish',
    ],
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'mcp',
    group: 'Set up',
    summary: 'Serve the session tools to an assistant, over stdin and stdout (MCP).',
    details:
      'For the configuration of an MCP client, not for a terminal: docs/mcp.md shows how. Sessions started here get their ' +
      'own runner and continue when the assistant is closed.',
    examples: ['claude mcp add pulse -- pulse mcp'],
    load: () => import('./commands/mcp.ts'),
  },
  {
    name: 'signal',
    group: 'For agents',
    summary: 'Read a message on stdin and print the signal Pulse finds in it.',
    examples: ['pulse signal < message.md'],
    load: () => import('./commands/signal.ts'),
  },
  {
    name: 'tool',
    group: 'For agents',
    summary: 'Call a tool of the run in which this command is.',
    details: 'Prints {"ok": …, "output": …, "reasons": […]}; exit 0 when ok, 1 when not, 2 outside a run.',
    arguments: [
      { name: 'NAME', help: 'The tool.' },
      { name: 'JSON', isOptional: true, help: 'Its input; {} without, `-` reads stdin.' },
    ],
    examples: [`pulse tool pulse_signal '{"signal": "COMPLETE"}'`],
    load: () => import('./commands/tool.ts'),
  },
  {
    name: 'demo',
    group: 'Set up',
    summary: 'Show a whole session with a built-in agent, in a temporary folder.',
    isHidden: true,
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'session-names',
    group: 'Look',
    summary: 'Name the newest sessions, for the completion of a shell.',
    arguments: [{ name: 'KIND', isOptional: true, help: 'Only those of this loop.' }],
    isHidden: true,
    load: () => import('./commands/session-names.ts'),
  },
  {
    name: 'run-session',
    group: 'Run',
    summary: 'Drive a session in this process.',
    arguments: [SESSION],
    isHidden: true,
    load: () => import('./commands/run-session.ts'),
  },
  {
    // bin/pulse.js answers it sooner; a program with loops of its own comes here.
    name: 'supervise',
    group: 'Run',
    summary: "Keep a session's runner alive.",
    arguments: [SESSION],
    isHidden: true,
    load: () => import('./commands/supervise.ts'),
  },
];
