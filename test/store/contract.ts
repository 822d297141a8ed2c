/** What every store must do, whatever database is behind it. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { SESSION_STATUSES, SESSION_TRANSITIONS, type SessionStatus } from '../../src/domain/status.ts';
import { appendEvents, readEvents } from '../../src/store/events.ts';
import { insertIteration, listIterations, moveIteration, treeSeen } from '../../src/store/iterations.ts';
import { readSessionLease, takeSessionLease } from '../../src/store/leases.ts';
import {
  addSpending,
  getControl,
  getSession,
  listSessions,
  moveSession,
  updateControl,
} from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { findTurn, insertTurn, newestTurn } from '../../src/store/turns.ts';
import { insertVerifications, listVerifications } from '../../src/store/verifications.ts';
import { admit } from '../fakes/admit.ts';
import { attemptsContract } from './contract-attempts.ts';
import { branchesContract } from './contract-branches.ts';
import { breakersContract } from './contract-breakers.ts';
import { dashboardContract } from './contract-dashboard.ts';
import { figuresContract } from './contract-figures.ts';
import { jobsContract } from './contract-jobs.ts';
import { liveContract } from './contract-live.ts';
import { lookingContract } from './contract-looking.ts';
import { notesContract } from './contract-notes.ts';
import { packsContract } from './contract-packs.ts';
import { researchContract } from './contract-research.ts';
import { workflowsContract } from './contract-workflows.ts';
import { newIteration, sessionId, verification } from './rows.ts';

/** Each call of `open` gives a handle on the current test's own database, which was empty before the test. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`the store contract on ${name}`, () => {
    const ID = sessionId(1);

    async function opened(count = 1): Promise<Store[]> {
      const stores: Store[] = [];
      for (let i = 0; i < count; i++) stores.push(await open());
      return stores;
    }

    async function admitted(): Promise<Store> {
      const store = await open();
      await admit(store, { id: ID });
      return store;
    }

    /** The error's code; fails where nothing is thrown. */
    async function codeOf(work: Promise<unknown>): Promise<string> {
      const error = await work.then(
        () => null,
        (thrown: unknown) => thrown as { code: string },
      );
      expect(error, 'nothing was thrown').not.toBeNull();
      return error!.code;
    }

    describe('sessions', () => {
      it('gives back what was put in, with JSON columns as values', async () => {
        const store = await open();
        await admit(store, { id: ID, goal: 'Ünïcode "goal"\n', setup: null, verify: ['a', 'b'] });
        const session = await store.read((db) => getSession(db, ID));
        expect(session).toMatchObject({
          goal: 'Ünïcode "goal"\n',
          setup: null,
          verify: ['a', 'b'],
          progress_log: [],
        });
        expect(Math.abs(Date.parse(session.created_at) - Date.now())).toBeLessThan(60_000);
        const control = await store.read((db) => getControl(db, ID));
        expect(control).toMatchObject({ token: 0, window_from: 0, request: null, head_sha: null });
        expect(control.settings.inferredCompletion).toBe('confirm');
      });

      it('finds one by the beginning of its id, with or without the prefix', async () => {
        const store = await open();
        await admit(store, { id: 'ses_0aaa0000-0000-7000-8000-000000000001' });
        await admit(store, { id: 'ses_0aab0000-0000-7000-8000-000000000001' });
        const byPrefix = (id: string) => store.read((db) => getSession(db, id));
        expect((await byPrefix('ses_0aaa')).id).toContain('0aaa');
        expect((await byPrefix('0aab')).id).toContain('0aab');
        expect(await codeOf(byPrefix('0aac'))).toBe('not_found');
        expect(await codeOf(byPrefix('0aa'))).toBe('not_found');
        expect(await codeOf(byPrefix(''))).toBe('not_found');
        expect(await codeOf(byPrefix('%'))).toBe('not_found');
      });

      it('refuses a beginning that several share', async () => {
        const store = await open();
        await admit(store, { id: sessionId(1) });
        await admit(store, { id: sessionId(2) });
        expect(await codeOf(store.read((db) => getSession(db, '00000000-0000')))).toBe('ambiguous_id');
      });

      it('refuses an id that is taken and keeps the first', async () => {
        const store = await admitted();
        await expect(admit(store, { id: ID, goal: 'second' })).rejects.toThrow();
        expect((await store.read((db) => getSession(db, ID))).goal).toBe('goal');
      });

      it('lists the newest first, by status, by count and before an id', async () => {
        const store = await open();
        for (const number of [2, 1, 3]) await admit(store, { id: sessionId(number) });
        await store.tx('test', async (db) => moveSession(db, await getSession(db, sessionId(2)), 'running'));
        const ids = async (filter: Parameters<typeof listSessions>[1]) =>
          (await store.read((db) => listSessions(db, filter))).map(({ id }) => id);
        expect(await ids({})).toEqual([3, 2, 1].map(sessionId));
        expect(await ids({ status: 'pending' })).toEqual([3, 1].map(sessionId));
        expect(await ids({ limit: 1 })).toEqual([sessionId(3)]);
        expect(await ids({ before: sessionId(3), limit: 5 })).toEqual([2, 1].map(sessionId));
      });

      it('moves between exactly the statuses that the table joins', async () => {
        const store = await open();
        let number = 0;
        const moved: string[] = [];
        const refused: string[] = [];
        for (const from of SESSION_STATUSES) {
          for (const to of SESSION_STATUSES) {
            const id = sessionId(++number);
            await admit(store, { id, status: from });
            const stop = to === 'pending' || to === 'running' ? undefined : STOPS[to];
            const move = store.tx('test', async (db) => moveSession(db, await getSession(db, id), to, stop));
            const edge = `${from} → ${to}`;
            await move.then(
              () => moved.push(edge),
              (error) => {
                expect(error.code).toBe('invalid_transition');
                refused.push(edge);
              },
            );
            const { status } = await store.read((db) => getSession(db, id));
            expect(status, edge).toBe(moved.includes(edge) ? to : from);
          }
        }
        const edges = SESSION_STATUSES.flatMap((from) =>
          SESSION_TRANSITIONS[from].map((to) => `${from} → ${to}`),
        );
        expect(moved.toSorted()).toEqual(edges.toSorted());
        expect(refused).toHaveLength(SESSION_STATUSES.length ** 2 - edges.length);
      });

      it('records why it stopped and forgets it when it goes on', async () => {
        const store = await open();
        await admit(store, { id: ID, status: 'running' });
        const move = (to: SessionStatus, stop?: Parameters<typeof moveSession>[3]) =>
          store.tx('test', async (db) => moveSession(db, await getSession(db, ID), to, stop));
        await move('blocked', { reason: 'blocked_by_agent', detail: 'Which key?' });
        const blocked = await store.read((db) => getSession(db, ID));
        expect(blocked).toMatchObject({ stop_reason: 'blocked_by_agent', blocked_reason: 'Which key?' });
        expect(blocked.ended_at).not.toBeNull();
        await move('running');
        const running = await store.read((db) => getSession(db, ID));
        expect(running).toMatchObject({ stop_reason: null, blocked_reason: null, ended_at: null });
      });

      it('refuses a move from a status that it has left meanwhile', async () => {
        const store = await open();
        await admit(store, { id: ID, status: 'running' });
        const seen = await store.read((db) => getSession(db, ID));
        await store.tx('test', (db) => moveSession(db, seen, 'aborted', STOPS.aborted));
        const late = store.tx('test', (db) => moveSession(db, seen, 'complete', STOPS.complete));
        expect(await codeOf(late)).toBe('invalid_transition');
        expect(await store.read((db) => getSession(db, ID))).toMatchObject({
          status: 'aborted',
          stop_reason: 'aborted_by_user',
        });
      });
    });

    describe('events', () => {
      it('numbers them without a gap when several handles append at once', async () => {
        const stores = await opened(4);
        await admit(stores[0]!, { id: ID });
        await Promise.all(
          stores.flatMap((store, who) =>
            Array.from({ length: 10 }, (_, index) =>
              store.tx('test', (db) =>
                appendEvents(db, ID, [
                  { type: 'agent.text', data: { who, index } },
                  { type: 'agent.tool', iteration: 3 },
                ]),
              ),
            ),
          ),
        );
        const events = await stores[0]!.read((db) => readEvents(db, ID));
        expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 81 }, (_, index) => index + 1));
        const texts = events.filter(({ type }) => type === 'agent.text');
        expect(new Set(texts.map(({ data }) => `${data.who}.${data.index}`)).size).toBe(40);
        for (const { seq } of texts) expect(events[seq]).toMatchObject({ type: 'agent.tool', iteration: 3 });
      });

      it('leaves no gap where a transaction was given up', async () => {
        const store = await admitted();
        const failing = store.tx('test', async (db) => {
          await appendEvents(db, ID, [{ type: 'agent.text' }]);
          throw new Error('no');
        });
        await expect(failing).rejects.toThrow('no');
        await store.tx('test', (db) => appendEvents(db, ID, [{ type: 'agent.text' }]));
        expect((await store.read((db) => readEvents(db, ID))).map(({ seq }) => seq)).toEqual([1, 2]);
      });

      it('lets only the newest token through, and nothing of a fenced transaction', async () => {
        const store = await admitted();
        const take = async (owner: string) =>
          (await store.tx('test', async (db) =>
            takeSessionLease(db, ID, {
              owner,
              leaseMs: 1000,
              seen: await readSessionLease(db, ID),
              isGone: true,
            }),
          ))!;
        const first = await take('a');
        const second = await take('b');
        const append = (token: number) =>
          store.tx('test', async (db) => {
            await addSpending(db, ID, { costUsd: 1, tokens: 0 });
            await appendEvents(db, ID, [{ type: 'agent.text' }], { token });
          });
        expect(await codeOf(append(first))).toBe('fenced');
        await append(second);
        expect(await store.read((db) => readEvents(db, ID))).toHaveLength(2);
        expect((await store.read((db) => getSession(db, ID))).spent_usd).toBe(1);
      });

      it('reads after a number, up to a count, of one iteration', async () => {
        const store = await admitted();
        const events = [1, 1, 2].map((iteration) => ({ type: 'agent.text' as const, iteration }));
        await store.tx('test', (db) => appendEvents(db, ID, events));
        const seqs = async (options: Parameters<typeof readEvents>[2]) =>
          (await store.read((db) => readEvents(db, ID, options))).map(({ seq }) => seq);
        expect(await seqs({ after: 2 })).toEqual([3, 4]);
        expect(await seqs({ limit: 2 })).toEqual([1, 2]);
        expect(await seqs({ iteration: 1 })).toEqual([2, 3]);
      });

      it('takes any number at once, in order', async () => {
        const store = await admitted();
        const many = Array.from({ length: 6_001 }, (_, n) => ({ type: 'agent.text' as const, data: { n } }));
        expect(await store.tx('test', (db) => appendEvents(db, ID, many))).toBe(6_002);
        const last = await store.read((db) => readEvents(db, ID, { after: 6_000 }));
        expect(last.map(({ seq, data }) => [seq, data.n])).toEqual([
          [6_001, 5_999],
          [6_002, 6_000],
        ]);
      });

      it('redacts what they carry', async () => {
        const store = await admitted();
        const text = 'export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345';
        await store.tx('test', (db) => appendEvents(db, ID, [{ type: 'agent.text', data: { text } }]));
        const [, event] = await store.read((db) => readEvents(db, ID));
        expect(event!.data.text).toBe('export GITHUB_TOKEN=[redacted]');
      });
    });

    describe('iterations', () => {
      it('allows one live iteration a session, and the next once it is settled', async () => {
        const store = await admitted();
        await admit(store, { id: sessionId(2) });
        const insert = (id: string, number: number, status: 'pending' | 'dispatched' | 'running') =>
          store.tx('test', (db) => insertIteration(db, newIteration(id, number, { status })));
        await insert(ID, 1, 'running');
        for (const status of ['pending', 'dispatched', 'running'] as const) {
          await expect(insert(ID, 2, status)).rejects.toThrow();
        }
        await insert(sessionId(2), 1, 'running');
        await store.tx('test', (db) =>
          moveIteration(db, { id: newIteration(ID, 1).id, status: 'running' }, 'complete', {
            files_changed: ['b', 'c'],
            tree_hash: 'tree',
          }),
        );
        await insert(ID, 2, 'pending');
        const rows = await store.read((db) => listIterations(db, ID));
        expect(rows.map((it) => [it.iteration_number, it.status, it.files_changed])).toEqual([
          [1, 'complete', ['b', 'c']],
          [2, 'pending', []],
        ]);
        expect(await store.read((db) => treeSeen(db, ID, 'tree'))).toBe(true);
        expect(await store.read((db) => treeSeen(db, sessionId(2), 'tree'))).toBe(false);
      });

      it('keeps one row per session and number', async () => {
        const store = await admitted();
        const insert = (id: string) =>
          store.tx('test', (db) => insertIteration(db, newIteration(ID, 1, { id, status: 'failed' })));
        await insert('itr_a');
        await expect(insert('itr_b')).rejects.toThrow();
        expect(await store.read((db) => listIterations(db, ID))).toHaveLength(1);
      });
    });

    attemptsContract(open);
    breakersContract(open);
    lookingContract(open);
    dashboardContract(open);
    liveContract(open);
    branchesContract(open);
    jobsContract(open);
    notesContract(open);
    packsContract(open);
    figuresContract(open);
    researchContract(open);
    workflowsContract(open);

    it('writes evidence once, however often it is written', async () => {
      const store = await admitted();
      const key = { sessionId: ID, iteration: 2, attempt: 1 };
      const records = [verification(), verification({ command: 'lint', exit: null, passed: false })];
      await store.tx('test', (db) => insertVerifications(db, key, records));
      await store.tx('test', (db) => insertVerifications(db, key, records));
      await store.tx('test', (db) => insertVerifications(db, { ...key, iteration: 1 }, [verification()]));
      const stored = await store.read((db) => listVerifications(db, ID));
      expect(stored.map((record) => [record.iteration, record.command])).toEqual([
        [1, 'npm test'],
        [2, 'npm test'],
        [2, 'lint'],
      ]);
      expect(stored[2]).toEqual({ ...records[1], iteration: 2, attempt: 1 });
      expect(await store.read((db) => listVerifications(db, ID, 1))).toHaveLength(1);
    });

    it('writes a turn once and finds the newest of a session and of a project', async () => {
      const store = await admitted();
      const turn = (id: string, session: string | null, project = 'project') => ({
        id,
        parent_id: null,
        project_id: project,
        session_id: session,
        iteration_number: null,
        role: 'user',
        phase: 'planning',
        content: `content of ${id}`,
        content_hash: id,
        salience: 0.5,
        depth: 0,
      });
      await store.tx('test', async (db) => {
        await insertTurn(db, turn('a', ID));
        await insertTurn(db, turn('b', ID));
        await insertTurn(db, { ...turn('b', ID), content: 'changed' });
        await insertTurn(db, turn('c', null));
        await insertTurn(db, turn('d', null, 'other'));
      });
      const id = async (where: Parameters<typeof newestTurn>[1]) =>
        (await store.read((db) => newestTurn(db, where)))?.id;
      expect(await id({ sessionId: ID })).toBe('b');
      expect(await id({ projectId: 'project' })).toBe('c');
      expect(await id({ projectId: 'none' })).toBeUndefined();
      expect((await store.read((db) => findTurn(db, 'project', 'b')))?.content).toBe('content of b');
    });

    it('gives a read one snapshot, and a failing transaction no effect', async () => {
      const [one, two] = (await opened(2)) as [Store, Store];
      await admit(one, { id: ID });
      const failing = one.tx('test', async (db) => {
        await updateControl(db, ID, { answer: 'lost' });
        throw new Error('given up');
      });
      await expect(failing).rejects.toThrow('given up');
      expect((await two.read((db) => getControl(db, ID))).answer).toBeNull();
    });

    it('answers the monitoring query of docs/monitoring.md as printed', async () => {
      const store = await open();
      await admit(store, { id: ID, status: 'running', current_iteration: 2 });
      await admit(store, { id: sessionId(2), status: 'complete' });
      for (const number of [1, 2]) {
        const done = { status: 'complete', signal: 'CONTINUE', output_summary: `step ${number}` } as const;
        await store.tx('test', (db) => insertIteration(db, newIteration(ID, number, done)));
      }
      const { rows } = await store.read((db) => sql.raw(MONITORING_QUERY).execute(db));
      const shared = { id: ID, current_iteration: 2, max_iterations: 10, status: 'running' };
      const empty = { last_signal: null, commit_hash: null };
      expect(rows.map((row) => ({ ...(row as object) }))).toEqual([
        { ...shared, ...empty, signal: 'CONTINUE', output_summary: 'step 2' },
        { ...shared, ...empty, signal: 'CONTINUE', output_summary: 'step 1' },
      ]);
    });

    it.each(Object.entries(COLUMNS))('has every column of %s under its name', async (table, columns) => {
      const store = await open();
      const tables = await store.read((db) => db.introspection.getTables());
      const found = tables.find((candidate) => candidate.name === table)?.columns.map((it) => it.name);
      expect(columns.split(' ').filter((column) => !found?.includes(column))).toEqual([]);
    });
  });
}

