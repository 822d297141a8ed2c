/** What is started by itself: written down by a person, done by the `serve` of this host. */
import { chooseAgent, findAdapter } from '../../agents/registry.ts';
import { isPulseError, isStoreAway, PulseError } from '../../domain/errors.ts';
import { uuidv7 } from '../../domain/ids.ts';
import { countTimes, parseWhen, timeAfter } from '../../domain/schedule/when.ts';
import { assertZone, localZone } from '../../domain/schedule/zone.ts';
import { TERMINAL_STATUSES } from '../../domain/status.ts';
import {
  type DueSchedule,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  type MissedPolicy,
  nextScheduleMs,
  type Schedule,
  takeDueSchedule,
  turnSchedule,
} from '../../store/schedules.ts';
import { findSession } from '../../store/sessions.ts';
import type { Operations, TransactionHook } from '../context.ts';
import { type AnswerHook, changeProject } from '../project-change.ts';

/** The operations that start a session. */
const STARTS = ['start', 'workflow start', 'research start', 'swarm start'] as const;

export interface AddedSchedule {
  when: string;
  zone?: string;
  missed?: MissedPolicy;
  operation: string;
  input: unknown;
  words?: string[];
  actor: string;
  keep?: AnswerHook;
}

const LEASE_MS = 60_000;
const LOOK_EVERY_MS = 30_000;
/** One that is later than this was missed: nobody was there. */
const LATE_MS = 120_000;
/** The name of the bell. */
const SCHEDULES = 'schedules';
const MAX_INPUT_BYTES = 1024 * 1024;

export interface Added {
  schedule: Schedule;
  /** What will stand in its way, as far as that can be told now. */
  note: string | null;
}

