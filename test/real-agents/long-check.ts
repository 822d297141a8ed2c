/** Pulse answers a tool call within 50 seconds, if need be with an id to ask for later. Real agents wait that long. */
import { expect, test } from 'vitest';
import type { StartInput } from '../../src/operations/start.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';

/** Longer than Pulse waits with its answer, which must come before the agent gives up on the call. */
const LONG_CHECK = 'test ! -f hello.txt || sleep 53';

/** A check that outlasts a tool call: the agent is told to ask again before it gives up, and gets the outcome. */
export function describeLongCheck(subject: Subject, how: Pick<StartInput, 'agent' | 'command'> = {}): void {
  const { calls } = subject;
  const server = useModelServer();
  const name = how.agent ? `${subject.name} over ${how.agent}` : subject.name;
  test(`a real ${name} waits for a check of a minute`, { timeout: 240_000 }, async () => {
    const { scene, rewrite, told } = await makeStage(subject, server());
    const { session } = await scene.pulse.workflow.start({
      plan: {
        title: 'Greet',
        pulses: [{ id: 'hello', title: 'Say hello', description: 'Write hello.txt' }],
        verify: [{ command: LONG_CHECK, source: 'Test' }],
        preflight: [],
      },
      path: scene.root,
      agent: subject.name,
      createdBy: 'cli',
      actor: 'test',
      isApproved: true,
      ...how,
    });
    const { tool } = calls.signal('COMPLETE');
    const call = (name: string, input: Record<string, unknown>) =>
      calls.pulse?.(name, input) ?? { tool: tool.replace('pulse_signal', name), input };
    rewrite([
      { calls: [calls.shell('echo hello > hello.txt')] },
      { calls: [call('pulse_done', { summary: 'feat: say hello', filesChanged: ['hello.txt'] })] },
      { calls: [call('pulse_done_result', { id: 'check-1' })] },
      { text: 'Done.' },
    ]);
    const stopped = await scene.run(session);
    expect(told(2)).toContain('Still checking. Call pulse_done_result with');
    expect(told(3)).toContain('The pulse is accepted.');
    expect(stopped, stopped.blocked_reason ?? '').toMatchObject({ stop_reason: 'approval_required' });
    const { pulses } = await scene.pulse.workflow.rows(session.id);
    expect(pulses).toMatchObject([{ status: 'succeeded', rejections: 0 }]);
  });
}
