/** `pulse bead`: it answers at once, so it opens the store and nothing else, and loads what the action needs. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { refuseUnasked } from '../../../cli/ask-run.ts';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { refuseInsideRun } from '../../../cli/person-only.ts';
import { createCliGit } from '../../../cli/repository-here.ts';
import { findProject } from '../../../operations/named-project.ts';
import { openStoreReader } from '../../../reader.ts';
import { BEAD_ACTIONS, type BeadAction } from './command.ts';
import type { LookAction } from './look.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, environment, output, cwd } = context;
  const action = input.argument('ACTION') as BeadAction;
  if (BEAD_ACTIONS[action].access === 'person') refuseInsideRun(`bead ${action}`, environment);
  if (action === 'plan') {
    refuseInsideRun('bead plan', environment);
    return (await import('./plan.ts')).plan(context);
  }
  // The whole graph is not told there.
  if (isLook(action) && action !== 'graph' && environment.PULSE_TOOLS_URL) {
    const answered = await (await import('./ask-run.ts')).askRun(context, action);
    if (answered !== null) return answered;
  }
  refuseUnasked(`bead ${action}`, environment);
  if (action === 'draft') return (await import('./plan.ts')).showDraft(context);
  const git = createCliGit(environment);
  const project = findProject({ git }, resolve(cwd, input.text('path') ?? '.'));
  // Git looks for the project while the rest is loaded; what it says is asked for below.
  project.catch(() => undefined);
  const perform = isLook(action)
    ? (await import('./look.ts')).LOOKS[action]
    : (await import('./change.ts')).CHANGES[action];
  await using reader = await openStoreReader({ environment, onWait: output.talk });
  const { store, redactor } = reader;
  const engine = { store, ids: { nowMs: Date.now, randomBytes } };
  await perform({ beads: { engine, git, redactor }, project: await project, context });
  return 0;
}

function isLook(action: BeadAction): action is LookAction {
  return ['list', 'show', 'next', 'graph'].includes(action);
}
