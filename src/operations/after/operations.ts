/** The operations on sessions after their end, ready to be called. */
import { answeringOperation, operation } from '../operation.ts';
import { boundedSession, startedText } from '../session/tool-text.ts';
import { StartAnswer } from '../session/view-schema.ts';
import { cleanSessions } from './clean.ts';
import * as definitions from './definitions.ts';
import { discardSession, viewDiscard } from './discard.ts';
import { followUp } from './follow.ts';
import { type HeldBySession, listHeld } from './held.ts';
import { mergeSession } from './merge.ts';
import { CleanAnswer, DiscardAnswer, HeldAnswer, MergeAnswer, WouldGoAnswer } from './view-schema.ts';

export const afterOperations = {
  merge: answeringOperation(definitions.merge, {
    run: (operations, { sessionId, how = 'ff', ...decision }) =>
      mergeSession(operations, sessionId, { how, ...decision }),
    view: MergeAnswer,
    answer(session, result) {
      const { merged = null, said = null } = result ?? {};
      return { session, merged: merged && { base: merged.base, sha: merged.sha, how: merged.how }, said };
    },
    tell: ({ session, merged, said }) => ({ text: said, data: { session: boundedSession(session), merged } }),
  }),
  discard: answeringOperation(definitions.discard, {
    run: (operations, { sessionId, ...decision }) => discardSession(operations, sessionId, decision),
    view: DiscardAnswer,
    answer: (session, result) => ({ session, kept: result?.kept ?? [], said: result?.said ?? null }),
    tell: ({ session, kept, said }) => ({ text: said, data: { session: boundedSession(session), kept } }),
  }),
  followUp: answeringOperation(definitions.follow, {
    run: (operations, { sessionId, ...input }) => followUp(operations, sessionId, input),
    view: StartAnswer,
    answer: (session) => ({ sessionId: session.id, session }),
    tell: (started) => startedText(started, 'pulse_status, with waitSeconds'),
  }),
  showHeld: operation(definitions.showHeld, {
    run: async (operations, how) => ({ held: await listHeld(operations, how) }),
    view: HeldAnswer,
    tell: ({ held }) => ({ text: heldText(held), data: { held: held.map(boundedHeld) } }),
  }),
  clean: operation(definitions.clean, {
    run: (operations, request) => cleanSessions(operations, request),
    view: CleanAnswer,
    tell(cleaned) {
      const left = cleaned.left.map(({ sessionId, branch, why }) => `${sessionId}: ${branch} stays: ${why}`);
      const text = [`Removed of ${cleaned.removed.length} sessions.`, ...left].join('\n');
      return { text, data: { ...cleaned } };
    },
  }),
  showDiscard: operation(definitions.showDiscard, {
    run: (operations, { sessionId }) => viewDiscard(operations, sessionId),
    view: WouldGoAnswer,
  }),
};

function boundedHeld({ session, ...held }: HeldBySession) {
  return { session: boundedSession(session), ...held };
}

function heldText(held: readonly HeldBySession[]): string {
  const lines = held.map(({ session, branches, ...sizes }) => {
    const bytes = sizes.recordingsBytes + sizes.logBytes + sizes.rowsBytes + (sizes.worktree?.bytes ?? 0);
    const names = branches.map(({ name, isMerged }) => `${name}${isMerged ? '' : ' (not merged)'}`);
    return `${session.id}: ${[...names, `${bytes} bytes`].join(', ')}`;
  });
  return lines.join('\n') || 'Sessions that ended so long ago hold nothing.';
}
