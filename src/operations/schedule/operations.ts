/** The operations on schedules, ready to be called. */
import * as z from 'zod';
import { type CheckedKind, readStart } from '../machine/check.ts';
import { operation } from '../operation.ts';
import { time } from '../session/view-schema.ts';
import * as definitions from './definitions.ts';
import { addSchedule, removeSchedule, viewSchedules } from './schedules.ts';

const Schedule = z
  .object({
    id: z.string(),
    host: z.string(),
    expression: z.string(),
    zone: z.string(),
    missed: z.enum(['run', 'skip']),
    operation: z.string(),
    input: z.record(z.string(), z.unknown()),
    words: z.array(z.string()),
    actor: z.string(),
    createdAt: time,
    nextAt: time.nullable().describe('null: it is over.'),
    lastAt: time.nullable(),
    lastSession: z.string().nullable(),
    lastError: z.string().nullable(),
    missedCount: z.int(),
    missedAt: time.nullable(),
  })
  .meta({ id: 'Schedule' });

const Added = z.object({
  schedule: Schedule,
  note: z.string().nullable().describe('What will stand in its way: an agent that is not installed.'),
});

export const scheduleOperations = {
  add: operation(definitions.addSchedule, {
    run: (operations, input) => addSchedule(operations, input),
    view: Added,
  }),
  plan: operation(definitions.planStart, {
    run: async (operations, { kind, input, ...planned }) => {
      const start = readStart(kind, input);
      return addSchedule(operations, { ...planned, ...start, words: wordsOf(kind, input) });
    },
    view: Added,
  }),
  list: operation(definitions.listSchedules, {
    run: async (operations, { all }) => ({ schedules: await viewSchedules(operations, { all }) }),
    view: z.object({ schedules: z.array(Schedule) }),
  }),
  remove: operation(definitions.removeSchedule, {
    run: (operations, { scheduleId, keep }) => removeSchedule(operations, { scheduleId, keep }),
    view: z.object({ schedule: Schedule }),
  }),
};

/** As it would be written on the command line, for people who read the list. */
function wordsOf(kind: CheckedKind, { goal, plan, research, epic }: Record<string, unknown>): string[] {
  const named = (what: unknown, name: string): string =>
    String((what as Record<string, unknown> | undefined)?.[name] ?? '');
  switch (kind) {
    case 'goal':
      return ['start', String(goal)];
    case 'workflow':
      return plan === undefined
        ? ['workflow', 'plan', String(goal)]
        : ['workflow', 'start', named(plan, 'title')];
    case 'research':
      return ['research', 'start', named(research, 'goal')];
    default:
      return ['swarm', 'start', '--epic', String(epic)];
  }
}
