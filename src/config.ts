/** Settings and where each came from: flags > environment > project > user > defaults. */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { pricesSchema } from './domain/attempt.ts';
import { MOST_BUDGET_TOKENS, MOST_ITERATIONS } from './domain/bounds.ts';
import { CHECK_POLICIES, KNOWN_FAILURES, REVEALS } from './domain/check-words.ts';
import { commanderTargetSchema } from './domain/commander.ts';
import { CONTEXT_STRATEGIES } from './domain/context-words.ts';
import { parseDuration } from './domain/durations.ts';
import { embedderSchema } from './domain/embedder.ts';
import { PulseError } from './domain/errors.ts';
import { DEFAULT_PATIENCE_MS } from './domain/failures.ts';
import { notifySchema } from './domain/notify.ts';
import { readRegularFile, readWithin } from './files/regular-file.ts';

const duration = z.string().transform((text, context) => {
  try {
    return parseDuration(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
    return z.NEVER;
  }
});
/** Nothing but a length of time, and none at all. */
const durationOrNone = z.union([z.literal([0, '0', '0s']).transform(() => 0), duration]);
const onOrOff = (isOn: boolean): 'on' | 'off' => (isOn ? 'on' : 'off');
const commands = z.array(z.string().min(1));
/** A check, and where it writes a report that says more than its output. */
const checks = z.array(
  z.union([
    z.string().min(1),
    z.strictObject({ command: z.string().min(1), report: reportPath().optional() }),
  ]),
);
const budget = z.union([z.number().positive().max(1e12), z.literal('none').transform(() => null)]);

/** An ed25519 key as one line, as `pulse key` shows it: its SPKI form always begins so. */
const publicKey = z
  .string()
  .regex(/^MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=$/, 'no public key as `pulse key` shows it');
/** Below the repository: a check writes it where it runs. */
function reportPath() {
  return z
    .string()
    .regex(/\.(?:xml|sarif)$/, 'must end in .xml (JUnit) or .sarif')
    .refine((path) => !isAbsolute(path) && !path.split('/').includes('..'), 'must lie in the repository');
}

/** Below the repository, as a folder of the checkout. */
const folderBelow = z
  .string()
  .refine((path) => !isAbsolute(path) && !path.split('/').includes('..'), 'must lie in the repository');

/** Checks whose files no agent sees. */
const heldOut = z.array(
  z.strictObject({
    from: z.string().min(1).optional(),
    to: folderBelow.optional(),
    command: z.string().min(1),
    reveal: z.enum(REVEALS).optional(),
  }),
);

/** Names of variables, each of which gets a free port. */
const portNames = z
  .array(
    z
      .string()
      .regex(/^[A-Za-z_]\w{0,63}$/, 'must be the name of a variable, such as PORT')
      .refine((name) => !RESERVED_NAME.test(name), 'is a variable with a meaning of its own'),
  )
  .max(50);
const RESERVED_NAME =
  /^(?:PATH|HOME|USER|SHELL|PWD|TMPDIR|TERM|LANG|TZ|CI|(?:PULSE|GIT|LD|LC|XDG|NODE)_.*)$/i;

/** Below the repository, and nothing of git's or Pulse's own. */
const ignoredFile = z
  .string()
  .min(1)
  .refine((path) => !isAbsolute(path) && !path.split('/').includes('..'), 'must lie in the repository')
  .refine((path) => !/^(?:\.\/)*\.(?:git|pulse)(?:\/|$)/.test(path), 'is no file of yours');

/** The file's shape. Unknown keys are refused: a typo must not be silently ignored. */
const settingsSchema = z.strictObject({
  agent: z.string().min(1).optional(),
  /** Who takes over when the agent's usage limit is reached. */
  fallbackAgent: z.string().min(1).optional(),
  command: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  verify: checks.optional(),
  /** What is protected of the checks, and what happens to a claim that changes it. */
  checks: z
    .strictObject({
      paths: z.array(z.string().min(1)).optional(),
      exclude: z.array(z.string().min(1)).optional(),
      policy: z.enum(CHECK_POLICIES).optional(),
    })
    .optional(),
  /** Which files are tests, in place of the usual names: what is protected, and what a test-first bead may change. */
  tests: z.array(z.string().min(1).max(4_096)).min(1).max(200).optional(),
  /** Whether what failed on the base must pass for a completion. */
  known: z.enum(KNOWN_FAILURES).optional(),
  /** How long the agent waits for the checks of the base; `off`: they do not run. */
  baseWait: z.union([z.literal(['off', false]).transform(() => null), duration]).optional(),
  heldOut: heldOut.optional(),
  /** Who gives a second opinion on a claim that the checks have passed. */
  review: z
    .strictObject({
      agent: z.string().min(1),
      model: z.string().min(1).optional(),
      command: z.string().min(1).optional(),
    })
    .optional(),
  setup: commands.optional(),
  maxIterations: z.int().positive().max(MOST_ITERATIONS).optional(),
  budgetUsd: budget.optional(),
  budgetTokens: z.int().positive().max(MOST_BUDGET_TOKENS).optional(),
  timeLimit: duration.optional(),
  iterationTimeout: duration.optional(),
  idleTimeout: duration.optional(),
  context: z.enum(CONTEXT_STRATEGIES).optional(),
  completion: z.strictObject({ inferred: z.enum(['confirm', 'accept']) }).optional(),
  /** Whether git signs the commits, with the key that it is configured with. */
  git: z.strictObject({ sign: z.boolean() }).optional(),
  /** How long a service that is away is waited for. */
  patience: durationOrNone.optional(),
  limits: z.strictObject({ wait: z.union([z.boolean(), z.enum(['on', 'off'])]) }).optional(),
  /** How many agents work at once on this host, over all sessions. */
  maxAgents: z.int().positive().max(1_000).optional(),
  /** What a worktree needs beside its commit: ignored files, and ports of its own. */
  worktree: z
    .strictObject({ copy: z.array(ignoredFile).max(200).optional(), ports: portNames.optional() })
    .optional(),
  /** Whether runs of an agent also have the MCP servers that the user has given it. */
  mcp: z.strictObject({ own: z.boolean() }).optional(),
  env: z.strictObject({ pass: z.array(z.string().min(1)) }).optional(),
  /** Encloses agents and checks with bubblewrap; `auto`: where that works. */
  sandbox: z.union([z.enum(['off', 'auto', 'on']), z.boolean().transform(onOrOff)]).optional(),
  sandboxRead: z.array(z.string().min(1)).optional(),
  sandboxWrite: z.array(z.string().min(1)).optional(),
  prices: pricesSchema.optional(),
  /** Whether reading over HTTP needs the token on loopback; asked of the user's own config. */
  reads: z.enum(['open', 'token']).optional(),
  labels: z.array(z.string().regex(/^[\w.:-]{1,64}$/)).optional(),
  remote: z.string().min(1).optional(),
  /** For how many follow-ups and days `serve` watches a pull request; 0: not at all. */
  watchPr: z
    .strictObject({ rounds: z.int().min(0).max(100).optional(), days: z.number().min(0).max(365).optional() })
    .optional(),
  /** Whether what agents print is kept, for transcripts and replays. */
  record: z.union([z.enum(['on', 'off']), z.boolean().transform(onOrOff)]).optional(),
  research: z.strictObject({ commander: commanderTargetSchema.optional() }).optional(),
  /** Who is told, and by which service. */
  notify: notifySchema.optional(),
  /** What becomes of the issue that a session came from. */
  issues: z.strictObject({ comment: z.boolean() }).optional(),
  /** A service that places turns by what they mean; asked of the user's own config alone. */
  embedder: embedderSchema.optional(),
  /** Whose proofs are believed; read from the base branch, never from a checkout. */
  proof: z.strictObject({ keys: z.array(publicKey).max(1_000) }).optional(),
});
export type Settings = z.infer<typeof settingsSchema>;
export type SettingName = keyof Settings;

export const DEFAULT_SETTINGS = {
  verify: [],
  checks: {},
  known: 'must-pass',
  baseWait: 60_000,
  maxIterations: 10,
  budgetUsd: 10,
  timeLimit: 8 * 60 * 60 * 1000,
  iterationTimeout: 60 * 60 * 1000,
  idleTimeout: 10 * 60 * 1000,
  context: 'prefetch',
  completion: { inferred: 'confirm' },
  git: { sign: false },
  patience: DEFAULT_PATIENCE_MS,
  limits: { wait: true },
  mcp: { own: false },
  env: { pass: [] },
  sandbox: 'off',
  sandboxRead: [],
  sandboxWrite: [],
  reads: 'open',
  labels: [],
  remote: 'origin',
  watchPr: { rounds: 3, days: 7 },
  record: 'on',
} as const satisfies Partial<Settings>;

/** Scalars only; a list belongs into a file. */
const ENVIRONMENT: Partial<Record<SettingName, string>> = {
  agent: 'PULSE_AGENT',
  command: 'PULSE_COMMAND',
  model: 'PULSE_MODEL',
  maxIterations: 'PULSE_MAX_ITERATIONS',
  budgetUsd: 'PULSE_BUDGET_USD',
  budgetTokens: 'PULSE_BUDGET_TOKENS',
  timeLimit: 'PULSE_TIME_LIMIT',
  iterationTimeout: 'PULSE_ITERATION_TIMEOUT',
  idleTimeout: 'PULSE_IDLE_TIMEOUT',
  context: 'PULSE_CONTEXT',
  maxAgents: 'PULSE_MAX_AGENTS',
  sandbox: 'PULSE_SANDBOX',
};

export interface Config {
  values: Settings & typeof DEFAULT_SETTINGS;
  /** For each value that is set: `default`, or the file or variable it came from. */
  sources: Partial<Record<SettingName, string>>;
  /** What the repository's own file says; `null` where there is none. Whether to believe it: src/trust.ts. */
  project: ProjectSettings | null;
}

export interface ProjectSettings {
  path: string;
  /** Of the very bytes that `settings` were parsed from. */
  sha256: string;
  settings: Settings;
}

const USER_CONFIG_NAMES = ['config.yaml', 'config.yml', 'config.json'];
export const PROJECT_CONFIG_NAMES = ['.pulse/config.yaml', '.pulse/config.yml', '.pulse/config.json'];

/**
 * Reads the settings that hold in `directory` (a repository's root), trusted or not. Code that acts on them uses
 * `loadTrustedConfig` instead. Throws `invalid_config` naming file and key.
 */
export async function loadConfig(directory: string | null, environment: NodeJS.ProcessEnv): Promise<Config> {
  const values: Record<string, unknown> = { ...DEFAULT_SETTINGS };
  const sources: Config['sources'] = {};
  for (const name of Object.keys(DEFAULT_SETTINGS)) sources[name as SettingName] = 'default';
  // A person may keep the own settings elsewhere; a repository's lie in the repository.
  const user = await readFirst(userConfigDirectory(environment), USER_CONFIG_NAMES, async (path) =>
    readRegularFile(await realpath(path), { maxBytes }),
  );
  const project = directory
    ? await readFirst(directory, PROJECT_CONFIG_NAMES, (path) => readWithin(directory, path, { maxBytes }))
    : null;
  if (project?.settings.embedder)
    throw invalid(project.path, [
      'embedder: belongs in your own config, because texts of all projects go there',
    ]);
  const layers: Layer[] = [
    ...[user, project].flatMap((file) => (file ? [{ settings: file.settings, source: file.path }] : [])),
    ...readEnvironment(environment),
  ];
  for (const { settings, source } of layers) {
    for (const [name, value] of Object.entries(settings)) {
      if (value === undefined) continue;
      values[name] = value;
      sources[name as SettingName] = source;
    }
  }
  return { values: values as Config['values'], sources, project };
}

function userConfigDirectory({ XDG_CONFIG_HOME, HOME }: NodeJS.ProcessEnv): string {
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'pulse');
}

