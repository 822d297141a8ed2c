/** A workflow's plan: what a person approves. All violations are listed at once (docs/protocol/workflow.md, Plan). */
import * as z from 'zod';
import { PulseError } from '../../domain/errors.ts';
import { isStorable, NOT_STORABLE } from '../../domain/storable.ts';
import { checkSchema, PULSE_ID, RUNS_PER_PULSE } from './model.ts';

const text = (max: number) =>
  z.string().trim().min(1, 'must say something').max(max).refine(isStorable, NOT_STORABLE);

const plannedPulseSchema = z.strictObject({
  id: z.string().regex(PULSE_ID, 'must match ^[a-z0-9][a-z0-9._-]{0,40}$'),
  title: text(200),
  description: text(64 * 1024),
  expectedChanges: z.array(text(1000)).max(1000).optional(),
  dependsOn: z.array(z.string()).max(100).optional(),
  /** Its task is to change tests, or what defines the checks. */
  changesChecks: z.boolean().optional(),
});
export type PlannedPulse = z.infer<typeof plannedPulseSchema>;

export const planSchema = z
  .strictObject({
    title: text(500),
    base: text(1000).optional(),
    branch: text(1000).optional(),
    approach: text(64 * 1024).optional(),
    pulses: z.array(plannedPulseSchema).min(1, 'a plan needs a pulse').max(200),
    verify: z.array(checkSchema).max(50).optional(),
    preflight: z.array(text(10_000)).max(50).optional(),
  })
  .superRefine(({ pulses }, context) => {
    for (const message of pulseViolations(pulses)) {
      context.addIssue({ code: 'custom', path: ['pulses'], message });
    }
  });
export type Plan = z.infer<typeof planSchema>;

/** A draft's pulses are not known yet, nor is what reviews will ask for. */
const FEWEST_PULSES = 10;

/** So many runs a plan may take, and preflight. */
export function iterationsFor({ pulses }: Plan): number {
  return Math.max(pulses.length, FEWEST_PULSES) * RUNS_PER_PULSE + 1;
}

/** Throws `invalid_plan` with every violation. `value` is what YAML or JSON gave. */
export function parsePlan(value: unknown): Plan {
  const parsed = planSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  // What is between pulses is looked at only once each of them is sound: here it is told with the rest.
  const between = pulseViolations(readablePulses(value)).map((message) => `pulses: ${message}`);
  const violations = [...new Set([...faults, ...between])];
  throw new PulseError('invalid_plan', `The plan has ${violations.length} fault(s).`, {
    hint: violations.join('\n'),
    data: { violations },
  });
}

/** As much of them as can be compared. */
function readablePulses(value: unknown): Pick<PlannedPulse, 'id' | 'dependsOn'>[] {
  const given = (value as { pulses?: unknown } | null)?.pulses;
  const readable = z.object({ id: z.string(), dependsOn: z.array(z.string()).optional().catch(undefined) });
  return (Array.isArray(given) ? given : []).flatMap((pulse) => readable.safeParse(pulse).data ?? []);
}

function formatPath(path: readonly PropertyKey[]): string {
  return (
    path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
      .join('')
      .replace(/^\./, '') || 'plan'
  );
}

function pulseViolations(pulses: readonly Pick<PlannedPulse, 'id' | 'dependsOn'>[]): string[] {
  const ids = new Set<string>();
  const found: string[] = [];
  for (const { id } of pulses) {
    if (ids.has(id)) found.push(`the id "${id}" is given twice`);
    ids.add(id);
  }
  for (const { id, dependsOn = [] } of pulses) {
    for (const needed of dependsOn) {
      if (needed === id) found.push(`"${id}" depends on itself`);
      else if (!ids.has(needed)) found.push(`"${id}" depends on "${needed}", which does not exist`);
    }
  }
  return found.length > 0 ? found : circleOf(pulses);
}

/** Takes away what depends on nothing that is left; what remains goes in a circle. */
function circleOf(pulses: readonly Pick<PlannedPulse, 'id' | 'dependsOn'>[]): string[] {
  let left = [...pulses];
  for (;;) {
    const ids = new Set(left.map(({ id }) => id));
    const blocked = left.filter(({ dependsOn = [] }) => dependsOn.some((id) => ids.has(id)));
    if (blocked.length === 0) return [];
    if (blocked.length === left.length) {
      return [`${left.map(({ id }) => `"${id}"`).join(', ')} depend on each other in a circle`];
    }
    left = blocked;
  }
}