const STOPS = {
  complete: { reason: 'completed', detail: null },
  blocked: { reason: 'no_signal', detail: null },
  failed: { reason: 'agent_error', detail: null },
  paused: { reason: 'paused_by_user', detail: null },
  aborted: { reason: 'aborted_by_user', detail: null },
} as const;

const MONITORING_QUERY = `SELECT s.id, s.current_iteration, s.max_iterations, s.status, s.last_signal,
       i.signal, i.output_summary, i.commit_hash
FROM pulse_sessions s
LEFT JOIN pulse_iterations i ON i.session_id = s.id
WHERE s.status = 'running'
ORDER BY i.iteration_number DESC;`;

/** The public columns. Clients read them by name. */
const COLUMNS = {
  pulse_sessions: [
    'id project_name goal max_iterations current_iteration status last_signal progress_log anchor_turn_id',
    'branch_name created_by total_commits total_tokens_used',
    'kind project_path base_branch base_sha worktree_path agent command setup verify budget_usd budget_tokens',
    'time_limit_ms iteration_timeout_ms idle_timeout_ms spent_usd reserved_usd running_ms stop_reason',
    'blocked_reason resume_at chat_id phone_number discord_thread_id parent_session_id created_at started_at',
    'ended_at',
  ].join(' '),
  pulse_iterations: [
    'id session_id iteration_number inbox_task_id task_content status signal output_summary output_full',
    'commit_hash files_changed anchor_turn_id anchor_strategy anchor_hint_next context_tokens slice_id',
    'unit attempt signal_source signal_rule anchor_resolution_ms salience depth start_sha cost_usd',
    'input_tokens output_tokens cache_tokens failure_class outcome started_at ended_at',
  ].join(' '),
  inbox_tasks: [
    'id source status task_content project_path agent labels priority media_context run_at attempt',
    'max_attempts lease_owner lease_until token idempotency_key result',
  ].join(' '),
};
