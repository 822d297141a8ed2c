import { join } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import { resolveHome } from '../home.ts';
import { type ReadyRunner, startReadyRunner } from '../process/ready-runner.ts';
import { startSupervisor } from '../process/supervise.ts';
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';
import type { CommandContext } from './command-spec.ts';

/** Gives the session a runner of its own that outlives this process and its terminal. */
export async function launchRunner(
  pulse: Pulse,
  session: Session,
  { program, environment, runner }: Pick<CommandContext, 'program' | 'environment' | 'runner'>,
): Promise<void> {
  const logPath = runnerLog(pulse, session.id);
  if (await runner?.give(session.id, logPath)) return;
  // The supervisor stands in `/`: a relative state directory would be another one there.
  const supervised = { ...environment, PULSE_HOME: pulse.home.path };
  try {
    await startSupervisor({ program, sessionId: session.id, logPath, environment: supervised });
  } catch (cause) {
    throw new PulseError('internal_error', `No process could be started for session ${session.id}.`, {
      hint: `pulse resume ${session.id} tries again.`,
      cause,
    });
  }
}

/** For a session that is about to be admitted: its runner has loaded everything by then. The caller disposes of it. */
export function readyRunner({ program, environment }: CommandContext): ReadyRunner {
  const { path, logs } = resolveHome(environment);
  return startReadyRunner({ program, logs, environment: { ...environment, PULSE_HOME: path } });
}

export function runnerLog({ home }: Pulse, sessionId: string): string {
  return join(home.logs, `${sessionId}.log`);
}

/** How long a new session may be without a runner before it counts as left alone. */
const STARTING_MS = 10_000;

/** Sessions of this machine that should be running and that nobody runs. */
export async function findOrphans(pulse: Pulse): Promise<Session[]> {
  const now = Date.now();
  const { sessions: running } = await pulse.list({ status: 'running' });
  const { sessions: pending } = await pulse.list({ status: 'pending' });
  const live = [...running, ...pending];
  const old = live.filter(
    ({ status, created_at }) => status === 'running' || now - Date.parse(created_at) > STARTING_MS,
  );
  const states = await Promise.all(old.map(({ id }) => pulse.runner(id)));
  return old.filter((_, index) => states[index] === 'none');
}
