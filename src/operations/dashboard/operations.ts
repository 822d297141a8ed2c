/** What a page that shows sessions asks, ready to be called. */
import { operation } from '../operation.ts';
import { viewCards } from './cards.ts';
import * as definitions from './definitions.ts';
import { diffSession } from './diff.ts';
import { viewBrief, viewTranscript } from './run-texts.ts';
import { viewHead, viewHistory, viewIterations } from './session-pages.ts';
import {
  BriefAnswer,
  CardsAnswer,
  DiffAnswer,
  HeadAnswer,
  HistoryAnswer,
  IterationsAnswer,
  TranscriptAnswer,
} from './view-schema.ts';

export const dashboardOperations = {
  listCards: operation(definitions.listCards, {
    run: (operations, query) => viewCards(operations, query),
    view: CardsAnswer,
  }),
  showHead: operation(definitions.showHead, {
    run: (operations, { sessionId }) => viewHead(operations, sessionId),
    view: HeadAnswer,
  }),
  listIterations: operation(definitions.pageIterations, {
    run: (operations, { sessionId, ...page }) => viewIterations(operations, sessionId, page),
    view: IterationsAnswer,
  }),
  history: operation(definitions.history, {
    run: (operations, { sessionId, ...page }) => viewHistory(operations, sessionId, page),
    view: HistoryAnswer,
  }),
  diff: operation(definitions.diff, {
    run: (operations, { sessionId, ...query }) => diffSession(operations, sessionId, query),
    view: DiffAnswer,
    check({ iteration, from, to }, refuse) {
      if (iteration !== undefined && (from ?? to) !== undefined)
        refuse('iteration', 'names a range of its own: give no from and to with it');
    },
  }),
  brief: operation(definitions.brief, {
    run: (operations, { sessionId, iteration }) => viewBrief(operations, sessionId, iteration),
    view: BriefAnswer,
  }),
  transcript: operation(definitions.transcript, {
    run: (operations, { sessionId, ...query }) => viewTranscript(operations, sessionId, query),
    view: TranscriptAnswer,
  }),
};
