import { loadConfig, type SettingName } from '../../config.ts';
import { formatDuration } from '../../domain/durations.ts';
import { PulseError } from '../../domain/errors.ts';
import { resolveHome } from '../../home.ts';
import { trustOf } from '../../trust.ts';
import type { CommandContext } from '../command-spec.ts';
import { openHere } from '../repository-here.ts';
import { nearest } from '../suggest.ts';

/** Every setting, so that a new one cannot be forgotten here. */
const SETTINGS: Record<SettingName, string> = {
  agent: 'which agent works',
  command: 'the shell command that is the agent',
  model: 'which model the agent is asked to use',
  verify: 'what must pass before "done" is believed',
  checks: 'what is protected of the checks, and what happens when it changes',
  tests: 'which files are tests',
  known: 'whether what failed on the base must pass',
  baseWait: 'how long the agent waits for the checks of the base',
  heldOut: 'checks whose files no agent sees',
  review: 'who gives a second opinion on finished work',
  setup: 'what prepares a worktree',
  maxIterations: 'iterations at most',
  budgetUsd: 'cost at most',
  budgetTokens: 'tokens at most',
  timeLimit: 'running time at most',
  iterationTimeout: 'time of one iteration at most',
  idleTimeout: 'time without a sign of life at most',
  context: 'how earlier turns reach the agent',
  completion: 'what an inferred COMPLETE does',
  git: 'whether git signs commits',
  patience: 'how long a service that is away is waited for',
  limits: 'whether usage limits are waited for',
  issues: 'whether the issue that a session came from is told of its end',
  maxAgents: 'how many agents work at once on this host',
  labels: 'daemons with all of these labels run the attempts',
  remote: 'how daemons elsewhere reach the repository',
  watchPr: 'for how many follow-ups and days serve watches a pull request',
  worktree: 'ignored files and ports that each worktree gets',
  mcp: 'whether runs have the MCP servers of your own',
  env: 'variables agents get besides the usual ones',
  fallbackAgent: "who takes over when the agent's service does not answer, or at its usage limit",
  sandbox: 'whether agents and checks are enclosed',
  sandboxRead: 'what a sandbox shows besides the usual',
  sandboxWrite: 'what may be changed in a sandbox besides the worktree',
  record: 'whether what agents print is kept',
  reads: 'whether reading over HTTP needs the token',
  prices: 'what models cost, where an agent does not say',
  proof: 'whose proofs of commits are believed',
  research: 'a commander that gets the experiments beside the built-in one',
  notify: 'who is told, and by which service',
  embedder: 'a service that places turns by what they mean',
};
const TRUST_WORDS = {
  trusted: 'trusted, as it is now',
  untrusted: 'not trusted: no session starts with it. Read it, then: pulse trust',
  unneeded: 'not needed: it sets limits alone',
} as const;
const DURATIONS: readonly SettingName[] = [
  'timeLimit',
  'iterationTimeout',
  'idleTimeout',
  'patience',
  'baseWait',
];

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const names = Object.keys(SETTINGS) as SettingName[];
  const only = input.argument('NAME');
  if (only !== undefined && !names.includes(only as SettingName)) {
    const guess = nearest(only, names);
    throw new PulseError('usage', `There is no setting "${only}".`, {
      hint: guess ? `Did you mean ${guess}?` : `Settings: ${names.join(', ')}.`,
    });
  }
  const repository = await openHere(cwd, environment);
  const root = repository?.root ?? null;
  const { values, sources, project } = await loadConfig(root, environment);
  const trust = repository && project ? await trustOf(resolveHome(environment), repository, project) : null;
  const rows = names
    .filter((name) => only === undefined || name === only)
    .map((name) => ({ name, value: values[name] ?? null, source: sources[name] ?? 'not set' }));
  if (output.isJson) {
    const settings = Object.fromEntries(rows.map(({ name, value, source }) => [name, { value, source }]));
    const file = project && { path: project.path, sha256: project.sha256, trust };
    output.json(only === undefined ? { settings, project: file } : { settings });
    return 0;
  }
  const { style } = output.stdout;
  const texts = rows.map((row) => ({ ...row, text: valueText(row.name, row.value, row.source) }));
  const width = Math.min(40, Math.max(...texts.map(({ text }) => text.length)));
  for (const { name, text, source } of texts) {
    output.data(`${style.cyan(name.padEnd(17))} ${text.padEnd(width)}  ${style.dim(source)}`);
  }
  if (only === undefined)
    output.talk(
      style.dim(
        `\nproject: ${root ? `${project?.path ?? `${root}/.pulse/config.yaml`}` : 'not in a repository'}`,
      ),
    );
  if (trust !== null)
    output.talk(style[trust === 'untrusted' ? 'yellow' : 'dim'](`trust: ${TRUST_WORDS[trust]}`));
  return 0;
}

function valueText(name: SettingName, value: unknown, source: string): string {
  if (source === 'not set') return '-';
  if (value === null) return 'none';
  if (DURATIONS.includes(name)) return formatDuration(value as number);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
