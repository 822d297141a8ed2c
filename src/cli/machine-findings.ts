/** What `pulse doctor` looks at. Each finding stands alone: one that fails is told and the next is looked at. */

import { existsSync } from 'node:fs';
import { access, constants, readdir, rm, stat, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import type { AgentDetection } from '../agents/contract.ts';
import { detectAgents, isChosenByItself } from '../agents/registry.ts';
import { loadConfig } from '../config.ts';
import { asPulseError } from '../domain/errors.ts';
import { type Home, resolveHome } from '../home.ts';
import { commandOf } from '../operations/check-choices.ts';
import { setupChoice } from '../operations/setup-choice.ts';
import { cleanupGuarantee } from '../process/guarantee.ts';
import { databaseHolders } from '../process/lock-holders.ts';
import { sandboxState } from '../process/sandbox-state.ts';

import { createPulse } from '../pulse.ts';
import { trustOf } from '../trust.ts';
import { embedderFindings } from './embedder-findings.ts';
import { findMissingPrograms, findMissingSetup } from './project-checks.ts';
import { protectedFindings } from './protected-findings.ts';
import { createCliGit, openHere } from './repository-here.ts';
import { findOrphans } from './session-runner.ts';

export interface Finding {
  /** `absent`: not there, and nothing is wrong with that. */
  level: 'ok' | 'warn' | 'bad' | 'absent';
  subject: string;
  text: string;
  hint?: string;
}

export interface Examination {
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** Delete kept refs that are old. */
  collects: boolean;
  /** Checks to look at instead of the config's. */
  verify: readonly string[];
}

export async function* findings(examination: Examination): AsyncGenerator<Finding> {
  const { environment } = examination;
  const home = resolveHome(environment);
  yield { level: 'ok', subject: 'Node.js', text: process.versions.node };
  yield await git(examination);
  yield { level: 'ok', subject: 'SQLite', text: process.versions.sqlite ?? 'of Node.js' };
  yield* stateDirectory(home);
  yield* store(examination, home);
  yield* projectConfig(examination, home);
  yield* project(examination);
  yield* protectedFindings(examination);
  yield* agents(environment);
  yield* embedderFindings(environment);
  yield cleanup();
  yield await sandbox(environment);
  yield* sockets(home);
  if (examination.collects) yield await collect(examination);
}

const OLDEST_GIT = [2, 30];
/** `git hook run`, and merging without a checkout. */
const OLDEST_FOR_WORKFLOWS = [2, 38];

async function git({ environment, cwd }: Examination): Promise<Finding> {
  const subject = 'git';
  try {
    const text = await createCliGit(environment).text(['--version'], { cwd });
    const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
    const isOlder = ([wantedMajor, wantedMinor]: number[]): boolean =>
      major < wantedMajor! || (major === wantedMajor && minor < wantedMinor!);
    const version = text.replace('git version ', '');
    if (isOlder(OLDEST_GIT))
      return { level: 'bad', subject, text: version, hint: `Install git ${OLDEST_GIT.join('.')} or newer.` };
    if (isOlder(OLDEST_FOR_WORKFLOWS))
      return {
        level: 'warn',
        subject,
        text: version,
        hint: `Workflows need git ${OLDEST_FOR_WORKFLOWS.join('.')} or newer.`,
      };
    return { level: 'ok', subject, text: version };
  } catch (error) {
    return {
      level: 'bad',
      subject,
      text: asPulseError(error).message,
      hint: 'Install git from https://git-scm.com.',
    };
  }
}

const LOW_DISK_BYTES = 1024 ** 3;

async function* stateDirectory({ path, database, worktrees }: Home): AsyncGenerator<Finding> {
  let nearest = path;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  const isWritable = await access(nearest, constants.W_OK).then(
    () => true,
    () => false,
  );
  const size = await stat(database).then(
    ({ size: bytes }) => `, database ${formatBytes(bytes)}`,
    () => ', no sessions yet',
  );
  const held = await countBelow(worktrees);
  const text = `${path}${size}${held > 0 ? `, ${held} ${held === 1 ? 'worktree' : 'worktrees'}` : ''}`;
  if (!isWritable) {
    yield {
      level: 'bad',
      subject: 'state',
      text: `${path} cannot be written`,
      hint: 'Set PULSE_HOME to a folder you may write to.',
    };
    return;
  }
  yield { level: 'ok', subject: 'state', text };
  const { bavail, bsize } = await statfs(nearest);
  const free = bavail * bsize;
  const isLow = free < LOW_DISK_BYTES;
  yield {
    level: isLow ? 'warn' : 'ok',
    subject: 'disk',
    text: `${formatBytes(free)} free`,
    ...(isLow ? { hint: 'Worktrees and builds need room: free some space.' } : {}),
  };
}

async function countBelow(worktrees: string): Promise<number> {
  const projects = await readdir(worktrees).catch(() => [] as string[]);
  const counts = await Promise.all(
    projects.map((name) =>
      readdir(join(worktrees, name)).then(
        (names) => names.length,
        () => 0,
      ),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

async function* store({ environment }: Examination, { database }: Home): AsyncGenerator<Finding> {
  const subject = 'sessions';
  for (const { pid, command } of databaseHolders(database)) {
    yield { level: 'ok', subject: 'writer', text: `process ${pid} is writing to the database (${command})` };
  }
  try {
    await using pulse = await createPulse({ environment });
    const orphans = await findOrphans(pulse);
    if (orphans.length === 0) yield { level: 'ok', subject, text: 'none is without a runner' };
    for (const { id } of orphans) {
      yield {
        level: 'warn',
        subject,
        text: `${id} is running (no runner)`,
        hint: `pulse resume ${id} continues it, pulse abort ${id} ends it.`,
      };
    }
  } catch (error) {
    const { message, hint } = asPulseError(error);
    yield { level: 'bad', subject, text: message, hint };
  }
}

/** The repository's own settings here, if it has some: whether they hold. */
async function* projectConfig({ environment, cwd }: Examination, home: Home): AsyncGenerator<Finding> {
  const subject = 'config';
  try {
    const repository = await openHere(cwd, environment);
    const { project } = await loadConfig(repository?.root ?? null, environment);
    if (!repository || !project) return;
    const trust = await trustOf(home, repository, project);
    yield trust === 'untrusted'
      ? {
          level: 'warn',
          subject,
          text: `${project.path} is not trusted: no session starts with it`,
          hint: 'Read it, then: pulse trust',
        }
      : { level: 'ok', subject, text: `${project.path}${trust === 'trusted' ? ', trusted' : ''}` };
  } catch (error) {
    const { message, hint } = asPulseError(error);
    yield { level: 'bad', subject, text: message, hint };
  }
}

/** What the project one stands in needs and has not. */
async function* project({ environment, cwd }: Examination): AsyncGenerator<Finding> {
  const subject = 'project';
  const repository = await openHere(cwd, environment);
  if (!repository) return;
  const { root } = repository;
  try {
    const { values } = await loadConfig(root, environment);
    const missing = values.setup ? null : await findMissingSetup(root);
    if (missing) {
      const hint = `Set \`setup: ["${missing.command}"]\` in .pulse/config.yaml, or commit a lockfile.`;
      yield { level: 'warn', subject, text: missing.reason, hint };
    }
    const commands = [...(await setupChoice(root, values.setup)), ...values.verify.map(commandOf)];
    const programs = findMissingPrograms(root, commands, environment);
    for (const { program, by } of programs)
      yield { level: 'warn', subject, text: `${program} is not on the PATH`, hint: `${by} needs it.` };
    if (!missing && programs.length === 0)
      yield { level: 'ok', subject, text: `${root}: the programs of its checks and its setup are there` };
  } catch (error) {
    const { message, hint } = asPulseError(error);
    yield { level: 'warn', subject, text: message, hint };
  }
}

async function* agents(environment: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  const detected = await detectAgents(environment);
  const installed = detected.filter(
    ({ name, detection }) => detection.path !== null && !BUILT_IN.includes(name),
  );
  const usable = installed.filter(
    ({ name, isSupported, detection }) => isChosenByItself(name) && isSupported && detection.available,
  );
  for (const { name, isSupported, detection } of installed) {
    if (!isChosenByItself(name)) {
      yield {
        level: 'absent',
        subject: 'agent',
        text: `${name}, with --command CMD: the program to talk to`,
      };
      continue;
    }
    const isUsable = isSupported && detection.available;
    const text = `${name}${detection.version ? ` ${detection.version}` : ''} (${detection.path})${testedWith(detection)}`;
    yield {
      level: isUsable ? 'ok' : 'warn',
      subject: 'agent',
      text,
      ...(detection.hint ? { hint: detection.hint } : {}),
    };
  }
  for (const { name, detection } of detected) {
    if (detection.path !== null || BUILT_IN.includes(name)) continue;
    const text = `${name}${testedWith(detection)}. ${detection.hint ?? 'Not found.'}`;
    yield { level: 'absent', subject: 'agent', text };
  }
  if (usable.length > 0) return;
  yield {
    level: 'warn',
    subject: 'agent',
    text: 'no coding agent was found that this version can run by name',
    hint: '--command CMD runs any agent that your shell can start; --agent demo needs nothing.',
  };
}

/** They need nothing to be installed. */
const BUILT_IN = ['command', 'demo', 'replay'];

function testedWith({ tested }: AgentDetection): string {
  if (!tested) return '';
  return `, tested with ${tested.from === tested.to ? tested.to : `${tested.from} to ${tested.to}`}`;
}

function cleanup(): Finding {
  const { means, sentence } = cleanupGuarantee();
  return { level: means[0] === 'cgroup' ? 'ok' : 'warn', subject: 'clean-up', text: sentence };
}

async function sandbox({ PATH }: NodeJS.ProcessEnv): Promise<Finding> {
  const state = await sandboxState(PATH);
  const subject = 'sandbox';
  if (state.works)
    return state.note === null
      ? { level: 'ok', subject, text: `works (${state.bwrap}); --sandbox on encloses a session` }
      : { level: 'warn', subject, text: `works (${state.bwrap}), with less to rely on`, hint: state.note };
  return { level: 'warn', subject, text: state.message, hint: state.hint };
}

/** Left by processes that were killed; the next ring would remove them as well. */
async function* sockets({ sockets: directory }: Home): AsyncGenerator<Finding> {
  const names = (await readdir(directory).catch(() => [] as string[])).filter((name) =>
    name.endsWith('.sock'),
  );
  const stale: string[] = [];
  for (const name of names) if (await isDeaf(join(directory, name))) stale.push(name);
  for (const name of stale) await rm(join(directory, name), { force: true });
  const text = stale.length === 0 ? 'none is stale' : `removed ${stale.length} that nobody listened on`;
  yield { level: 'ok', subject: 'sockets', text };
}

function isDeaf(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

async function collect({ environment, cwd }: Examination): Promise<Finding> {
  const subject = 'gc';
  const repository = await openHere(cwd, environment);
  if (!repository) return { level: 'warn', subject, text: 'not in a repository: nothing collected' };
  try {
    await using pulse = await createPulse({ environment });
    const { expired, attempts } = await pulse.collect(repository.root);
    const { packed, retired, closed, removed } = await pulse.retire();
    const text =
      `deleted ${expired.length} kept refs and folders older than 30 days, ${attempts.length} of attempts that are over; ` +
      `packed ${packed.length} sessions, removed logs and recordings of ${retired.length}, worktrees of ${closed.length}, ` +
      `${removed.length} folders that were left`;
    return { level: 'ok', subject, text };
  } catch (error) {
    const { message, hint } = asPulseError(error);
    return { level: 'bad', subject, text: `nothing collected: ${message}`, hint };
  }
}

function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
