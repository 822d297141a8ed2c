/** What the checks say about the base of a session, read once and kept in the store. */
import { createHash } from 'node:crypto';
import type { AttemptSpec, VerificationRecord } from '../../domain/attempt.ts';
import type { NewEvent } from '../../domain/events.ts';
import type { FailedOnBase } from '../../domain/failed-on-base.ts';
import type { HeldOutRun } from '../../referee/decide-held-out.ts';
import type { CheckRun, CheckRuns } from '../../referee/run-commands.ts';
import { findCheckRun, insertCheckRun } from '../../store/check-runs.ts';
import { appendEvents } from '../../store/events.ts';
import type { Store } from '../../store/store.ts';
import type { HeldAttempt } from '../ports.ts';
import { refereeSettings } from './settings.ts';

export interface BaseReading {
  /** What makes every claim pointless; `null`: nothing. */
  failure: VerificationRecord | null;
  /** Which tree it is about. */
  tree: string;
  /** None where the checks do not run on the base. */
  runs: CheckRun[];
  heldOut?: HeldOutRun[];
}

type Reader = Pick<HeldAttempt, 'sessionId' | 'spec'> & { commands?: readonly string[] };

export async function findBaseReading(
  store: Store,
  { sessionId, spec, commands }: Reader,
): Promise<BaseReading | null> {
  return store.read((db) => findCheckRun<BaseReading>(db, sessionId, baseKey(spec, commands)));
}

/** `isTold`: what fails is an event, in the same transaction. A loop with a baseline of its own tells that. */
export async function saveBaseReading(
  store: Store,
  { sessionId, spec, commands, iteration }: Reader & Pick<HeldAttempt, 'iteration'>,
  { reading, isTold }: { reading: BaseReading; isTold: boolean },
): Promise<void> {
  const run = { sessionId, key: baseKey(spec, commands), run: reading };
  const failed = isTold ? reading.runs.filter(({ record }) => !record.passed).map(failedOnBase) : [];
  const told: NewEvent[] =
    failed.length === 0 ? [] : [{ type: 'preflight.base', iteration, data: { failed } }];
  await store.tx(
    'read_base',
    async (db) => {
      await insertCheckRun(db, run);
      await appendEvents(db, sessionId, told);
    },
    { session: sessionId },
  );
}

const TESTS_TOLD = 20;

function failedOnBase({ record: { command, exit }, tests: { names } }: CheckRun): FailedOnBase {
  return { command, exit, tests: (names?.failed ?? []).slice(0, TESTS_TOLD) };
}

/** Other commands, or another base, are read again: a resume may have changed them. */
function baseKey(spec: AttemptSpec, commands: readonly string[] = spec.verify): string {
  const { setup, baseSha, startSha } = spec;
  const { baseWaitMs, heldOut = [] } = refereeSettings(spec);
  const parts = [commands, setup, baseSha ?? startSha, baseWaitMs !== null];
  if (heldOut.length > 0) parts.push(JSON.stringify(heldOut));
  return `base ${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

/** A pass stays one. A failure is asked again once a person has resumed the session: the machine may have changed. */
export function sessionRuns(store: Store, { sessionId, spec }: Reader): CheckRuns {
  const failedKey = (key: string): string => `${key} failed ${spec.window ?? 0}`;
  return {
    find: (key) =>
      store.read(
        async (db) =>
          (await findCheckRun<CheckRun>(db, sessionId, key)) ??
          (await findCheckRun<CheckRun>(db, sessionId, failedKey(key))),
      ),
    save(name, run) {
      const key = run.holds ? name : failedKey(name);
      return store.tx('check_run', (db) => insertCheckRun(db, { sessionId, key, run }), {
        session: sessionId,
      });
    },
  };
}
