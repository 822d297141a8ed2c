/** What happens inside an experiment's run: the idea is told first, and refused if it was discarded before. */
import type { ExperimentWork } from '../domain/workflow.ts';
import { appendEvents } from '../store/events.ts';
import { fencedTask, holdsTask } from '../store/inbox.ts';
import { getControl, getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { experimentTools } from '../tools/experiment-tools.ts';
import { tellIdea } from './commander.ts';
import type { HeldAttempt, RunListener } from './ports.ts';
import type { RunProtocol } from './pulse-protocol.ts';
import { isTried } from './tried-idea.ts';

export interface ExperimentProtocolOptions {
  attempt: HeldAttempt;
  work: ExperimentWork;
  store: Store;
  listener: RunListener;
  /** Whoever tells a commander elsewhere may look. */
  onAnnounced(leadId: string): void;
  /** Returns where it is. */
  writeReport(sessionId: string, words: { title?: string; summary?: string }): Promise<string>;
}

export function createExperimentProtocol({
  attempt,
  work,
  store,
  listener,
  onAnnounced,
  writeReport,
}: ExperimentProtocolOptions): RunProtocol {
  let told: string | null = null;
  const leadId = work.leadId ?? attempt.sessionId;

  /** Visible while it is worked on, not only when it has ended. */
  async function announce(description: string): Promise<void> {
    const { sessionId, task } = attempt;
    await store.tx(
      'describe',
      async (db) => {
        if (!(await holdsTask(db, task))) throw fencedTask(task.id);
        const teller = { session: await getSession(db, leadId), control: await getControl(db, sessionId) };
        await tellIdea(db, teller, { number: work.number, description });
      },
      { session: sessionId },
    );
    onAnnounced(leadId);
  }

  const tools = experimentTools({
    async describe(description) {
      if (await isTried(store, leadId, description)) {
        return {
          ok: false,
          output: 'That was tried before and did not work out. Choose another idea.',
          reasons: ['tried before'],
        };
      }
      told = description;
      if (work.description === null) await announce(description);
      return { ok: true, output: 'Noted. Make that one change now, and nothing else.' };
    },
    async alert(text) {
      const event = { type: 'experiment.surprised' as const, data: { number: work.number, text } };
      if (work.leadId === null) listener.event(event);
      else await store.tx('alert', (db) => appendEvents(db, leadId, [event]), { session: leadId });
      return { ok: true, output: 'Told.' };
    },
    async showReport(words) {
      return { ok: true, output: `The report is in ${await writeReport(leadId, words)}` };
    },
  });
  return {
    tools,
    saw: () => undefined,
    called: () => undefined,
    report: () => ({ description: work.description ?? told }),
  };
}
