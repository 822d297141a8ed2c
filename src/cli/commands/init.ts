import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DetectedAgent, detectAgents } from '../../agents/registry.ts';
import { loadConfig, PROJECT_CONFIG_NAMES } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { ensureExcluded } from '../../git/exclude.ts';
import { openRepository } from '../../git/repository.ts';
import type { CommandContext } from '../command-spec.ts';
import { findChecks, type ProjectCheck } from '../project-checks.ts';
import { createCliGit } from '../repository-here.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const { root } = await openRepository(createCliGit(environment), cwd);
  const present = await existingConfig(root);
  if (present && !input.has('force')) {
    throw new PulseError('invalid_input', `${join(root, present)} is there already.`, {
      hint: 'Edit it, or replace it with: pulse init --force',
    });
  }
  const agents = (await detectAgents(environment)).filter(
    ({ name }) => !['command', 'demo', 'replay'].includes(name),
  );
  const usable = agents.find(({ isSupported, detection }) => isSupported && detection.available);
  const checks = await findChecks(root);
  const name = present ?? PROJECT_CONFIG_NAMES[0]!;
  const path = join(root, name);
  await mkdir(join(root, '.pulse'), { recursive: true });
  await writeFile(path, configText({ agent: usable, checks }));
  await loadConfig(root, environment);
  await ensureExcluded(root);

  if (output.isJson) {
    output.json({ path, agent: usable?.name ?? null, verify: checks.map(({ command }) => command) });
    return 0;
  }
  output.data(`Wrote ${path}`);
  for (const { command, from } of checks) output.talk(`  verify  ${command}  (${from})`);
  if (checks.length === 0) output.talk('  verify  none found: add one, or a completion stays unverified');
  output.talk(
    `  agent   ${usable ? usable.name : 'none found that this version can run: use --command CMD'}`,
  );
  for (const { name, detection } of agents) {
    if (name !== usable?.name && detection.path)
      output.talk(`          ${name}: ${detection.hint ?? detection.path}`);
  }
  output.talk(`\nNext: pulse start "…"${usable ? '' : ' --command "./your-agent.sh"'}`);
  return 0;
}

async function existingConfig(root: string): Promise<string | null> {
  for (const name of PROJECT_CONFIG_NAMES) {
    const isThere = await access(join(root, name)).then(
      () => true,
      () => false,
    );
    if (isThere) return name;
  }
  return null;
}

function configText({
  agent,
  checks,
}: {
  agent: DetectedAgent | undefined;
  checks: readonly ProjectCheck[];
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
    '# setup:',
    '#   - npm ci',
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
