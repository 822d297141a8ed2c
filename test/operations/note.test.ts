/** A note steers a session without stopping it: in one brief, and sooner where the agent can be told. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getSession } from '../../src/store/sessions.ts';
import { newestTurn } from '../../src/store/turns.ts';
import { COMPLETE, makeScene, type Scene, until } from '../engine/scene.ts';

const ACTOR = { actor: 'test' };

async function briefs(scene: Scene, { id }: { id: string }): Promise<string[]> {
  return (await scene.pulse.show(id)).iterations.map(({ task_content }) => task_content);
}

/** Waits in its first run until the test lets it go on; three iterations in all. */
const waits = (folder: string, before = '') =>
  `touch ${folder}/at-$PULSE_ITERATION; ${before}
   while [ ! -e ${folder}/go-$PULSE_ITERATION ] && [ $PULSE_ITERATION = 1 ]; do sleep 0.02; done
   if [ $PULSE_ITERATION = 3 ]; then echo "<signal>COMPLETE</signal>"; else echo x >> f; echo "<signal>CONTINUE</signal>"; fi`;

describe('a note', () => {
  it('to a running session is quoted in the next brief, in no other, and kept as a turn', async () => {
    const scene = await makeScene();
    const { pulse, folder, store } = scene;
    const session = await scene.start(waits(folder));
    const running = scene.run(session);
    await until(() => existsIn(folder, 'at-1'));
    await pulse.note(session.id, { text: 'Leave the ``` API as it is.', ...ACTOR });
    expect((await store.read((db) => newestTurn(db, { sessionId: session.id })))?.content).toContain('API');
    writeFileSync(join(folder, 'go-1'), '');
    expect(await running).toMatchObject({ status: 'complete', current_iteration: 3 });
    const told = await briefs(scene, session);
    expect(told.map((brief) => brief.includes('Leave the ``` API'))).toEqual([false, true, false]);
    const added = (await scene.events(session)).find(({ type }) => type === 'note.added');
    expect(added?.data).toMatchObject({ actor: 'test', text: 'Leave the ``` API as it is.' });
  });

  it('reaches a running agent beside the next answer of a tool of Pulse’s, once', async () => {
    const scene = await makeScene();
    const { pulse, folder } = scene;
    const asks = (file: string) => `pulse tool report_usage '{"inputTokens": 1}' > ${folder}/${file}`;
    const session = await scene.start(
      `touch ${folder}/at; while [ ! -e ${folder}/go ]; do sleep 0.02; done; ${asks('one')}; ${asks('two')}; ${COMPLETE}`,
    );
    const running = scene.run(session);
    await until(() => existsIn(folder, 'at'));
    await pulse.note(session.id, { text: 'Mind the gap.', ...ACTOR });
    writeFileSync(join(folder, 'go'), '');
    await running;
    expect(readFileSync(join(folder, 'one'), 'utf8')).toContain('Mind the gap.');
    expect(readFileSync(join(folder, 'two'), 'utf8')).not.toContain('Mind the gap.');
    expect((await scene.events(session)).map(({ type }) => type)).toContain('note.delivered');
  });

  it('that nobody read is counted, of the session and in the overview', async () => {
    const scene = await makeScene();
    const { pulse, folder } = scene;
    const session = await scene.start(
      `touch ${folder}/at; while [ ! -e ${folder}/go ]; do sleep 0.02; done; ${COMPLETE}`,
    );
    const running = scene.run(session);
    await until(() => existsIn(folder, 'at'));
    await pulse.note(session.id, { text: 'Too late.', ...ACTOR });
    await pulse.pause(session.id, ACTOR);
    expect(await pulse.show(session.id)).toMatchObject({ unreadNotes: 1, request: 'pause' });
    expect((await pulse.overview()).groups.running).toMatchObject([{ unreadNotes: 1, request: 'pause' }]);
    writeFileSync(join(folder, 'go'), '');
    expect(await running).toMatchObject({ status: 'complete' });
    expect(await pulse.show(session.id)).toMatchObject({ unreadNotes: 1 });
    expect((await pulse.overview()).groups.done).toMatchObject([{ unreadNotes: 1 }]);
  });

  it('to a stopped session waits for its resume; as an answer it is one', async () => {
    const scene = await makeScene();
    const { pulse, run } = scene;
    const blocked = await scene.startAndRun('echo "<signal>BLOCKED: which?</signal>"');
    const noted = await pulse.note(blocked.id, { text: 'The second.', ...ACTOR });
    expect(noted).toMatchObject({ next: 'attach', session: { status: 'blocked' } });
    const { session } = await pulse.resume(blocked.id, ACTOR);
    expect(session.status).toBe('running');
    await run(blocked);
    expect((await briefs(scene, blocked)).at(-1)).toContain('The second.');

    const answered = await pulse.note(blocked.id, { text: 'The third.', isAnswer: true, ...ACTOR });
    expect(answered).toMatchObject({ next: 'run', session: { status: 'running' } });
    await run(blocked);
    expect((await briefs(scene, blocked)).at(-1)).toMatch(/Answer from the person[\s\S]*The third/);
    expect((await briefs(scene, blocked)).at(-1)).not.toContain('The second.');
  });

  it('is in the brief of an attempt that was stopped and is done again, and left by one that nobody read', async () => {
    const scene = await makeScene();
    const { pulse, folder, run } = scene;
    const session = await scene.start(waits(folder), { maxIterations: 3 });
    const running = run(session);
    await until(() => existsIn(folder, 'at-1'));
    await pulse.pause(session.id, { ...ACTOR, now: true });
    await running;
    await pulse.note(session.id, { text: 'Said in the pause.', ...ACTOR });
    // Its setup fails, so that nobody reads the brief of iteration 1; the next has it.
    await pulse.resume(session.id, { ...ACTOR, setup: ['exit 3'] });
    expect(await run(session)).toMatchObject({ stop_reason: 'preflight_failed' });
    expect((await briefs(scene, session))[0]).toContain('Said in the pause.');
    await pulse.resume(session.id, { ...ACTOR, setup: [] });
    await run(session);
    const told = await briefs(scene, session);
    expect(told.map((brief) => brief.includes('Said in the pause.'))).toEqual([true, true, false]);
  });

  it('is refused where nobody would read it, where nothing was asked, and when it says nothing', async () => {
    const scene = await makeScene();
    const { pulse, store } = scene;
    const done = await scene.startAndRun(COMPLETE);
    const told = (text: string, more = {}) => pulse.note(done.id, { text, ...ACTOR, ...more });
    await expect(told('x')).rejects.toMatchObject({ code: 'invalid_transition' });
    const fresh = await scene.start(COMPLETE);
    await expect(pulse.note(fresh.id, { text: 'x', isAnswer: true, ...ACTOR })).rejects.toMatchObject({
      code: 'invalid_transition',
      hint: expect.stringContaining('pulse note'),
    });
    await expect(pulse.note(fresh.id, { text: ' ', ...ACTOR })).rejects.toMatchObject({ code: 'usage' });
    await expect(pulse.note(fresh.id, { text: 'x'.repeat(70_000), ...ACTOR })).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await store.read((db) => getSession(db, fresh.id))).status).toBe('pending');
  });
});

function existsIn(folder: string, name: string): boolean {
  return existsSync(join(folder, name));
}
