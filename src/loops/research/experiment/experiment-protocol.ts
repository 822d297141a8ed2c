/** What happens inside an experiment's run: the idea is told first, and refused if it was discarded before. */

import type { ProtocolRun, RunProtocol } from '../../../engine/work.ts';
import { appendEvents } from '../../../store/events.ts';
import { getControl, getSession } from '../../../store/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { reportIdea } from '../commander/report.ts';
import { isTried } from '../ideas/tried-idea.ts';
import type { ExperimentRun, ExperimentWork } from '../work-data.ts';
import { experimentTools } from './experiment-tools.ts';

export interface ExperimentProtocolOptions extends ProtocolRun<ExperimentWork> {
  store: Store;
  /** The courier to a commander elsewhere may look. */
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
    await listener.write('describe', async (db) => {
      const control = await getControl(db, attempt.sessionId);
      const reporter = { session: await getSession(db, leadId), control };
      await reportIdea(db, reporter, { number: work.number, description });
    });
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
      return { ok: true, output: 'The person sees it now.' };
    },
    async showReport(words) {
      return { ok: true, output: `The report is in ${await writeReport(leadId, words)}` };
    },
  });
  return {
    tools,
    report: () => ({ own: { description: work.description ?? told } satisfies ExperimentRun }),
  };
}
