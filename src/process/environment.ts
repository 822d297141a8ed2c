/** The environment an agent gets: an allowlist, so that no secret reaches it by accident (protocol 1.6). */

/** What every run gets if the user has it. */
const ALLOWED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TZ', 'TMPDIR', 'TERM', 'CI', 'XDG_*'],
  ...['SSH_AUTH_SOCK', 'GIT_SSH_COMMAND', '*_PROXY', '*_proxy', 'NODE_EXTRA_CA_CERTS', 'JAVA_HOME', 'GOPATH'],
  ...['CARGO_HOME', 'RUSTUP_HOME', 'PYENV_ROOT', 'NVM_DIR', 'VOLTA_HOME', 'PNPM_HOME', 'VIRTUAL_ENV'],
];

/** Pulse's own: never passed on, even if a pattern matches. */
const WITHHELD = ['PULSE_HOME', 'PULSE_DATABASE_URL'];

export interface EnvironmentSources {
  base: NodeJS.ProcessEnv;
  /** The adapter's own names; `*` at the end or the beginning stands for anything. */
  own: readonly string[];
  /** `env.pass` of the config: names or patterns. */
  pass: readonly string[];
  /** Set by Pulse for this run; wins over everything. */
  add: Record<string, string>;
}

export function agentEnvironment(sources: EnvironmentSources): Record<string, string> {
  const patterns = [...ALLOWED, ...sources.own, ...sources.pass];
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(sources.base)) {
    if (value === undefined || isPulsesOwn(name)) continue;
    if (patterns.some((pattern) => matches(pattern, name))) given[name] = value;
  }
  return { ...given, ...sources.add };
}

/** The names in `base` that `given` lacks, sorted: for the error text of a command that may have needed one. */
export function withheldNames(base: NodeJS.ProcessEnv, given: Record<string, string>): string[] {
  return Object.keys(base)
    .filter((name) => base[name] !== undefined && !Object.hasOwn(given, name))
    .sort();
}

function isPulsesOwn(name: string): boolean {
  return WITHHELD.includes(name) || (name.startsWith('PULSE_') && name.endsWith('TOKEN'));
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
  if (pattern.startsWith('*')) return name.endsWith(pattern.slice(1));
  return name === pattern;
}
