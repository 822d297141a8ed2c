/** Briefs from a real store's rows; the text itself is test/context's. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BriefInput, composeBrief } from '../../src/loops/goal/brief.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { SessionSettings } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { findTurn, insertTurn, markHinted } from '../../src/store/turns.ts';
import { insertVerifications } from '../../src/store/verifications.ts';
import { admit } from '../fakes/admit.ts';
import { type StateParts, stateOf } from '../loops/states.ts';
import { sessionId, verification } from '../store/rows.ts';

const ID = sessionId(1);

describe('a brief', () => {
  let store: Store;

  beforeEach(async () => {
    store = await openSqlite({ path: ':memory:' });
    await admit(store, { id: ID });
  });
  afterEach(() => store.close());

  function compose(parts: StateParts, input: Partial<BriefInput> = {}) {
    const { session, control, recent } = stateOf(parts);
    return composeBrief(
      { store },
      {
        session,
        control,
        recent,
        iteration: recent.length + 1,
        attempt: 1,
        recoveryRef: null,
        interruption: null,
        isDiagnostic: false,
        asksConfirmation: false,
        ...input,
      },
    );
  }

  async function addTurn(id: string, content: string, projectId = 'project') {
    await store.tx('turn', (db) =>
      insertTurn(db, {
        id,
        parent_id: null,
        project_id: projectId,
        session_id: ID,
        iteration_number: 1,
        role: 'assistant',
        phase: 'planning',
        content,
        content_hash: id,
        salience: 0.7,
        depth: 3,
      }),
    );
  }

  it('with the strategy `none` leaves the model of meaning alone', async () => {
    const asked: string[] = [];
    const meaning = {
      async search(_: Store, { projectId }: { projectId: string }) {
        asked.push(projectId);
        return [];
      },
      state: () => 'none' as const,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    await addTurn('00000000-0000-7000-8000-00000000000a', 'The frobnicator turns left.');
    for (const contextStrategy of ['none', 'mcp'] as const) {
      const { session, control, recent } = stateOf({
        session: { goal: 'Fix the frobnicator' },
        settings: { contextStrategy },
      });
      const input = { session, control, recent, iteration: 1, attempt: 1, recoveryRef: null };
      const rest = { interruption: null, isDiagnostic: false, asksConfirmation: false };
      const { anchor } = await composeBrief({ store, meaning }, { ...input, ...rest });
      expect(anchor.strategy).toBe('semantic');
      expect(asked.length > 0, contextStrategy).toBe(contextStrategy !== 'none');
    }
  });

  const PREFETCH: Partial<SessionSettings> = { contextStrategy: 'prefetch' };

  it('holds the goal, the count and the branch, and its own number of tokens', async () => {
    const { text, tokens, anchor } = await compose({
      session: { goal: 'Fix the frobnicator', verify: ['npm test'] },
    });
    expect(text).toContain('Fix the frobnicator');
    expect(text).toContain('npm test');
    expect(text).toContain('pulse/goal-0001');
    expect(tokens).toBeGreaterThan(50);
    expect(tokens).toBeLessThan(text.length);
    expect(anchor).toMatchObject({ turnId: null, strategy: null, invalid: [] });
  });

  it('carries the output of the checks that rejected the last COMPLETE, of that attempt alone', async () => {
    const key = { sessionId: ID, iteration: 1, attempt: 1 };
    const failing = (outputTail: string) =>
      verification({ passed: false, exit: 3, command: 'npm run lint', outputTail });
    await store.tx('evidence', async (db) => {
      await insertVerifications(db, key, [failing('an old complaint')]);
      await insertVerifications(db, { ...key, attempt: 2 }, [
        verification({ command: 'npm test', outputTail: 'a passing check' }),
        failing('expected 3, got 4'),
      ]);
    });
    const { text } = await compose({ recent: [{ outcome: 'rejected', attempt: 2 }] });
    expect(text).toContain('expected 3, got 4');
    expect(text).toContain('npm run lint');
    expect(text).not.toContain('an old complaint');
    expect(text).not.toContain('a passing check');
  });

  it('quotes a person’s answer', async () => {
    const { text } = await compose({ control: { answer: 'Use the staging key.' } });
    expect(text).toContain('Use the staging key.');
  });

  it('says how the last run ended', async () => {
    const summary = { output_summary: 'Wrote the parser.', commit_hash: 'abc123' };
    expect((await compose({ recent: [summary] })).text).toContain('Wrote the parser.');
    const idle = { outcome: 'timeout', failure_class: 'timeout_idle' } as const;
    expect((await compose({ recent: [idle] })).text).toContain('no activity');
    const hard = { outcome: 'timeout', failure_class: 'timeout_hard' } as const;
    expect((await compose({ recent: [hard] })).text).toContain('used up its time');
    const blocked = await compose({
      recent: [{ outcome: 'blocked' }],
      session: {
        progress_log: [
          {
            iteration: 1,
            signal: 'BLOCKED',
            summary: null,
            commit: null,
            files: [],
            reason: 'Which port?',
            at: '',
          },
        ],
      },
    });
    expect(blocked.text).toContain('Which port?');
  });

  it('names where an interrupted attempt’s leftovers are', async () => {
    const recoveryRef = `refs/pulse/recovery/${ID}/1.1`;
    const { text } = await compose({}, { attempt: 2, recoveryRef, interruption: 'stopped by a person' });
    expect(text).toContain(recoveryRef);
  });

  it('asks for confirmation, and for a diagnosis, where it is told to', async () => {
    expect((await compose({ recent: [{}] }, { asksConfirmation: true })).text).toContain('gave no signal');
    const still = { new_tree: 0, commit_hash: null };
    const { text } = await compose({ recent: [still, still, still] }, { isDiagnostic: true });
    expect(text).toContain('last 3 iterations made no progress (no file was changed)');
  });

  describe('its anchor', () => {
    const CHAINED = '00000000-0000-7000-8000-00000000000a';
    const EXPLICIT = '00000000-0000-7000-8000-00000000000b';
    const NEWEST = '00000000-0000-7000-8000-00000000000c';

    beforeEach(async () => {
      await addTurn(CHAINED, 'the chained turn');
      await addTurn(EXPLICIT, 'the explicit turn');
      await addTurn(NEWEST, 'the newest turn');
    });

    it.each([
      ['chained', CHAINED, { anchor_hint_next: CHAINED }, EXPLICIT],
      ['explicit', EXPLICIT, { anchor_hint_next: null }, EXPLICIT],
      ['temporal', NEWEST, { anchor_hint_next: null }, null],
    ] as const)('is the %s turn', async (strategy, turnId, last, anchor_turn_id) => {
      const { anchor, text } = await compose({
        recent: [last],
        session: { anchor_turn_id },
        settings: PREFETCH,
      });
      expect(anchor).toMatchObject({ strategy, turnId, salience: 0.7, depth: 3, invalid: [] });
      expect(anchor.resolutionMs).toBeGreaterThanOrEqual(0);
      expect(text).toContain(`the ${strategy === 'temporal' ? 'newest' : strategy} turn`);
    });

    it('is recorded where the context is not prefetched, and its text is not sent', async () => {
      const { anchor, text } = await compose({ settings: { contextStrategy: 'none' } });
      expect(anchor.strategy).toBe('temporal');
      expect(text).not.toContain('the newest turn');
    });

    it('is found however a hint spells its id', async () => {
      const lower = '0000abcd-0000-7000-8000-00000000abcd';
      await addTurn(lower, 'The frobnicator turns left.');
      const { anchor } = await compose({ recent: [{ anchor_hint_next: lower.toUpperCase() }] });
      expect(anchor).toMatchObject({ strategy: 'chained', turnId: lower, invalid: [] });
      const hinted = { projectId: 'project', id: lower.toUpperCase(), raise: () => 0.9 };
      await store.tx('hint', (db) => markHinted(db, hinted));
      expect(await store.read((db) => findTurn(db, 'project', lower))).toMatchObject({ salience: 0.9 });
      const upper = '0000EF00-0000-4000-8000-00000000EF00';
      await addTurn(upper, 'An import keeps its id as it is.');
      const found = await compose({ recent: [{ anchor_hint_next: upper.toLowerCase() }] });
      expect(found.anchor).toMatchObject({ strategy: 'chained', turnId: upper });
    });

    it('falls back where a hint names no turn, and records it as invalid', async () => {
      const { anchor } = await compose({
        recent: [{ anchor_hint_next: 'nowhere' }],
        session: { anchor_turn_id: EXPLICIT },
      });
      expect(anchor).toMatchObject({
        strategy: 'explicit',
        turnId: EXPLICIT,
        invalid: [{ strategy: 'chained', turnId: 'nowhere' }],
      });
    });

    it('is never the own goal of the session, also where a hint names it', async () => {
      const goal = '00000000-0000-7000-8000-0000000000ff';
      await store.tx('turn', (db) =>
        insertTurn(db, {
          ...{ id: goal, parent_id: null, project_id: 'project', session_id: ID, iteration_number: null },
          ...{
            role: 'user',
            phase: 'planning',
            content: 'the goal',
            content_hash: 'g',
            salience: 0.5,
            depth: 0,
          },
        }),
      );
      const { anchor, sections = [], tokens } = await compose({ recent: [{ anchor_hint_next: goal }] });
      expect(anchor).toMatchObject({
        ...{ strategy: 'temporal', turnId: NEWEST },
        invalid: [{ strategy: 'chained', turnId: goal }],
      });
      const names = ['goal', 'rules', 'answer', 'outcome', 'progress', 'context'];
      expect(sections.map(({ name }) => name)).toEqual(names);
      const sum = sections.reduce((total, each) => total + each.tokens, 0);
      expect(Math.abs(sum - tokens)).toBeLessThan(tokens / 10);
    });

    it('is never a turn of another project', async () => {
      await addTurn('00000000-0000-7000-8000-00000000000d', 'a secret of others', 'other');
      const hint = { anchor_hint_next: '00000000-0000-7000-8000-00000000000d' };
      const { anchor, text } = await compose({ recent: [hint], settings: PREFETCH });
      expect(anchor).toMatchObject({
        strategy: 'temporal',
        turnId: NEWEST,
        invalid: [{ strategy: 'chained' }],
      });
      expect(text).not.toContain('a secret of others');
    });
  });
});
