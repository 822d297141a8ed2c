/** Buttons: each counts once, for the stop that it was shown for. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { actionsFor } from '../../src/notify/buttons.ts';
import { COMPLETE } from '../engine/scene.ts';
import { asking, type ChatScene, heard, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { openDiscord } from './discord-bot.ts';
import { openTelegram } from './telegram-bot.ts';

const question = ({ telegram }: ChatScene) => telegram.sent.findLast(({ text }) => text.includes('Blocked'))!;
const noted = (scene: ChatScene, words: string) =>
  waitFor(() => scene.telegram.notes.some(({ text }) => text?.includes(words)));
const resumed = async ({ pulse }: ChatScene, id: string) =>
  (await pulse.export(id)).events.filter(({ type }) => type === 'session.resumed');
const done = (scene: ChatScene, id: string) =>
  waitFor(async () => (await statusOf(scene, id)) === 'complete');

describe('the buttons of a message', () => {
  it('are those that its stop can be answered by', () => {
    const of = (type: string, stopReason = '', commits = 0, mayMerge = false) =>
      actionsFor({ type, data: { stopReason } }, { total_commits: commits }, { mayMerge });
    expect(of('session.blocked', 'blocked_by_agent')).toEqual(['answer', 'details', 'abort']);
    expect(of('session.blocked', 'budget_cost')).toEqual(['raise', 'details', 'abort']);
    expect(of('session.blocked', 'approval_required')).toEqual(['approve', 'reject', 'details']);
    expect(of('session.blocked', 'approval_required', 3)).toEqual(['reject', 'details']);
    expect(of('session.blocked', 'approval_required', 3, true)).toContain('approve');
    expect(of('session.failed')).toContain('resume');
    expect(of('session.ended')).toEqual(['evidence']);
    expect(of('iteration.settled')).toEqual([]);
  });

  it('ask for an answer, which is then shown with who gave it', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    expect(question(scene).buttons.map(({ text }) => text)).toEqual(['Answer', 'Details', 'Abort']);
    scene.telegram.press({ from: 42, message: question(scene), label: 'Answer' });
    await heard(scene, 'What is the answer?');
    const prompt = scene.telegram.sent.at(-1)!;
    expect(prompt.asked.reply_markup).toMatchObject({ force_reply: true });
    scene.telegram.write({ from: 42, text: 'Port 8080.', repliesTo: prompt.message_id });
    await done(scene, id);
    await waitFor(() => question(scene).text.includes('telegram:42: Port 8080.'));
    expect(question(scene).buttons).toEqual([]);
    expect((await resumed(scene, id)).map(({ data }) => data)).toMatchObject([
      { actor: 'telegram:42', answer: 'Port 8080.' },
    ]);
    await heard(scene, /Session complete/);
    // The messages of a session hang together.
    const [first, ...others] = scene.telegram.sent.filter(({ text }) => !/What is|continues/.test(text));
    for (const { asked } of others)
      expect(asked.reply_parameters).toMatchObject({ message_id: first!.message_id });
  });

  it('count once: a second press, a late one, and one that is brought again change nothing', async () => {
    const scene = await makeChatScene();
    const command = `[ "$PULSE_ITERATION" = 3 ] && { ${COMPLETE}; } || { echo $PULSE_ITERATION > x.txt; echo "<signal>CONTINUE</signal>"; }`;
    const input = { goal: 'g', path: scene.root, command, maxIterations: 1, chatId: '42' };
    const { session } = await scene.pulse.start({ ...input, createdBy: 'api' });
    await scene.run(session);
    await heard(scene, 'Blocked');
    const message = { ...question(scene) };
    const update = scene.telegram.press({ from: 42, message, label: 'Raise the limit' });
    scene.telegram.press({ from: 42, message, label: 'Raise the limit' });
    await done(scene, session.id);
    await noted(scene, 'Too late: telegram:42 was first');
    scene.telegram.repeat(update);
    scene.telegram.press({ from: 42, message, label: 'Abort' });
    await waitFor(() => scene.telegram.notes.filter(({ text }) => text?.includes('Too late')).length === 2);
    expect(await resumed(scene, session.id)).toHaveLength(1);
    expect(await scene.pulse.session(session.id)).toMatchObject({ status: 'complete', max_iterations: 11 });
  });

  it('of an earlier question do not answer a later one', async () => {
    const scene = await makeChatScene();
    const command = `[ "$PULSE_ITERATION" = 3 ] && { ${COMPLETE}; } || echo "<signal>BLOCKED: Question $PULSE_ITERATION?</signal>"`;
    const { session } = await scene.pulse.start({
      ...{ goal: 'g', path: scene.root, command, maxIterations: 5, chatId: '42', createdBy: 'api' },
    });
    await scene.run(session);
    await heard(scene, 'Question 1');
    const old = { ...question(scene) };
    await scene.pulse.resume(session.id, { answer: 'One.', actor: 'cli' });
    await scene.run(session);
    await heard(scene, 'Question 2');
    scene.telegram.write({ from: 42, text: 'For the first.', repliesTo: old.message_id });
    await heard(scene, 'Too late: cli was first');
    scene.telegram.press({ from: 42, message: old, label: 'Answer' });
    await noted(scene, 'Too late: cli was first');
    expect(await statusOf(scene, session.id)).toBe('blocked');
  });

  it('are for nobody else, and abort only after a yes', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const before = scene.telegram.sent.length;
    scene.telegram.press({ from: 666, message: question(scene), label: 'Abort' });
    scene.telegram.press({ from: 666, message: question(scene), label: 'Details' });
    scene.telegram.press({ from: 42, message: question(scene), label: 'Abort' });
    await heard(scene, 'Write yes');
    expect(scene.telegram.sent).toHaveLength(before + 1);
    expect(scene.telegram.notes).toHaveLength(1);
    const prompt = scene.telegram.sent.at(-1)!;
    scene.telegram.write({ from: 42, text: 'rather not', repliesTo: prompt.message_id });
    await heard(scene, 'It was not aborted');
    expect(await statusOf(scene, id)).toBe('blocked');
    scene.telegram.press({ from: 42, message: question(scene), label: 'Details' });
    await heard(scene, 'Asks: Which port?');
    scene.telegram.write({ from: 42, text: 'Yes', repliesTo: prompt.message_id });
    await waitFor(async () => (await statusOf(scene, id)) === 'aborted');
  });

  it('are gone once it is aborted, from wherever, and the message says by whom', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    await scene.pulse.abort(id, { actor: 'cli' });
    await heard(scene, /^🛑 Aborted$/);
    expect(question(scene)).toMatchObject({ buttons: [], text: expect.stringContaining('cli aborted it') });
    // Of one that was answered before, it says who answered.
    const answered = await asking(scene);
    await scene.pulse.resume(answered, { answer: 'Port 1.', actor: 'page' });
    await waitFor(() => question(scene).text.includes('page: Port 1.'));
    await scene.pulse.abort(answered, { actor: 'cli' });
    await waitFor(() => scene.telegram.sent.filter(({ text }) => text === '🛑 Aborted').length === 2);
    expect(question(scene).text).not.toContain('aborted it');
  });

  it('ask for words, and are answered, in a group, where what hangs together is no topic', async () => {
    const scene = await makeChatScene();
    const command = `case $PULSE_ITERATION in 1) echo x > x.txt; echo "<signal>CONTINUE</signal>";;
      2) echo "<signal>BLOCKED: Which port?</signal>";; *) echo "<signal>COMPLETE</signal>";; esac`;
    const id = await asking(scene, { chatId: '-1009', command });
    expect(question(scene).asked).toHaveProperty('reply_parameters');
    scene.telegram.press({ from: 42, message: question(scene), label: 'Answer' });
    await heard(scene, 'What is the answer?');
    const prompt = scene.telegram.sent.at(-1)!;
    scene.telegram.write({ from: 42, chat: -1009, text: 'Port 1.', repliesTo: prompt.message_id });
    await done(scene, id);
    await heard(scene, `${id} continues`);
    expect(new Set(scene.telegram.sent.map(({ chat_id: chat }) => String(chat)))).toEqual(new Set(['-1009']));
  });

  it('stand in a topic of the session, where the chat has topics', async () => {
    const forum = await openTelegram({ isForum: true });
    onTestFinished(() => forum[Symbol.asyncDispose]());
    const bot = { tokenEnv: 'BOT_TOKEN', apiUrl: forum.url, allow: ['42'], topics: true };
    const scene = { ...(await makeChatScene(() => ({ telegram: bot }))), telegram: forum };
    const id = await asking(scene, { goal: 'Tidy <b>up</b>' });
    expect(forum.topics).toEqual(['Tidy <b>up</b>']);
    expect(question(scene).asked).toMatchObject({ message_thread_id: 71 });
    forum.write({ from: 42, text: 'Port 1.', topic: 71 });
    await done(scene, id);
  });
});

describe('on Discord, over the gateway', () => {
  async function makeDiscordScene(more: object = {}) {
    const discord = await openDiscord();
    discord.mayReadContent = true;
    onTestFinished(() => discord[Symbol.asyncDispose]());
    const settings = { tokenEnv: 'PULSE_DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9', ...more };
    const scene = await makeChatScene(() => ({ discord: settings }));
    await waitFor(() => discord.isConnected);
    return { scene, discord };
  }

  it('a button asks by a window, and the message says who answered', async () => {
    const { scene, discord } = await makeDiscordScene();
    await waitFor(() => discord.commands.length > 0);
    expect(discord.commands).toMatchObject([{ name: 'pulse' }]);
    const id = await asking(scene);
    await waitFor(() => discord.sent.length > 0);
    const message = discord.sent[0]!;
    const pressed = discord.press({ from: '81', message, label: 'Answer' });
    await waitFor(() => discord.replies.has(pressed));
    const [modal] = discord.replies.get(pressed)!;
    expect(modal).toMatchObject({ type: 9, data: { title: 'Pulse' } });
    const stranger = discord.press({ from: '666', message, label: 'Abort' });
    const submitted = discord.interact({
      ...{ from: '81', type: 5 },
      data: {
        custom_id: modal!.data!.custom_id,
        components: [{ type: 1, components: [{ type: 4, value: 'Port 2.' }] }],
      },
    });
    await done(scene, id);
    await waitFor(() => discord.sent[0]!.content.includes('discord:81: Port 2.'));
    expect(discord.sent[0]!.components).toEqual([]);
    await waitFor(() => discord.replies.has(submitted));
    expect(discord.replies.has(stranger)).toBe(false);
  });

  it('a thread for each session: what is written in it answers that one', async () => {
    const { scene, discord } = await makeDiscordScene({ threads: true });
    const [first, second] = [await asking(scene, { goal: 'One' }), await asking(scene, { goal: 'Two' })];
    await waitFor(() => discord.threads.length === 2);
    const [one] = discord.threads;
    expect(discord.threads.map(({ name }) => name)).toEqual(['One', 'Two']);
    discord.post({ from: '666', channel: one!.id, server: '1', content: 'Port 6.' });
    discord.post({ from: '81', channel: '9', server: '1', content: 'I talk to somebody else here.' });
    discord.post({ from: '81', channel: one!.id, server: '1', content: 'Port 1.' });
    await done(scene, first);
    // One session waits by now, and it is still not meant by what people say to each other.
    discord.post({ from: '81', channel: '9', server: '1', content: 'Lunch?' });
    await waitFor(() =>
      discord.sent.some(({ content, channel_id: at }) => at === one!.id && content.includes('✅')),
    );
    expect(await statusOf(scene, second)).toBe('blocked');
    expect(discord.sent.filter(({ channel_id: at }) => at === '9')).toHaveLength(2);
  });

  it('a command is answered, to its sender alone', async () => {
    const { scene, discord } = await makeDiscordScene();
    const data = { name: 'pulse', options: [{ name: 'status', options: [] }] };
    const asked = discord.interact({ from: '81', type: 2, data });
    await waitFor(() => discord.replies.has(asked));
    expect(discord.replies.get(asked)).toMatchObject([
      { type: 4, data: { content: 'There is no session yet.', flags: 64 } },
    ]);
    expect(scene.said.join('\n')).not.toContain('discord-secret');
  });
});
