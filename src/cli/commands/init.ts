import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DetectedAgent, detectAgents, isChosenByItself } from '../../agents/registry.ts';
import { loadConfig, PROJECT_CONFIG_NAMES } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { ensureExcluded } from '../../git/exclude.ts';
import { openRepository } from '../../git/repository.ts';
import { resolveHome } from '../../home.ts';
import { recordTrust } from '../../trust.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import {
  findChecks,
  findMissingPrograms,
  findMissingSetup,
  type MissingSetup,
  type ProjectCheck,
} from '../project-checks.ts';
import { createCliGit } from '../repository-here.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const repository = await openRepository(createCliGit(environment), cwd);
  const { root } = repository;
  const present = await existingConfig(root);
  if (present && !input.has('force')) {
    throw new PulseError('invalid_input', `${join(root, present)} is there already.`, {
      hint: 'Edit it, or replace it with: pulse init --force',
    });
  }
  const agents = (await detectAgents(environment)).filter(({ name }) => isChosenByItself(name));
  const usable = agents.find(({ isSupported, detection }) => isSupported && detection.available);
  const checks = await findChecks(root);
  const setup = await findMissingSetup(root);
  const name = present ?? PROJECT_CONFIG_NAMES[0]!;
  const path = join(root, name);
  await writeOwnFile(root, { path, text: configText({ agent: usable, checks, setup }) });
  const { project: written } = await loadConfig(root, environment);
  if (written) await recordTrust(resolveHome(environment), repository, { file: written, actor: actor() });
  await ensureExcluded(root);

  if (output.isJson) {
    const verify = checks.map(({ command }) => command);
    output.json({ path, agent: usable?.name ?? null, verify, setup: setup ? [setup.command] : null });
    return 0;
  }
  output.data(`Wrote ${path}`);
  for (const { command, from } of checks) output.talk(`  verify  ${command}  (${from})`);
  if (checks.length === 0) output.talk('  verify  none found: add one, or a completion stays unverified');
  if (setup) output.talk(`  setup   ${setup.command}  (${setup.reason})`);
  const commands = checks.map(({ command }) => command);
  for (const { program, by } of findMissingPrograms(root, commands, environment))
    output.talk(`  missing ${program} is not on the PATH, and ${by} needs it`);
  output.talk(
    `  agent   ${usable ? usable.name : 'none found; once one is installed it is taken by itself'}`,
  );
  for (const { name, detection } of agents) {
    if (name !== usable?.name && detection.path)
      output.talk(`          ${name}: ${detection.hint ?? detection.path}`);
  }
  const next = usable
    ? 'pulse start "…"'
    : 'install an agent, or pulse start "…" --command "./your-agent.sh"';
  output.talk(`\nNext: ${next}`);
  return 0;
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
  const folder = join(root, '.pulse');
  const there = await entryAt(folder);
  if (there && !there.isDirectory()) {
    throw new PulseError('path_outside', `${folder} is no folder of the repository: nothing was written.`, {
      hint: 'Remove it (`ls -l` shows where it leads), then run pulse init again.',
    });
  }
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function configText({
  agent,
  checks,
  setup,
}: {
  agent: DetectedAgent | undefined;
  checks: readonly ProjectCheck[];
  setup: MissingSetup | null;
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
    ...(setup ? ['setup:', `  - ${JSON.stringify(setup.command)}`] : ['# setup:', '#   - npm ci']),
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
