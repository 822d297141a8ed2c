/** Refuses an idea that this research has already discarded (docs/protocol/research.md, Ideas). */
import type { RunReport } from '../../../domain/attempt.ts';
import type { Store } from '../../../store/store.ts';
import { CRASH_KINDS, CRASH_POLICIES } from '../measure/crash.ts';
import { type MeasureReport, NOTHING_MEASURED } from '../measure/measure.ts';
import { findTriedChange, isTriedIdea } from '../rows.ts';
import { type ExperimentWork, readIdea } from '../work-data.ts';
import { describedBy } from './description.ts';
import { ideaFingerprint } from './fingerprint.ts';

const BANNING = CRASH_KINDS.filter((kind) => CRASH_POLICIES[kind].isBanned);

/** In the research of `leadId`. */
export function isTried(store: Store, leadId: string, description: string): Promise<boolean> {
  const asked = { fingerprint: ideaFingerprint(description), bannedBy: BANNING };
  return store.read((db) => isTriedIdea(db, leadId, asked));
}

/**
 * Voids an experiment whose idea or exact tree was already discarded; `null`: it must be measured. A rejected change that
 * is measured often enough would otherwise pass by luck.
 */
export async function triedBefore(
  store: Store,
  { sessionId, work }: { sessionId: string; work: ExperimentWork },
  { run, tree }: { run: RunReport | null; tree: string | null },
): Promise<MeasureReport | null> {
  const leadId = work.leadId ?? sessionId;
  const description = work.description ?? (run && describedBy({ ...run, description: readIdea(run) }));
  if (description && (await isTried(store, leadId, description)))
    return refused('The idea was tried before and did not work out.');
  const unit = tree === null ? null : await store.read((db) => findTriedChange(db, leadId, tree));
  return unit === null
    ? null
    : refused(`It is the same change as experiment ${unit.replace('exp-', '')}, which was discarded.`);
}

function refused(text: string): MeasureReport {
  return { ...NOTHING_MEASURED, caught: { reason: 'tried_before', text } };
}