/** Throws `usage` for an agent that there is none of: nobody is there to hear of it when the time has come. */
export async function addSchedule(operations: Operations, added: AddedSchedule): Promise<Added> {
  const { clock, ids, host, bell } = operations.engine;
  const { when, zone = localZone(), operation, input, words = [], actor } = added;
  assertZone(zone);
  if (!(STARTS as readonly string[]).includes(operation)) {
    throw new PulseError('invalid_input', `"${operation}" is nothing that can be planned.`, {
      hint: `One of ${STARTS.join(', ')}.`,
    });
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new PulseError('invalid_input', 'What is to be started is no object.');
  if (JSON.stringify(input).length > MAX_INPUT_BYTES)
    throw new PulseError('too_large', 'What is to be started is too long: at most 1 MB fits.');
  const note = await agentNote(operations, input as Record<string, unknown>);
  const { isRepeated, firstMs } = parseWhen(when, { nowMs: clock.nowMs(), zone });
  // One that comes once and was missed is still wanted; one that comes again will come again.
  const missed = added.missed ?? (isRepeated ? 'skip' : 'run');
  const id = `sch_${uuidv7(ids)}`;
  const nextAt = new Date(firstMs).toISOString();
  const schedule = { id, host, expression: when.trim(), zone, missed, operation, words, actor, nextAt };
  const { keep } = added;
  const planned = await changeProject(operations, { label: 'schedule', keep }, async (db) => {
    await insertSchedule(db, { ...schedule, input: input as Record<string, unknown> });
    return { schedule: operations.redactor.redactJson(await findSchedule(db, id)), note };
  });
  bell.ring(SCHEDULES);
  return planned;
}

/** `null`: the agent is there, or Pulse is to choose one. One that is not there yet may be installed by then. */
async function agentNote(
  { environment }: Operations,
  { agent: wanted, command, model }: Record<string, unknown>,
): Promise<string | null> {
  if (typeof wanted !== 'string') return null;
  findAdapter(wanted);
  const told = (value: unknown) => (typeof value === 'string' ? value : null);
  try {
    const wish = { wanted, configured: null, command: told(command), model: told(model) };
    await chooseAgent({ ...wish, env: environment });
    return null;
  } catch (error) {
    if (!isPulseError(error, 'agent_unavailable')) throw error;
    return [error.message, error.hint].filter(Boolean).join(' ');
  }
}

/** So long what is over is shown, for the one who wants to know what became of it. */
const SHOWN_MS = 24 * 60 * 60 * 1000;

export async function viewSchedules(
  { engine, redactor }: Operations,
  { all = false }: { all?: boolean } = {},
): Promise<Schedule[]> {
  const schedules = await engine.store.read(listSchedules);
  const since = new Date(engine.clock.nowMs() - SHOWN_MS).toISOString();
  return redactor.redactJson(all ? schedules : schedules.filter((each) => (endedAt(each) ?? since) >= since));
}

/** `null`: it comes once more. */
function endedAt({ nextAt, createdAt, lastAt, missedAt }: Schedule): string | null {
  if (nextAt !== null) return null;
  return [createdAt, lastAt ?? '', missedAt ?? ''].toSorted().at(-1)!;
}

export async function removeSchedule(
  operations: Operations,
  { scheduleId, keep }: { scheduleId: string; keep?: AnswerHook },
): Promise<{ schedule: Schedule }> {
  const removed = await changeProject(operations, { label: 'schedule', keep }, async (db) => {
    const found = await findSchedule(db, scheduleId);
    await deleteSchedule(db, found.id);
    return { schedule: operations.redactor.redactJson(found) };
  });
  operations.engine.bell.ring(SCHEDULES);
  return removed;
}

export interface ScheduleMeans {
  signal: AbortSignal;
  say(text: string): void;
  /** Starts it and runs it; `within` belongs to the transaction that admits the session. */
  start(operation: string, input: Record<string, unknown>, within: TransactionHook): Promise<string>;
}

/** One after the other, until the signal aborts. */
export async function runSchedules(operations: Operations, means: ScheduleMeans): Promise<void> {
  const { bell, store, owner, owners, host } = operations.engine;
  const take = { host, owner, leaseMs: LEASE_MS, isGone: (other: string) => owners(other) === 'dead' };
  const { signal, say } = means;
  using listener = bell.listen(SCHEDULES);
  while (!signal.aborted) {
    try {
      const due = await store.tx('take_schedule', (db) => takeDueSchedule(db, take));
      if (due) await runDue(operations, due, means);
      else {
        const nextMs = await store.read((db) => nextScheduleMs(db, host));
        await listener.wait(Math.max(50, Math.min(nextMs ?? LOOK_EVERY_MS, LOOK_EVERY_MS)), signal);
      }
    } catch (error) {
      // The store may be away: what is due waits, and so does this.
      say(`schedules: ${error instanceof Error ? error.message : String(error)}`);
      if (!signal.aborted) await listener.wait(LOOK_EVERY_MS, signal);
    }
  }
}

async function runDue(operations: Operations, due: DueSchedule, means: ScheduleMeans): Promise<void> {
  const { store } = operations.engine;
  const { schedule, token, nowMs } = due;
  const { id, expression, zone, nextAt: dueAt } = schedule;
  const dueMs = Date.parse(dueAt!);
  const isRepeated = !/^(?:in|at)\b/i.test(expression);
  const followingMs = isRepeated ? timeAfter(expression, nowMs, zone) : null;
  const nextAt = followingMs === null ? null : new Date(followingMs).toISOString();
  const isLate = nowMs - dueMs > LATE_MS;
  const missed = isLate
    ? 1 + (isRepeated ? countTimes(expression, { fromMs: dueMs, toMs: nowMs, zone }) : 0)
    : 0;
  if (isLate) {
    const times = missed === 1 ? 'the time' : `${missed} times, the first`;
    const then = schedule.missed === 'run' ? 'it is run now, once' : 'it is not run';
    means.say(`schedule ${id}: missed ${times} at ${dueAt}; ${then}`);
  }
  if (isLate && schedule.missed === 'skip') {
    await store.tx('schedule', (db) => turnSchedule(db, { id, token }, { nextAt, missed }));
    return;
  }
  await sayStillRunning(operations, { schedule, say: means.say });
  try {
    const sessionId = await means.start(schedule.operation, schedule.input, (db, session) =>
      turnSchedule(db, { id, token }, { nextAt, sessionId: session, missed }),
    );
    means.say(`schedule ${id}: started ${sessionId}`);
  } catch (error) {
    if (isStoreAway(error)) throw error;
    const message = operations.redactor.redact(error instanceof Error ? error.message : String(error));
    means.say(`schedule ${id}: not started: ${message}`);
    // What could not be started is not tried until its next time; another process may have done so meanwhile.
    await store
      .tx('schedule', (db) =>
        turnSchedule(db, { id, token }, { nextAt, error: message.slice(0, 2_000), missed }),
      )
      .catch((failed: unknown) => means.say(`schedule ${id}: ${String(failed)}`));
  }
}

/** As cron does, the next one is started all the same: a session has a branch and a worktree of its own. */
async function sayStillRunning(
  { engine }: Operations,
  { schedule: { id, lastSession }, say }: { schedule: Schedule; say: ScheduleMeans['say'] },
): Promise<void> {
  if (lastSession === null) return;
  const last = await engine.store.read((db) => findSession(db, lastSession));
  if (last && !TERMINAL_STATUSES.includes(last.status))
    say(`schedule ${id}: ${last.id} of the last time is still ${last.status}; the next one starts beside it`);
}
