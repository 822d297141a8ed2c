/** What an iteration's row says of its brief: its length, its account, its anchor, also when it is done again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WHOLE_BRIEF } from '../../src/context/bounded-brief.ts';
import { MOST_BRIEF_TOKENS } from '../../src/context/brief.ts';
import { insertTurn } from '../../src/store/turns.ts';
import { words } from '../fakes/words.ts';
import { COMPLETE, makeScene, type Scene, until } from './scene.ts';

const PERSON = { actor: 'tester' };
const LONG = 60 * 1024;

describe('a brief of a loop', () => {
  it('is cut to what a brief may have, and the whole stands in its worktree and in no commit', async () => {
    const scene = await makeScene();
    const approach = words(LONG, 1);
    const script = join(scene.folder, 'pulse.sh');
    const summary = JSON.stringify({ summary: 'feat: one', filesChanged: ['one.txt'] });
    writeFileSync(
      script,
      `cat > /dev/null; cp ${WHOLE_BRIEF} ${scene.folder}/whole-$PULSE_UNIT; echo 1 > one.txt; pulse tool pulse_done '${summary}'`,
    );
    const { session } = await scene.pulse.workflow.start({
      plan: {
        ...{ title: 'Long', approach },
        pulses: ['one', 'two'].map((id, index) => ({
          ...{ id, title: id, description: words(LONG, 2 + index) },
        })),
      },
      ...{ path: scene.root, command: `. ${script}`, createdBy: 'cli', actor: 'test', isApproved: true },
    });
    await scene.run(session);
    const { iterations } = await scene.pulse.show(session.id);
    const iteration = iterations.find(({ unit }) => unit === 'one');
    const brief = iteration!.task_content;
    expect(iteration!.context_tokens).toBeLessThanOrEqual(MOST_BRIEF_TOKENS);
    expect(iteration!.context_tokens).toBeGreaterThan(MOST_BRIEF_TOKENS * 0.8);
    const sum = iteration!.sections!.reduce((total, { tokens }) => total + tokens, 0);
    expect(sum).toBe(iteration!.context_tokens);
    expect(brief).toContain(words(LONG, 2));
    expect(brief).not.toContain(approach);
    expect(brief).toContain(WHOLE_BRIEF);
    const whole = readFileSync(join(scene.folder, 'whole-one'), 'utf8');
    expect(whole).toContain(approach);
    expect(whole).toContain(words(LONG, 2));
    const files = scene.sh(scene.root, 'ls-tree', '-r', '--name-only', session.branch_name);
    expect(files.split('\n')).toContain('one.txt');
    expect(files).not.toContain('.pulse');
  });
});

/** The first attempt waits to be interrupted; those after it do the work. */
function waiting({ folder }: Scene, then: string): string {
  return `cat > /dev/null; if [ ! -e ${folder}/at-work ]; then touch ${folder}/at-work; exec sleep 600; fi\n${then}`;
}

async function interrupted(scene: Scene, id: string): Promise<void> {
  const stop = new AbortController();
  const running = scene.pulse.run(id, stop.signal);
  await until(() => existsSync(join(scene.folder, 'at-work')));
  stop.abort();
  await running;
}

describe('a brief that is composed again', () => {
  it.each(['workflow', 'bead'] as const)('is counted, where a plan is drafted (%s)', async (loop) => {
    const scene = await makeScene();
    const script = join(scene.folder, 'plan.sh');
    writeFileSync(script, waiting(scene, 'exit 0'));
    const asked = {
      ...{ goal: 'Greet people', path: scene.root, command: `. ${script}`, createdBy: 'cli' as const },
    };
    const { session } =
      loop === 'workflow'
        ? await scene.pulse.workflow.start({ ...asked, actor: 'test' })
        : await scene.pulse.bead.plan(asked);
    await interrupted(scene, session.id);
    const [before] = (await scene.pulse.show(session.id)).iterations;
    expect(before!.context_tokens).toBeGreaterThan(100);
    await scene.run(session);
    const { iterations } = await scene.pulse.show(session.id);
    const retried = iterations.find(({ iteration_number }) => iteration_number === 1)!;
    expect(retried.attempt).toBe(2);
    expect(retried.context_tokens).toBeGreaterThan(100);
    expect(retried.sections!.find(({ name }) => name === 'goal')!.tokens).toBe(retried.context_tokens);
  });

  it.each(['interrupted', 'stopped'] as const)(
    'has its anchor and its invalid hints in the row and in an event (%s)',
    async (how) => {
      const scene = await makeScene();
      const session = await scene.start(waiting(scene, COMPLETE), { goal: 'Open the harbour at tide' });
      const id = '00000000-0000-7000-8000-00000000000b';
      const gone = '00000000-0000-7000-8000-0000000000ff';
      if (how === 'interrupted') await interrupted(scene, session.id);
      else {
        const running = scene.pulse.run(session.id, new AbortController().signal);
        await until(() => existsSync(join(scene.folder, 'at-work')));
        await scene.pulse.pause(session.id, { ...PERSON, now: true });
        await running;
      }
      expect((await scene.pulse.show(session.id)).iterations[0]!.anchor_turn_id).toBeNull();
      await scene.store.tx('turn', async (db) => {
        const { project_id } = await db
          .selectFrom('turns')
          .select('project_id')
          .where('session_id', '=', session.id)
          .executeTakeFirstOrThrow();
        await insertTurn(db, {
          ...{ id, parent_id: null, project_id, session_id: null, iteration_number: null },
          ...{ role: 'assistant', phase: 'planning', salience: 0.5, depth: 0, content_hash: 'x' },
          content: 'The harbour opens at high tide.',
        });
        await db
          .updateTable('pulse_sessions')
          .set({ anchor_turn_id: gone })
          .where('id', '=', session.id)
          .execute();
      });
      if (how === 'stopped') await scene.pulse.resume(session.id, PERSON);
      await scene.run(session);
      const [iteration] = (await scene.pulse.show(session.id)).iterations;
      expect(iteration!.task_content).toContain('high tide');
      expect(iteration).toMatchObject({
        ...{ attempt: 2, anchor_turn_id: id, anchor_strategy: 'semantic', salience: 0.5, depth: 0 },
        slice_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      const type = how === 'stopped' ? 'session.resumed' : 'iteration.retried';
      const told = (await scene.events(session)).findLast((event) => event.type === type);
      expect(told!.data).toMatchObject({
        ...{ anchorTurnId: id, anchorStrategy: 'semantic' },
        invalidHints: [{ strategy: 'explicit', turnId: gone }],
      });
    },
  );
});
