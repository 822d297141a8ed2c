/** Slack, over Socket Mode. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { asking, type ChatScene, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { openSlack } from './slack-app.ts';

async function makeSlackScene(place: { channel?: string } = { channel: 'C9' }) {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const tokens = { appTokenEnv: 'SLACK_APP', botTokenEnv: 'SLACK_BOT' };
  const scene = await makeChatScene(() => ({
    slack: { ...tokens, apiUrl: slack.url, allow: ['U1', 'U2'], ...place },
  }));
  await waitFor(() => slack.isConnected);
  return { scene, slack };
}

it('a button opens a window, its words are the answer, and the message says who gave it', async () => {
  const { scene, slack } = await makeSlackScene();
  const id = await asking(scene, { goal: '<!channel> & *all*' });
  await waitFor(() => slack.sent.length > 0);
  slack.press({ from: 'U666', message: slack.sent[0]!, label: 'Abort' });
  const pressed = slack.press({ from: 'U1', message: slack.sent[0]!, label: 'Answer' });
  await waitFor(() => slack.views.length > 0 && slack.acknowledged.includes(pressed));
  expect(slack.views).toHaveLength(1);
  slack.submit({ from: 'U1', view: slack.views[0]!, text: 'Port 4.' });
  await waitFor(async () => (await statusOf(scene, id)) === 'complete');
  await waitFor(() => slack.sent[0]!.text.includes('slack:U1: Port 4.'));
  expect(slack.sent[0]!.blocks).toHaveLength(1);
  await waitFor(() => slack.sent.some(({ text }) => text.startsWith('✅')));
  expect(slack.sent.at(-1)!.asked).toMatchObject({ thread_ts: slack.sent[0]!.ts });
});

it('words in the thread of a session answer it, once; strangers and other talk are not heard', async () => {
  const { scene, slack } = await makeSlackScene();
  const id = await asking(scene);
  await waitFor(() => slack.sent.length > 0);
  const words = (user: string, text: string, more: object = {}) => ({
    ...{ event_id: `Ev-${user}-${text}`, type: 'event_callback' },
    event: {
      type: 'message',
      channel: 'C9',
      user,
      text,
      ts: `9.${text.length}`,
      channel_type: 'channel',
      ...more,
    },
  });
  const root = { thread_ts: slack.sent[0]!.ts };
  slack.bring('events_api', words('U666', 'Port 6.', root));
  slack.bring('events_api', words('U1', 'Lunch?'));
  slack.bring('events_api', words('U1', 'Yes, lunch.', { thread_ts: '8.8' }));
  slack.toAll({ envelope_id: 'odd', type: 'events_api', payload: 7 });
  await waitFor(() => slack.acknowledged.includes('odd'));
  expect(await statusOf(scene, id)).toBe('blocked');
  const envelope = slack.bring('events_api', words('U1', 'Port 3.', root));
  slack.bring('events_api', words('U1', 'Port 3.', root), envelope);
  await waitFor(async () => (await statusOf(scene, id)) === 'complete');
  const { events } = await scene.pulse.export(id);
  expect(events.filter(({ type }) => type === 'session.resumed')).toHaveLength(1);
});

/** Where a session's messages on Slack were sent, as the outbox has noted it. */
async function placesOf({ url }: ChatScene, session: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/notifications?status=sent&session=${session}`);
  const { notifications } = (await answer.json()) as {
    notifications: { channel: string; destination: string }[];
  };
  return notifications.filter(({ channel }) => channel === 'slack').map(({ destination }) => destination);
}

it.each([
  [{}, 'D1'],
  [{ channel: '#port' }, 'C-port'],
])('with %j what is told in %s is answered there, and says so', async (place, channel) => {
  const { scene, slack } = await makeSlackScene(place);
  for (const [n, port] of ['Port 1.', 'Port 2.'].entries()) {
    const id = await asking(scene);
    await waitFor(async () => (await placesOf(scene, id)).includes(channel));
    const told = slack.sent.findLast(({ text }) => text.startsWith('⏸️'))!;
    expect(told.channel).toBe(channel);
    const event = { type: 'message', channel, user: 'U1', text: port, ts: `9.${n}` };
    const where = channel === 'D1' ? { channel_type: 'im' } : { thread_ts: told.ts };
    slack.bring('events_api', { event_id: `Ev-${port}`, event: { ...event, ...where } });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    await waitFor(() => told.text.includes(`slack:U1: ${port}`));
  }
});

it('is connected again after a break, and never shows its tokens', async () => {
  const { scene, slack } = await makeSlackScene();
  slack.errors.push('internal_error');
  slack.toAll({ type: 'disconnect', reason: 'refresh_requested' });
  await waitFor(() => slack.connections === 2);
  const command = { command: '/pulse', text: 'status', user_id: 'U1', channel_id: 'C9', trigger_id: 't1' };
  slack.bring('slash_commands', command);
  await waitFor(() => slack.whispers.length > 0);
  expect(slack.whispers).toMatchObject([{ user: 'U1', text: 'There is no session yet.' }]);
  slack.tokens = { app: 'other', bot: 'other' };
  slack.toAll({ type: 'disconnect' });
  await waitFor(() => scene.said.some((text) => text.includes('invalid_auth')));
  await delay(200);
  expect(scene.said.join('\n')).not.toMatch(/xapp-secret|xoxb-secret/);
});
