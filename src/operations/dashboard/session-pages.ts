/** One session by pages: a long one is never answered as a whole. */
import { PulseError } from '../../domain/errors.ts';
import type { IterationOutcome } from '../../domain/status.ts';
import type { Unresolved } from '../../loops/workflow/unresolved.ts';
import { listUnresolved } from '../../loops/workflow/unresolved-rows.ts';
import { readCardRows } from '../../store/cards.ts';
import { type HistoryPage, readHistory } from '../../store/history.ts';
import { countIterations, type IterationHead, pageIterations } from '../../store/iterations.ts';
import { newestJudgement, type StoredJudgement } from '../../store/judgements.ts';
import { getControl, getSession } from '../../store/sessions.ts';
import { type Reading, type Waiting, waitingOf } from '../view.ts';
import { type Card, cardsOf } from './cards.ts';
import { type Rejection, rejectionsOf } from './rejections.ts';

export interface Head {
  session: Card;
  waiting: Waiting | null;
  judgement: StoredJudgement | null;
  head: string | null;
  unresolved: Unresolved[];
  iterations: number;
  lastSeq: number;
}

export async function viewHead({ engine, redactor }: Reading, id: string): Promise<Head> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const [row] = await readCardRows(db, [session.id]);
    const [card] = await cardsOf(db, [row!], engine.owners);
    const { head_sha: head } = await getControl(db, session.id);
    return redactor.redactJson({
      session: card!,
      waiting: await waitingOf(db, session),
      judgement: await newestJudgement(db, session.id),
      head,
      unresolved: (await listUnresolved(db, [session.id])).get(session.id) ?? [],
      iterations: await countIterations(db, session.id),
      lastSeq: row!.lastSeq,
    });
  });
}

const ITERATIONS = 50;

export interface ListedIteration extends IterationHead {
  /** What a claim was rejected by. */
  rejection: Rejection | null;
}

export async function viewIterations(
  { engine, redactor }: Reading,
  id: string,
  { before, outcome, limit = ITERATIONS }: { before?: number; outcome?: IterationOutcome; limit?: number },
): Promise<{ iterations: ListedIteration[]; nextBefore: number | null }> {
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const found = await pageIterations(db, session.id, { before, outcome, limit: limit + 1 });
    const page = found.slice(0, limit);
    const rejections = await rejectionsOf(db, session.id, page);
    const iterations = page.map((one) => ({
      ...one,
      rejection: rejections.get(one.iteration_number) ?? null,
    }));
    const nextBefore = found.length > limit ? iterations.at(-1)!.iteration_number : null;
    return redactor.redactJson({ iterations, nextBefore });
  });
}

const EVENTS = 200;

export interface HistoryInput {
  before?: number;
  after?: number;
  limit?: number;
  /** By commas. */
  types?: string;
  iteration?: number;
}

export async function viewHistory(
  { engine, redactor }: Reading,
  id: string,
  { before, after, limit = EVENTS, types, iteration }: HistoryInput,
): Promise<HistoryPage & { lastSeq: number }> {
  if (before !== undefined && after !== undefined)
    throw new PulseError(
      'invalid_input',
      'A page of events ends before a number or begins after one, not both.',
      {
        hint: 'Give `before` for older events, or `after` for newer ones.',
      },
    );
  return engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const query = { before, after, limit, iteration, types: types?.split(',') };
    const page = await readHistory(db, session.id, query);
    const { event_seq: lastSeq } = await getControl(db, session.id);
    return redactor.redactJson({ ...page, lastSeq });
  });
}
