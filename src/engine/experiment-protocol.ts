/** What happens inside an experiment's run: the idea is told first, and refused if it was discarded before. */
import type { ExperimentWork } from '../domain/workflow.ts';
import { CRASH_KINDS, CRASH_POLICIES } from '../research/crash.ts';
import { ideaFingerprint } from '../research/fingerprint.ts';
import { isTriedIdea } from '../store/research.ts';
import type { Store } from '../store/store.ts';
import { experimentTools } from '../tools/experiment-tools.ts';
import type { HeldAttempt, RunListener } from './ports.ts';
import type { RunProtocol } from './pulse-protocol.ts';

const BANNING = CRASH_KINDS.filter((kind) => CRASH_POLICIES[kind].isBanned);

export interface ExperimentProtocolOptions {
  attempt: HeldAttempt;
  work: ExperimentWork;
  store: Store;
  listener: RunListener;
}

export function createExperimentProtocol({
  attempt,
  work,
  store,
  listener,
}: ExperimentProtocolOptions): RunProtocol {
  let told: string | null = null;
  const tools = experimentTools({
    async describe(description) {
      const fingerprint = ideaFingerprint(description);
      const asked = { fingerprint, bannedBy: BANNING };
      if (await store.read((db) => isTriedIdea(db, attempt.sessionId, asked))) {
        return {
          ok: false,
          output: 'That was tried before and did not work out. Choose another idea.',
          reasons: ['tried before'],
        };
      }
      told = description;
      return { ok: true, output: 'Noted. Make that one change now, and nothing else.' };
    },
    alert(text) {
      listener.event({ type: 'experiment.surprised', data: { number: work.number, text } });
      return { ok: true, output: 'Told.' };
    },
  });
  return {
    tools,
    saw: () => undefined,
    called: () => undefined,
    report: () => ({ description: work.description ?? told }),
  };
}
