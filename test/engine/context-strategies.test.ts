/** What a run gets of its project's past, by the strategy of its session. */
import { describe, expect, it } from 'vitest';
import { CONTEXT_STRATEGIES, CONTEXT_TOOLS, type ContextStrategy } from '../../src/domain/context-words.ts';
import { attemptSpec, specNow } from '../../src/engine/runner/dispatch.ts';
import type { Session } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTurn } from '../../src/store/turns.ts';
import { stateOf } from '../loops/states.ts';
import { makeScene } from './scene.ts';

const FILES = {
  'src/harbour.ts': 'export function openHarbour() {}\n',
  // The config does not name it; it is held out all the same.
  '.pulse/held-out/harbour.ts': 'export function openHarbourCheck() {}\n',
};
const TURN = '00000000-0000-7000-8000-00000000000a';

const CONTENT = 'The harbour opens at high tide only.\nkey sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';

/** Said in the session's project before it began. */
async function addPast(store: Store, session: Pick<Session, 'id'>): Promise<void> {
  await store.tx('turn', async (db) => {
    const { project_id } = await db
      .selectFrom('turns')
      .select('project_id')
      .where('session_id', '=', session.id)
      .executeTakeFirstOrThrow();
    await insertTurn(db, {
      ...{ id: TURN, parent_id: null, project_id, session_id: null, iteration_number: null },
      ...{ role: 'assistant', phase: 'planning', salience: 0.5, depth: 0, content_hash: 'x' },
      content: CONTENT,
    });
  });
}

const ASK = `
for call in 'pulse_context_search {"query":"harbour tide"}' 'pulse_context_turn {"turn_id":"${TURN}"}' \\
  'pulse_context_turn {"turn_id":"none"}' 'semantic_search {"query":"open the harbour"}' \\
  'semantic_search {"query":""}' 'pulse_context_search {"query":""}' "semantic_search {\\"query\\":\\"$(printf 'harbour %.0s' $(seq 200))\\"}"; do
  pulse tool "\${call%% *}" "\${call#* }" || true
done
echo "<signal>COMPLETE</signal>"`;

describe('a session', () => {
  it.each(CONTEXT_STRATEGIES)(
    'with %s has the tools of its strategy, and its brief says so',
    async (contextStrategy) => {
      const scene = await makeScene({ repo: { files: FILES } });
      const begun = await scene.start(ASK, { goal: 'Say when the harbour opens', contextStrategy });
      await addPast(scene.store, begun);
      const session = await scene.run(begun);
      expect(session.status).toBe('complete');
      const { iterations } = await scene.pulse.show(session.id);
      const [iteration] = iterations;
      const { task_content: brief, output_full: said, sections } = iteration!;
      const hasTools = contextStrategy === 'mcp' || contextStrategy === 'hybrid';
      const isQuoted = contextStrategy === 'prefetch' || contextStrategy === 'hybrid';
      for (const name of CONTEXT_TOOLS) expect(brief.includes(name), name).toBe(hasTools);
      expect(brief.includes('high tide')).toBe(isQuoted);
      expect(said!.includes(TURN)).toBe(hasTools);
      expect(said!.includes('src/harbour.ts:1:')).toBe(hasTools);
      expect(said!).not.toContain('held-out');
      // An empty query and an endless one are answered as well.
      expect(said!.match(/index: (?:lexical|partial|ready|stale)/g) ?? []).toHaveLength(hasTools ? 3 : 0);
      expect(said!.includes('There is no turn none')).toBe(hasTools);
      expect(said!.includes('{"results":[]}')).toBe(hasTools);
      expect(brief).not.toContain('abcdefghijklmnopqrstuvwxyz0123456789');
      expect(said).not.toContain('abcdefghijklmnopqrstuvwxyz0123456789');
      expect(iteration).toMatchObject({ anchor_strategy: 'semantic', anchor_turn_id: TURN });
      expect(iteration!.slice_id).toMatch(/^[0-9a-f]{64}$/);
      const planned = (await scene.events(session)).find(({ type }) => type === 'iteration.planned')!;
      expect(planned.data).toMatchObject({ sections, invalidHints: [] });
      expect(sections!.find(({ name }) => name === 'context')!.tokens > 0).toBe(contextStrategy !== 'none');
      const sum = sections!.reduce((total, { tokens }) => total + tokens, 0);
      expect(Math.abs(sum - iteration!.context_tokens)).toBeLessThan(iteration!.context_tokens / 10);
    },
  );
});

describe('the tools of an attempt', () => {
  const spec = (agent: string, contextStrategy: ContextStrategy) => {
    const state = stateOf({ session: { agent }, settings: { contextStrategy } });
    return attemptSpec(state, { unit: null, startSha: 'base', recoverTo: null });
  };
  const now = (role: string, tools: string[], contextStrategy: ContextStrategy) => {
    const { session, control } = stateOf({ settings: { contextStrategy } });
    const before = { ...spec(session.agent, 'none'), role, tools };
    return specNow(before, { session, settings: control.settings }).tools;
  };

  it('do not let the native agent search by meaning unless its strategy does', () => {
    expect(spec('native', 'prefetch').tools).not.toContain('semantic_search');
    expect(spec('native', 'prefetch').tools).toContain('grep');
  });

  it('follow a strategy that is changed while a session rests', () => {
    expect(now('worker', ['pulse_signal'], 'hybrid')).toEqual(['pulse_signal', ...CONTEXT_TOOLS]);
    expect(now('worker', ['pulse_signal', ...CONTEXT_TOOLS], 'prefetch')).toEqual(['pulse_signal']);
  });

  it('keep the search of a pulse alone, and give none to one that must judge alone', () => {
    expect(now('pulse', [...CONTEXT_TOOLS, 'grep'], 'prefetch')).toEqual(['grep', 'semantic_search']);
    for (const role of ['bead', 'debugging', 'planner', 'experiment']) {
      expect(now(role, ['grep', 'semantic_search'], 'prefetch'), role).toEqual(['grep']);
      expect(now(role, ['grep'], 'mcp'), role).toEqual(['grep', ...CONTEXT_TOOLS]);
    }
    expect(now('reviewer', ['grep'], 'hybrid')).toEqual(['grep']);
    expect(now('baseline', [], 'hybrid')).toEqual([]);
  });
});
