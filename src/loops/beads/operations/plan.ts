/** Having beads drafted: a session whose end is a file. */
import { randomBytes } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { PulseError } from '../../../domain/errors.ts';
import type { Operations } from '../../../operations/context.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import { openTrustedProject } from '../../../operations/project.ts';
import { type Started, startSession } from '../../../operations/start.ts';
import { getSession, type Session } from '../../../store/sessions.ts';
import { slug } from '../graph/bead.ts';
import { type BeadDraft, writeDraft } from '../plan/draft.ts';
import { draftCommands } from '../plan/draft-commands.ts';
import { BEAD_PLAN } from '../plan/kind.ts';
import { findPlan, insertPlan } from '../plan/rows.ts';
import type * as definitions from './definitions.ts';

type PlanInput = InputOf<typeof definitions.plan.fields> & CallerOptions;

const MOST_RUNS = 10;

export async function startPlan(operations: Operations, input: PlanInput): Promise<Started> {
  const { goal, out, within, ...start } = input;
  const project = await openTrustedProject(operations, input);
  const { root, projectKey: projectId } = project.repository;
  if (project.config.values.labels.length > 0)
    throw new PulseError('invalid_config', 'Beads are drafted beside the runner: that takes no labels yet.', {
      hint: 'Take `labels` out of the config for this repository.',
    });
  const file = out === undefined ? usualFile(goal) : await freeFile(root, out);
  return startSession(
    operations,
    { ...start, kind: BEAD_PLAN, goal: goal.trim(), verify: [], maxIterations: MOST_RUNS },
    {
      project,
      hasOwnChecks: true,
      async within(db, sessionId) {
        await insertPlan(db, { session_id: sessionId, project_id: projectId, file });
        await within?.(db, sessionId);
      },
    },
  );
}

function usualFile(goal: string): string {
  const name = slug(goal.trim().split('\n')[0]!).slice(0, 40).replace(/-+$/, '');
  return join('.pulse', 'plans', `${name}-${randomBytes(3).toString('hex')}.yaml`);
}

/** From the top of the repository. Refused where something is there, so that nobody finds out after an hour. */
async function freeFile(root: string, out: string): Promise<string> {
  const top = await realpath(root);
  const path = relative(top, isAbsolute(out) ? out : resolve(top, out));
  const [first, second] = path.split(sep);
  // What else lies in .pulse says how Pulse works here.
  const isOurs = first === '.git' || (first === '.pulse' && second !== 'plans');
  if (path === '' || isAbsolute(path) || path.split(sep).includes('..') || isOurs)
    throw new PulseError('path_outside', `${out.slice(0, 200)} is no place for it in this repository.`, {
      hint: `Name a file below ${top}, outside of .git and .pulse.`,
    });
  if (!/\.ya?ml$/i.test(path))
    throw new PulseError('invalid_input', `${out.slice(0, 200)} should end in .yaml.`, {
      hint: 'An import knows the form of a file by its ending.',
    });
  const found = await lstat(join(top, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    if (error.code === 'ENOTDIR') throw new PulseError('invalid_input', `${path} lies below a file.`);
    throw error;
  });
  if (!found) return path;
  throw new PulseError('invalid_input', `${path} is there already.`, {
    hint: 'Name another file with --out, or take this one away first.',
  });
}

export interface PlanView {
  session: Session;
  /** From the top of the repository; `null`: it is not written yet. */
  file: string | null;
  draft: BeadDraft | null;
  /** Every command that the beads would have Pulse run. */
  commands: { bead: string; command: string }[];
  /** What the file holds, as it was written. */
  content: string | null;
}

export async function readPlan(
  { engine: { store }, redactor }: Pick<Operations, 'engine' | 'redactor'>,
  id: string,
): Promise<PlanView> {
  const { session, plan } = await store.read(async (db) => {
    const found = await getSession(db, id);
    return { session: found, plan: await findPlan(db, found.id) };
  });
  if (!plan)
    throw new PulseError(
      'invalid_input',
      `Session ${session.id} drafts no beads: it is of kind ${session.kind}.`,
      {
        hint: 'pulse help bead says how to start one that does.',
      },
    );
  const { draft, file, written_at: writtenAt } = plan;
  return redactor.redactJson({
    session,
    file: writtenAt === null ? null : file,
    draft,
    commands: draft ? draftCommands(draft) : [],
    content: draft && writeDraft(draft),
  });
}
