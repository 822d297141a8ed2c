import { PulseError } from '../../domain/errors.ts';
import type { Pulse } from '../../pulse.ts';
import type { Session } from '../../store/sessions.ts';
import type { CommandContext } from '../command-spec.ts';
import { followSession } from '../follow/follow.ts';
import { answerHere } from '../follow/go-on.ts';
import { openPulse } from '../open-pulse.ts';
import { watchAll } from '../watch-all/watch-all.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, cwd } = context;
  await using pulse = await openPulse(context);
  const id = input.argument('ID');
  const isAtTerminal = !output.isJson && output.stdout.isTerminal && process.stdin.isTTY === true;
  if (id === undefined && isAtTerminal) return await watchAll(context, pulse);
  const session = id === undefined ? await newestRunning(pulse) : (await pulse.show(id)).session;
  const exitCode = await followSession({ pulse, session, output, cwd, isWatching: true });
  return (await answerHere(pulse, context, session.id)) ?? exitCode;
}

async function newestRunning(pulse: Pulse): Promise<Session> {
  const { sessions: running } = await pulse.list({ status: 'running', limit: 1 });
  const { sessions: pending } = await pulse.list({ status: 'pending', limit: 1 });
  const newest = [...running, ...pending].sort((a, b) => (a.id < b.id ? 1 : -1))[0];
  if (newest) return newest;
  throw new PulseError('not_found', 'No session is running.', { hint: 'pulse list shows the others.' });
}
