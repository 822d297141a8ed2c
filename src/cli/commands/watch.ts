import { PulseError } from '../../domain/errors.ts';
import { createPulse, type Pulse } from '../../pulse.ts';
import type { Session } from '../../store/sessions.ts';
import type { CommandContext } from '../command-spec.ts';
import { followSession } from '../follow/follow.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const id = input.argument('ID');
  const session = id === undefined ? await newestRunning(pulse) : (await pulse.get(id)).session;
  return await followSession({ pulse, session, output, cwd, isWatching: true });
}

async function newestRunning(pulse: Pulse): Promise<Session> {
  const [running] = await pulse.list({ status: 'running', limit: 1 });
  const [pending] = await pulse.list({ status: 'pending', limit: 1 });
  const newest = [running, pending]
    .filter((session) => session !== undefined)
    .sort((a, b) => (a.id < b.id ? 1 : -1))[0];
  if (newest) return newest;
  throw new PulseError('not_found', 'No session is running.', { hint: 'pulse list shows the others.' });
}
