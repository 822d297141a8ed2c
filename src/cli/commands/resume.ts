import { createPulse } from '../../pulse.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { detached, followSession } from '../follow/follow.ts';
import { lastEvent } from '../follow/last-event.ts';
import { launchRunner } from '../session-runner.ts';
import { askingForTrust } from '../trusting.ts';

/** Goes on with a stopped session, adopts one that nobody runs, or just follows one that is being run. */
export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment, cwd } = context;
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const { session: before } = await pulse.get(input.argument('ID')!);
  const isLive = before.status === 'running' || before.status === 'pending';
  const after = isLive ? 0 : await lastEvent(pulse, before.id);
  const asked = {
    answer: input.text('answer'),
    maxIterations: input.number('max-iterations'),
    budgetUsd: input.usd('budget-usd'),
    budgetTokens: input.number('budget-tokens'),
    timeLimitMs: input.number('time-limit'),
    iterationTimeoutMs: input.number('iteration-timeout'),
    idleTimeoutMs: input.number('idle-timeout'),
    agent: input.text('agent'),
    command: input.text('command'),
    model: input.text('model'),
    verify: input.texts('verify'),
    setup: input.texts('setup'),
    actor: actor(),
  };
  const { session, next } = await askingForTrust(context, before.project_path, () =>
    pulse.resume(before.id, asked),
  );
  const launch = async (): Promise<void> => {
    if (next === 'run') await launchRunner(pulse, session, context);
  };
  if (!input.has('detach')) return await followSession({ pulse, session, output, cwd, after, launch });
  await launch();
  if (!output.isJson) output.data(session.id);
  return detached({ output }, session);
}
