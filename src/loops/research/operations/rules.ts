import { PulseError } from '../../../domain/errors.ts';
import type { LoopRules } from '../../../operations/loop-rules.ts';
import { researchFileOf } from '../measure/measure.ts';
import { findResearch } from '../rows.ts';

export const researchRules: LoopRules = {
  // A metric is pushed for as long as its person likes.
  hasNoDefaultTimeLimit: true,
  settings: ({ research }) => ({ commander: research?.commander ?? null }),
  /** Where checks and setup stand in a file of their own, that file is what has to be changed. */
  async refuseChoices({ engine: { store } }, session, asked) {
    const research = await store.read((db) => findResearch(db, session.id));
    const hasSetup = research !== null && researchFileOf(research.content).setup !== undefined;
    const misplaced = asked.verify ? '--verify' : asked.setup && hasSetup ? '--setup' : null;
    if (misplaced === null) return;
    throw new PulseError('usage', `Session ${session.id} is research: ${misplaced} does not apply to it.`, {
      hint: 'Its guard and its setup stand in the file that it was started with; start it again with another.',
    });
  },
};