interface Layer {
  settings: Settings;
  source: string;
}

/** Nobody writes more by hand. */
const maxBytes = 1024 * 1024;

async function readFirst(
  directory: string,
  names: readonly string[],
  read: (path: string) => Promise<Buffer>,
): Promise<ProjectSettings | null> {
  for (const name of names) {
    const path = join(directory, name);
    const bytes = await read(path).catch(missing);
    if (bytes === null) continue;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { path, sha256, settings: parseSettings(bytes.toString('utf8'), path) };
  }
  return null;
}

/** Of a config's text, from `source`. Throws `invalid_config`. */
export function parseSettings(text: string, source: string): Settings {
  let content: unknown;
  try {
    content = parseYaml(text) ?? {};
  } catch (error) {
    throw invalid(source, [(error as Error).message.split('\n')[0] ?? 'not YAML']);
  }
  return validate(content, source);
}

function readEnvironment(environment: NodeJS.ProcessEnv): Layer[] {
  return Object.entries(ENVIRONMENT).flatMap(([name, variable]) => {
    const text = environment[variable];
    if (!text) return [];
    const isNumber =
      ['maxIterations', 'maxAgents', 'budgetUsd', 'budgetTokens'].includes(name) && text !== 'none';
    const value = isNumber ? Number(text) : text;
    return [{ settings: validate({ [name]: value }, variable), source: variable }];
  });
}

function validate(content: unknown, source: string): Settings {
  const parsed = settingsSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw invalid(
    source,
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`),
  );
}

function invalid(source: string, problems: string[]): PulseError {
  return new PulseError(
    'invalid_config',
    `The settings in ${source} are not valid: ${problems.join('; ')}.`,
    {
      hint: '`pulse config` shows every setting, its value and where it comes from.',
      data: { source, problems },
    },
  );
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw new PulseError('invalid_config', `The settings cannot be read: ${error.message}`, { cause: error });
}
