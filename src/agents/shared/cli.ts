/** Adapters of agents that are a program: how Pulse finds it and reads its version. */
import { existsSync, realpathSync } from 'node:fs';
import { findExecutable, type SpawnError } from '../../process/executable.ts';
import { runProcess } from '../../process/run.ts';
import type { AgentAdapter, AgentDetection } from '../contract.ts';

const VERSION_TIMEOUT_MS = 10_000;

export interface Cli {
  /** The agent's name, and its program's. */
  name: string;
  /** How to get it. */
  install: string;
  /** The versions that Pulse's tests run against, oldest and newest. */
  tested: { from: string; to: string };
  /** A sentence on what may fail with another version. */
  doubt?: string;
}

type Found = 'name' | 'idleByDefault' | 'detect' | 'locate';

export function createCliAdapter(
  cli: Cli,
  {
    findProgram = () => [],
    ...own
  }: Omit<AgentAdapter, Found> & {
    /** Where the program itself may be, given the script that npm installed. Default: the script is started. */
    findProgram?(script: string): string[];
  },
): AgentAdapter {
  return {
    name: cli.name,
    idleByDefault: true,
    detect: (environment) => detectCli(cli, environment),
    locate(environment) {
      const found = locateCli(cli, environment);
      return typeof found === 'string' ? programBehind(found, findProgram) : null;
    },
    ...own,
  };
}

/** A script that waits for the program leaves it behind when it is killed: so the program is started directly. */
function programBehind(path: string, findProgram: (script: string) => string[]): string {
  try {
    return findProgram(realpathSync(path)).find((program) => existsSync(program)) ?? path;
  } catch {
    return path; // an unexpected layout: started as the user starts it
  }
}

/** `PULSE_AGENT_<NAME>_BIN` wins over the PATH. */
function locateCli({ name }: Pick<Cli, 'name'>, env: NodeJS.ProcessEnv): string | SpawnError {
  const file = env[binVariable(name)] || name;
  return findExecutable({ file, cwd: process.cwd(), path: env.PATH });
}

/** Never throws. A version outside of the tested range is usable, and the hint says so. */
async function detectCli(cli: Cli, env: NodeJS.ProcessEnv): Promise<AgentDetection> {
  const { tested } = cli;
  const found = locateCli(cli, env);
  if (typeof found !== 'string') {
    const why = env[binVariable(cli.name)] ? `${binVariable(cli.name)}: ${found.message}.` : 'Not found.';
    const hint = `${why} Install it with: ${cli.install}`;
    return { available: false, path: null, version: null, tested, hint };
  }
  const version = await readVersion(found, env);
  return { available: true, path: found, version, tested, hint: doubtAbout(version, cli) };
}

async function readVersion(
  file: string,
  { PATH = '', HOME = '' }: NodeJS.ProcessEnv,
): Promise<string | null> {
  const { stdout } = await runProcess({
    runId: null,
    file,
    args: ['--version'],
    cwd: '/',
    env: { PATH, HOME },
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  return /\d+\.\d+\.\d+[\w.-]*/.exec(stdout)?.[0] ?? null;
}

function doubtAbout(version: string | null, { name, tested, doubt }: Cli): string | null {
  const { from, to } = tested;
  const versions = from === to ? to : `${from} to ${to}`;
  const range = `Pulse is tested with ${name} ${versions}.${doubt === undefined ? '' : ` ${doubt}`}`;
  if (version === null) return `Its version could not be read. ${range}`;
  if (compareVersions(version, tested.from) < 0) return `Older than what is tested. ${range}`;
  return compareVersions(version, tested.to) > 0 ? `Newer than what is tested. ${range}` : null;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) =>
    version.split(/[.-]/).map((part) => Number.parseInt(part, 10)),
  );
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] || 0) - (right?.[at] || 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function binVariable(name: string): string {
  return `PULSE_AGENT_${name.toUpperCase()}_BIN`;
}
