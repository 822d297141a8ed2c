/** Work that takes longer than a request: written down when it is asked for, done by a `serve` that is there. */
import { isPulseError, PulseError } from '../domain/errors.ts';
import { uuidv7 } from '../domain/ids.ts';
import { endJob, findJob, insertJob, type Job, leaveJob, renewJob, takeJob } from '../store/jobs.ts';
import { getSession } from '../store/sessions.ts';
import type { Operations } from './context.ts';
import { type AnswerHook, changeProject } from './project-change.ts';
import { type VerifyReport, verifySession } from './verify.ts';

const LEASE_MS = 60_000;
/** Another process may have written one, or died at one. */
const LOOK_EVERY_MS = 5_000;
/** The name of the bell. */
const JOBS = 'jobs';

/** Throws `not_found` for an unknown session at once; what else may be wrong the job says. */
export async function askVerification(
  operations: Operations,
  { sessionId, keep }: { sessionId: string; keep?: AnswerHook },
): Promise<{ jobId: string }> {
  const { bell, ids } = operations.engine;
  const jobId = `job_${uuidv7(ids)}`;
  const asked = await changeProject(operations, { label: 'ask_job', keep }, async (db) => {
    const session = await getSession(db, sessionId);
    await insertJob(db, { id: jobId, kind: 'verify', sessionId: session.id });
    return { jobId };
  });
  bell.ring(JOBS);
  return asked;
}

export async function viewJob({ engine }: Operations, id: string): Promise<Job> {
  const job = await engine.store.read((db) => findJob(db, id));
  if (job) return job;
  throw new PulseError('not_found', `There is no job ${id}.`, {
    hint: 'A job is kept for seven days after its end.',
  });
}

/** One after the other, until the signal aborts. One that is broken off then is done again by the next that looks. */
export async function runJobs(
  operations: Operations,
  { signal, say }: { signal: AbortSignal; say(text: string): void },
): Promise<void> {
  const { bell, store, owner, owners } = operations.engine;
  const take = { owner, leaseMs: LEASE_MS, isGone: (other: string) => owners(other) === 'dead' };
  using listener = bell.listen(JOBS);
  const stop = (): void => bell.ring(JOBS);
  signal.addEventListener('abort', stop, { once: true });
  while (!signal.aborted) {
    try {
      const job = await store.tx('take_job', (db) => takeJob(db, take));
      if (job) await runJob(operations, job, signal);
      else await listener.wait(LOOK_EVERY_MS);
    } catch (error) {
      // The store may be away: the job waits, and so does this.
      say(`jobs: ${error instanceof Error ? error.message : String(error)}`);
      if (!signal.aborted) await listener.wait(LOOK_EVERY_MS);
    }
  }
}

async function runJob(operations: Operations, job: Job, signal: AbortSignal): Promise<void> {
  const { store, owner } = operations.engine;
  const lost = new AbortController();
  const renewal = setInterval(async () => {
    const isOurs = await store
      .tx('renew_job', (db) => renewJob(db, job.id, { owner, leaseMs: LEASE_MS }))
      .catch(() => true);
    if (!isOurs) lost.abort();
  }, LEASE_MS / 3);
  try {
    const report = await verifySession(operations, job.sessionId, AbortSignal.any([signal, lost.signal]));
    if (signal.aborted) await store.tx('leave_job', (db) => leaveJob(db, job.id, owner));
    else
      await store.tx('end_job', (db) => endJob(db, job.id, { owner, answer: answerOf(operations, report) }));
  } catch (error) {
    if (signal.aborted) await store.tx('leave_job', (db) => leaveJob(db, job.id, owner));
    else await store.tx('end_job', (db) => endJob(db, job.id, { owner, error: errorOf(operations, error) }));
  } finally {
    clearInterval(renewal);
  }
}

function answerOf({ redactor }: Operations, { session, ...report }: VerifyReport): unknown {
  return redactor.redactJson({ sessionId: session.id, ...report });
}

function errorOf({ redactor }: Operations, error: unknown): unknown {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const known = isPulseError(error) ? error : null;
  return redactor.redactJson({
    code: known?.code ?? 'internal_error',
    message,
    ...(known?.hint ? { hint: known.hint } : {}),
  });
}
