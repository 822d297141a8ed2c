/** A start that is tried and undone: everything is checked as it would be, and nothing is created. */
import * as z from 'zod';
import { asPulseError, isPulseError, PulseError } from '../../domain/errors.ts';
import { notIncludedPaths } from '../../git/repository.ts';
import { swarmOperations } from '../../loops/beads/operations/swarm-operations.ts';
import { goalOperations } from '../../loops/goal/operations/operations.ts';
import { researchOperations } from '../../loops/research/operations/operations.ts';
import { workflowOperations } from '../../loops/workflow/operations/operations.ts';
import { readEvents } from '../../store/events.ts';
import { getSession, type Session } from '../../store/sessions.ts';
import type { Operations } from '../context.ts';
import { fieldSchema } from '../field-schema.ts';
import { type Field, fieldsOn, wireName } from '../fields.ts';
import type { AnyOperation } from '../operation.ts';

export const CHECKED_KINDS = ['goal', 'workflow', 'research', 'swarm'] as const;
export type CheckedKind = (typeof CHECKED_KINDS)[number];

const STARTS: Record<CheckedKind, AnyOperation> = {
  goal: goalOperations.start,
  workflow: workflowOperations.start,
  research: researchOperations.start,
  swarm: swarmOperations.start,
};

export interface Violation {
  path: string;
  code: string;
  message: string;
  hint: string | null;
}

export interface CheckView {
  isStartable: boolean;
  violations: Violation[];
  /** What the session would not see. */
  dirty: { count: number; files: string[] };
  isUnverified: boolean;
  isCostUnknown: boolean;
  agent: string | null;
  base: { name: string | null; commit: string } | null;
  verify: string[];
  limits: {
    maxIterations: number | null;
    budgetUsd: number | null;
    budgetTokens: number | null;
    timeLimitMs: number | null;
  };
}

const NOTHING: Omit<CheckView, 'violations'> = {
  ...{ isStartable: false, dirty: { count: 0, files: [] }, isUnverified: false, isCostUnknown: false },
  ...{ agent: null, base: null, verify: [] },
  limits: { maxIterations: null, budgetUsd: null, budgetTokens: null, timeLimitMs: null },
};

export async function checkStart(
  operations: Operations,
  { kind, input }: { kind: CheckedKind; input: Record<string, unknown> },
): Promise<CheckView> {
  const start = STARTS[kind];
  const read = readInput(start, input);
  if ('violations' in read) return { ...NOTHING, violations: read.violations };
  try {
    const tried = await tryStart(operations, start, read.input);
    return operations.redactor.redactJson(await viewTried(operations, kind, tried));
  } catch (error) {
    if (!isPulseError(error)) throw error;
    const { code, message, hint } = asPulseError(error);
    const violation = { path: '', code, message, hint: hint ?? null };
    return operations.redactor.redactJson({ ...NOTHING, violations: [violation] });
  }
}

/** The body of a start, as the operation takes it. Throws `invalid_input` with every violation. */
export function readStart(
  kind: CheckedKind,
  given: Record<string, unknown>,
): { operation: string; input: Record<string, unknown> } {
  const read = readInput(STARTS[kind], given);
  if ('violations' in read) {
    throw new PulseError('invalid_input', `The ${kind} cannot be started so.`, {
      data: { in: 'body', violations: read.violations },
    });
  }
  return { operation: STARTS[kind].name, input: read.input };
}

/** The body of the start as HTTP would read it: every violation at once. */
function readInput(
  { fields, schemas, check }: AnyOperation,
  given: Record<string, unknown>,
): { input: Record<string, unknown> } | { violations: Violation[] } {
  const known = fieldsOn(fields, 'http') as [string, Field][];
  const shape = known.map(([key, field]) => [
    wireName(key, field),
    fieldSchema(field, 'body', schemas?.[key]),
  ]);
  const read = z.strictObject(Object.fromEntries(shape)).safeParse(given);
  if (!read.success)
    return {
      violations: read.error.issues.map(({ path, code, message }) => ({
        ...{ path: path.join('.'), code, message, hint: null },
      })),
    };
  const named = known.map(([key, field]) => [key, read.data[wireName(key, field)]] as const);
  const input = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const violations: Violation[] = [];
  check?.(input, (field, message) =>
    violations.push({ path: String(field), code: 'custom', message, hint: null }),
  );
  return violations.length > 0 ? { violations } : { input };
}

interface Tried {
  session: Session;
  isCostUnknown: boolean;
}

/** Undoes the transaction of the start, once all was written that it would write. */
class Undone extends Error {
  override readonly name = 'Undone';
}

async function tryStart(
  operations: Operations,
  start: AnyOperation,
  input: Record<string, unknown>,
): Promise<Tried> {
  let tried: Tried | null = null;
  try {
    await start.run(operations, {
      ...{ ...input, actor: 'check', createdBy: 'api' },
      async within(db: Parameters<typeof getSession>[0], sessionId: string) {
        const [created] = await readEvents(db, sessionId, { limit: 1 });
        tried = {
          session: await getSession(db, sessionId),
          isCostUnknown: created?.data.costUnknown === true,
        };
        throw new Undone();
      },
    });
  } catch (error) {
    if (tried && isUndone(error)) return tried;
    throw error;
  }
  throw new PulseError('internal_error', 'The start was not asked before it ended.');
}

function isUndone(error: unknown): boolean {
  return error instanceof Undone || (error instanceof Error && error.cause instanceof Undone);
}

async function viewTried({ git }: Operations, kind: CheckedKind, tried: Tried): Promise<CheckView> {
  const { session, isCostUnknown } = tried;
  const { count, paths: files } = await notIncludedPaths(git, session.project_path, 100);
  return {
    ...{ isStartable: true, violations: [], dirty: { count, files }, isCostUnknown },
    isUnverified: kind === 'goal' && session.verify.length === 0,
    agent: session.agent,
    base: { name: session.base_branch, commit: session.base_sha },
    verify: session.verify,
    limits: {
      maxIterations: session.max_iterations,
      budgetUsd: session.budget_usd,
      budgetTokens: session.budget_tokens,
      timeLimitMs: session.time_limit_ms,
    },
  };
}
