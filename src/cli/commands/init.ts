import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DetectedAgent, detectAgents, isChosenByItself } from '../../agents/registry.ts';
import { loadConfig, PROJECT_CONFIG_NAMES } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { ensureExcluded } from '../../git/exclude.ts';
import { openRepository, type Repository } from '../../git/repository.ts';
import { resolveHome } from '../../home.ts';
import { isOnboarded, type OnboardingReport, writeOnboarding } from '../../loops/beads/files/onboarding.ts';
import { setupChoice } from '../../operations/setup-choice.ts';
import { sanitizeLine } from '../../terminal/text.ts';
import { recordTrust } from '../../trust.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import type { Output } from '../output.ts';
import {
  findChecks,
  findMissingPrograms,
  findMissingSetup,
  type MissingSetup,
  type ProjectCheck,
} from '../project-checks.ts';
import { createCliGit } from '../repository-here.ts';
import { findTooling } from '../tooling.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const repository = await openRepository(createCliGit(environment), cwd);
  const { root } = repository;
  const present = await existingConfig(root);
  if (present && !input.has('force')) {
    await assertOwnFolder(root);
    if (!(await isOnboarded(root)))
      return await refresh({ repository, config: present, output, environment });
    throw new PulseError('invalid_input', `${join(root, present)} is there already.`, {
      hint: 'Edit it, or replace it with: pulse init --force',
    });
  }
  const agents = (await detectAgents(environment)).filter(({ name }) => isChosenByItself(name));
  const usable = agents.find(({ isSupported, detection }) => isSupported && detection.available);
  const checks = await findChecks(root);
  const setup = await findMissingSetup(root);
  const detected = setup ? [] : await setupChoice(root, undefined);
  const name = present ?? PROJECT_CONFIG_NAMES[0]!;
  const path = join(root, name);
  await writeOwnFile(root, { path, text: configText({ agent: usable, checks, setup, detected }) });
  const { project: written } = await loadConfig(root, environment);
  if (written) await recordTrust(resolveHome(environment), repository, { file: written, actor: actor() });
  await ensureExcluded(root);
  const { written: files, left } = await onboard(repository, { agents, environment });

  if (output.isJson) {
    const verify = checks.map(({ command }) => command);
    const chosen = { agent: usable?.name ?? null, verify, setup: setup ? [setup.command] : null };
    output.json({ path, ...chosen, written: files });
    return 0;
  }
  output.data(`Wrote ${path}`);
  for (const { command, from } of checks) output.talk(`  verify  ${command}  (${from})`);
  if (checks.length === 0) output.talk('  verify  none found: add one, or a completion stays unverified');
  if (setup) output.talk(`  setup   ${setup.command}  (${setup.reason})`);
  for (const command of detected) output.talk(`  setup   ${command}  (by the lockfile)`);
  const commands = [...detected, ...checks.map(({ command }) => command)];
  for (const { program, by } of findMissingPrograms(root, commands, environment))
    output.talk(`  missing ${program} is not on the PATH, and ${by} needs it`);
  output.talk(
    `  agent   ${usable ? usable.name : 'none found; once one is installed it is taken by itself'}`,
  );
  for (const { name, detection } of agents) {
    if (name !== usable?.name && detection.path)
      output.talk(`          ${name}: ${detection.hint ?? detection.path}`);
  }
  sayFiles(output, { written: files, left });
  const next = usable
    ? 'pulse start "…"'
    : 'install an agent, or pulse start "…" --command "./your-agent.sh"';
  output.talk(`\nNext: ${next}`);
  return 0;
}

/** The config is there, and stays as it is: only what workers need is missing, or of another version of Pulse. */
async function refresh({
  repository,
  config,
  output,
  environment,
}: {
  repository: Repository;
  config: string;
  output: Output;
  environment: NodeJS.ProcessEnv;
}): Promise<number> {
  const { root } = repository;
  await ensureExcluded(root);
  const agents = await detectAgents(environment);
  const report = await onboard(repository, { agents, environment });
  const path = join(root, config);
  if (output.isJson) {
    output.json({ path, written: report.written });
    return 0;
  }
  output.data(`Kept ${path}, and brought up to date what workers need.`);
  sayFiles(output, report);
  output.talk('\nTo replace the config: pulse init --force');
  return 0;
}

async function onboard(
  { root }: Repository,
  { agents, environment }: { agents: readonly DetectedAgent[]; environment: NodeJS.ProcessEnv },
): Promise<OnboardingReport> {
  const found = await findTooling(root, { agents, environment });
  return await writeOnboarding(root, { at: new Date().toISOString(), found });
}

function sayFiles(output: Output, { written, left }: OnboardingReport): void {
  for (const path of written) output.talk(`  wrote   ${path}`);
  for (const { path, reason } of left) output.talk(`  left    ${path}: ${sanitizeLine(reason)}`);
}

async function existingConfig(root: string): Promise<string | null> {
  for (const name of PROJECT_CONFIG_NAMES) {
    if (await entryAt(join(root, name))) return name;
  }
  return null;
}

/** What is there; a symlink is not followed. */
function entryAt(path: string): Promise<Stats | null> {
  return lstat(path).catch(() => null);
}

/** A clone may bring symlinks: nothing is written through one, and what is replaced is the link itself. */
async function writeOwnFile(root: string, { path, text }: { path: string; text: string }): Promise<void> {
  await assertOwnFolder(root);
  await mkdir(join(root, '.pulse'), { recursive: true });
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

async function assertOwnFolder(root: string): Promise<void> {
  const folder = join(root, '.pulse');
  const there = await entryAt(folder);
  if (there === null || there.isDirectory()) return;
  throw new PulseError('path_outside', `${folder} is no folder of the repository: nothing was written.`, {
    hint: 'Remove it (`ls -l` shows where it leads), then run pulse init again.',
  });
}

function configText({
  agent,
  checks,
  setup,
  detected,
}: {
  agent: DetectedAgent | undefined;
  checks: readonly ProjectCheck[];
  setup: MissingSetup | null;
  detected: readonly string[];
}): string {
  const verify =
    checks.length > 0
      ? ['verify:', ...checks.map(({ command }) => `  - ${JSON.stringify(command)}`)]
      : ['# verify:', '#   - npm test'];
  return `${[
    '# Pulse: settings of this project. `pulse config` shows what holds and why; command line options win over these.',
    '',
    '# Who works. `command` runs any agent your shell can start: brief on stdin, message on stdout.',
    agent ? `agent: ${agent.name}` : '# agent: claude',
    '# command: ./my-agent.sh',
    '',
    '# What must pass, run by Pulse itself, before "done" is believed.',
    ...verify,
    '',
    '# What prepares a fresh worktree; without it Pulse goes by the lockfile.',
    ...(setup
      ? ['setup:', `  - ${JSON.stringify(setup.command)}`]
      : ['# setup:', ...(detected.length > 0 ? detected : ['npm ci']).map((command) => `#   - ${command}`)]),
    '',
    '# Limits, with their defaults. A session that reaches one stops and asks.',
    '# maxIterations: 10',
    '# budgetUsd: 10          # or none',
    '# budgetTokens: 2000000',
    '# timeLimit: 8h',
    '# iterationTimeout: 60m',
    '# idleTimeout: 10m',
    '',
    '# Environment variables the agent may see besides the usual ones.',
    '# env:',
    '#   pass: [DATABASE_URL]',
  ].join('\n')}\n`;
}
