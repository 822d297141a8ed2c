/** Words that a button asked for: they are never taken for something else. */
import { describe, expect, it } from 'vitest';
import { answerMessage, type Incoming } from '../../src/notify/inbound/answer.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { COMPLETE } from '../engine/scene.ts';
import { asking, type ChatScene, heard, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { courier, deliver, service } from './outbox-scene.ts';
import { blocked, noting } from './reading-scene.ts';

const LIMITED = `[ "$PULSE_ITERATION" = 1 ] && echo x > x.txt && echo "<signal>CONTINUE</signal>" || { ${COMPLETE}; }`;

/** A session that has reached its limit, told to the chat of 42. */
async function limited(scene: ChatScene) {
  const input = { goal: 'g', path: scene.root, command: LIMITED, maxIterations: 1, chatId: '42' };
  const { session } = await scene.pulse.start({ ...input, createdBy: 'api' });
  await scene.run(session);
  await heard(scene, 'Blocked');
  const message = scene.telegram.sent.findLast(({ text }) => text.includes('Blocked'))!;
  return { id: session.id, message };
}

/** Presses, and returns the message that asks for words. */
async function pressed(scene: ChatScene, message: ChatScene['telegram']['sent'][number], label: string) {
  const before = scene.telegram.sent.length;
  scene.telegram.press({ from: 42, message, label });
  await waitFor(() => scene.telegram.sent.length > before);
  return scene.telegram.sent.at(-1)!;
}

const resumedOf = async ({ pulse }: ChatScene, id: string) =>
  (await pulse.export(id)).events.filter(({ type }) => type === 'session.resumed');

describe('on Telegram', () => {
  it('a yes after Abort aborts, as a message of its own, too, and raises no limit', async () => {
    const scene = await makeChatScene();
    const { id, message } = await limited(scene);
    expect((await pressed(scene, message, 'Abort')).text).toContain('Write yes');
    scene.telegram.write({ from: 42, text: 'yes' });
    await waitFor(async () => (await statusOf(scene, id)) !== 'blocked');
    expect(await scene.pulse.session(id)).toMatchObject({ status: 'aborted', max_iterations: 1 });
    expect(await resumedOf(scene, id)).toEqual([]);
  });

  it('a yes to the first of two questions whether to abort aborts', async () => {
    const scene = await makeChatScene();
    const { id, message } = await limited(scene);
    const first = await pressed(scene, message, 'Abort');
    await pressed(scene, message, 'Abort');
    scene.telegram.write({ from: 42, text: 'yes', repliesTo: first.message_id });
    await waitFor(async () => (await statusOf(scene, id)) !== 'blocked');
    expect(await scene.pulse.session(id)).toMatchObject({ status: 'aborted', max_iterations: 1 });
  });

  it('a yes as a reply to the question itself, after Abort, raises no limit either', async () => {
    const scene = await makeChatScene();
    const { id, message } = await limited(scene);
    await pressed(scene, message, 'Abort');
    scene.telegram.write({ from: 42, text: 'yes', repliesTo: message.message_id });
    await waitFor(async () => (await statusOf(scene, id)) === 'aborted');
  });

  it('where two things were asked, words without a reply are for neither, and are refused', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const message = scene.telegram.sent.findLast(({ text }) => text.includes('Blocked'))!;
    const prompt = await pressed(scene, message, 'Answer');
    await pressed(scene, message, 'Abort');
    scene.telegram.write({ from: 42, text: 'yes' });
    await heard(scene, /not clear what your words are for[\s\S]*Reply to the message that asked/);
    expect(await statusOf(scene, id)).toBe('blocked');
    scene.telegram.write({ from: 42, text: 'Port 3.', repliesTo: prompt.message_id });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    expect((await resumedOf(scene, id)).map(({ data }) => data.answer)).toEqual(['Port 3.']);
  });

  it('who thinks better of it says so once, and then answers in plain words', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const message = scene.telegram.sent.findLast(({ text }) => text.includes('Blocked'))!;
    await pressed(scene, message, 'Abort');
    scene.telegram.write({ from: 42, text: 'Port 8080.' });
    await heard(scene, /It was not aborted[\s\S]*Your words answered nothing/);
    expect(await statusOf(scene, id)).toBe('blocked');
    scene.telegram.write({ from: 42, text: 'Port 8080.' });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    expect(await resumedOf(scene, id)).toHaveLength(1);
  });
});

onBothStores((open) => {
  it('a yes to what was asked by a process that died before it could note so does nothing', async () => {
    const store = await open();
    const bot = await service({ ok: true, result: { message_id: 7 } });
    const telegram = { tokenEnv: 'TOKEN', apiUrl: bot.url, allow: ['42'], chat: '42' };
    await blocked(store, { telegram });
    await deliver(courier(store, { TOKEN: '1:abc' }));
    const [{ account_id: accountId, id: action }] = (await store.read((db) =>
      withNotifyTables(db)
        .selectFrom('notify_actions')
        .select(['account_id', 'id'])
        .where('action', '=', 'abort')
        .execute(),
    )) as [{ account_id: string; id: string }];
    const { actions, did } = noting(store);
    const say = (id: string, command: Incoming['command']) =>
      answerMessage(
        { store, actions },
        {
          ...{ channel: 'telegram', accountId, allow: ['42'], sender: '42', chat: '42', repliesTo: null },
          ...{ id, command, hasPrompts: true },
        },
      );
    expect(await say('1', { do: 'press', action, text: null })).toMatchObject({
      ask: { action, prompt: expect.any(String) },
    });
    expect((await say('2', { do: 'answer', text: 'yes' }))?.text).toContain('Press the button once more');
    expect(did).toEqual([]);
  });
});
