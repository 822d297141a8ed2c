/** The part of the store's contract that the live stream rests on: nothing lost, nothing twice, state never skipped. */
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/domain/redact.ts';
import { createBells } from '../../src/engine/wake/bells.ts';
import { followLive, type LiveMessage, type LiveOptions } from '../../src/operations/dashboard/live.ts';
import { parseVector } from '../../src/operations/dashboard/vector.ts';
import { appendEvents } from '../../src/store/events.ts';
import { moveSession, updateSession } from '../../src/store/sessions.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

export function liveContract(open: () => Promise<Store>): void {
  describe('the live stream', () => {
    const [A, B] = [sessionId(1), sessionId(2)];
    const COMPLETED = { reason: 'completed', detail: null } as const;

    function liveOn(store: Store) {
      const bell = createBells();
      const reading = {
        engine: { store, owners: () => 'alive' as const },
        redactor: createRedactor([]),
        bell,
      };
      return {
        bell,
        follow: (vector: string, options: Partial<LiveOptions> = {}) =>
          followLive(reading, {
            ...{ from: parseVector(vector)!, lookEveryMs: 60_000, cardEveryMs: 0, ...options },
          }),
        async write(id: string, count: number): Promise<void> {
          const event = { type: 'agent.text', data: { text: 'x' } } as const;
          await store.tx('test', (db) => appendEvents(db, id, Array(count).fill(event)));
          bell.ring(id);
        },
      };
    }

    /** The messages up to the first that fits, and with it. */
    async function take(
      messages: AsyncGenerator<LiveMessage>,
      isLast: (message: LiveMessage) => boolean,
    ): Promise<LiveMessage[]> {
      const taken: LiveMessage[] = [];
      for (;;) {
        const { value, done } = await messages.next();
        if (done) throw new Error('the stream ended');
        taken.push(value);
        if (isLast(value)) return taken;
      }
    }
    const isReady = ({ type }: LiveMessage) => type === 'ready';
    const seqsOf = (messages: LiveMessage[]) =>
      messages.flatMap((each) => (each.type === 'event' ? [each.event.seq] : []));

    it('begins with the cards and the events that are missing, and follows both', async () => {
      const store = await open();
      await admit(store, { id: A, status: 'running' });
      await admit(store, { id: B, status: 'complete' });
      const { follow, write } = liveOn(store);
      await write(A, 3);
      const live = follow(`${A}:2`);
      const first = await take(live, isReady);
      expect(seqsOf(first)).toEqual([3, 4]);
      const cards = first.flatMap((each) => (each.type === 'card' ? [each.session.id] : []));
      expect(cards.sort()).toEqual([A, B]);
      expect(parseVector(first.at(-1)!.after)!.seqs).toEqual(new Map([[A, 4]]));

      await write(B, 1); // not watched: only its card is told
      await write(A, 1);
      const next = await take(live, ({ type }) => type === 'event');
      expect(seqsOf(next)).toEqual([5]);
      await store.tx('test', (db) => updateSession(db, A, { blocked_reason: 'new' }));
      await write(A, 1);
      const [card] = (
        await take(live, (each) => each.type === 'card' && each.session.blocked_reason === 'new')
      ).slice(-1);
      expect(card).toMatchObject({ type: 'card', session: { id: A } });
      await live.return(undefined);
    });

    it('loses and repeats nothing, wherever it is cut and however it returns', async () => {
      const store = await open();
      for (const id of [A, B]) await admit(store, { id, status: 'running' });
      const { follow, write } = liveOn(store);
      const ROUNDS = 12;
      const writing = (async () => {
        for (let round = 0; round < ROUNDS; round++) {
          await write(A, 7);
          await write(B, 5);
        }
        await store.tx('end', (db) =>
          moveSession(db, { id: B, status: 'running', started_at: null }, 'complete', COMPLETED),
        );
        await write(B, 1);
      })();
      const seen = { [A]: [] as number[], [B]: [] as number[] };
      const statuses = new Map<string, string>();
      let vector = `${A}:0,${B}:0`;
      for (let cut = 1; ; cut++) {
        const live = follow(vector, { lookEveryMs: 50 });
        for (let count = 0; count < cut * 3; count++) {
          const { value } = await live.next();
          if (value.type === 'event') seen[value.event.sessionId]!.push(value.event.seq);
          if (value.type === 'card') statuses.set(value.session.id, value.session.status);
          vector = value.after;
          if (
            seen[A]!.length === ROUNDS * 7 + 1 &&
            seen[B]!.length === ROUNDS * 5 + 2 &&
            statuses.get(B) === 'complete'
          )
            break;
        }
        await live.return(undefined);
        if (
          seen[A]!.length > ROUNDS * 7 &&
          seen[B]!.length > ROUNDS * 5 + 1 &&
          statuses.get(B) === 'complete'
        )
          break;
      }
      await writing;
      expect(seen[A]).toEqual(Array.from({ length: ROUNDS * 7 + 1 }, (_, index) => index + 1));
      expect(seen[B]).toEqual(Array.from({ length: ROUNDS * 5 + 2 }, (_, index) => index + 1));
    });

    it('says where to read instead of sending more than 2,000 events', async () => {
      const store = await open();
      await admit(store, { id: A, status: 'running' });
      const { follow, write } = liveOn(store);
      for (let n = 0; n < 5; n++) await write(A, 500);
      const live = follow(`${A}:100`);
      const messages = await take(live, isReady);
      expect(messages.find(({ type }) => type === 'gap')).toMatchObject({
        sessionId: A,
        from: 101,
        to: 2301,
      });
      expect(seqsOf(messages)).toEqual(Array.from({ length: 200 }, (_, index) => 2302 + index));
      await live.return(undefined);
      const near = follow(`${A}:501`);
      expect((await near.next()).value).toMatchObject({ type: 'event', event: { seq: 502 } });
      await near.return(undefined);
    });

    it('sends on return the card of what ended meanwhile, however old the session is', async () => {
      const store = await open();
      for (let number = 1; number <= 55; number++)
        await admit(store, { id: sessionId(number), status: number === 1 ? 'running' : 'complete' });
      const { follow } = liveOn(store);
      await store.tx('end', async (db) => {
        await moveSession(db, { id: A, status: 'running', started_at: null }, 'complete', COMPLETED);
        await updateSession(db, A, { ended_at: storeNow(-5 * 60_000) });
      });
      const cardOfA = async (vector: string) => {
        const live = follow(vector);
        const messages = await take(live, isReady);
        await live.return(undefined);
        return messages.find((each) => each.type === 'card' && each.session.id === A);
      };
      expect(await cardOfA(`cards:${Date.now() - 10 * 60_000}`)).toMatchObject({
        session: { status: 'complete' },
      });
      expect(await cardOfA('')).toBeUndefined();
    });

    it('finds by itself what nobody rang for', async () => {
      const store = await open();
      await admit(store, { id: A, status: 'running' });
      const { follow } = liveOn(store);
      const live = follow(`${A}:1`, { lookEveryMs: 20 });
      await take(live, isReady);
      await store.tx('test', (db) => appendEvents(db, A, [{ type: 'note.added' }]));
      expect(seqsOf(await take(live, ({ type }) => type === 'event'))).toEqual([2]);
      await live.return(undefined);
    });

    it('tells the card of a session when one that works for it does something', async () => {
      const store = await open();
      await admit(store, { id: A, status: 'running' });
      await admit(store, { id: B, status: 'running', parent_session_id: A });
      const { follow, write, bell } = liveOn(store);
      const live = follow('');
      await take(live, isReady);
      await store.tx('test', (db) => appendEvents(db, B, [{ type: 'iteration.started', iteration: 1 }]));
      bell.ring(B);
      const [card] = (await take(live, (each) => each.type === 'card' && each.session.id === A)).slice(-1);
      expect(card).toMatchObject({ session: { now: { activity: '1 worker: agent working' } } });
      await write(B, 1);
      await take(live, (each) => each.type === 'card' && each.session.id === A);
      await live.return(undefined);
    });

    it('ends when it is told to, in the middle of a wait too', async () => {
      const store = await open();
      const stop = new AbortController();
      const live = liveOn(store).follow('', { signal: stop.signal });
      await take(live, isReady);
      const next = live.next();
      stop.abort();
      expect(await next).toMatchObject({ done: true });
    });
  });
}
