/** What somebody sends who means no good, or means too much. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { notifyTables, withNotifyTables } from '../../src/notify/tables.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { COMPLETE } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { asking, type ChatScene, heard, makeChatScene, SECRETS, statusOf, waitFor } from './chat-scene.ts';
import { openSlack } from './slack-app.ts';

async function updatesOf({ pulse }: ChatScene): Promise<string[]> {
  const store = await openSqlite({ path: pulse.home.database, modules: [notifyTables] });
  try {
    const found = await store.read((db) =>
      withNotifyTables(db).selectFrom('chat_updates').select('update_id').execute(),
    );
    return found.map(({ update_id: id }) => id);
  } finally {
    await store.close();
  }
}

it('a stranger who tries codes leaves nothing behind, and hears nothing', async () => {
  const scene = await makeChatScene();
  for (let n = 0; n < 20; n++) scene.telegram.write({ from: 666, text: `/pair ${n}` });
  scene.telegram.write({ from: 42, text: '/pair wrong' });
  await heard(scene, 'You may write to Pulse already');
  expect(await updatesOf(scene)).toHaveLength(1);
  expect(scene.telegram.sent).toHaveLength(1);
});

it('a message of 100 KB is refused whole: nothing is cut, started or answered', async () => {
  const scene = await makeChatScene();
  const id = await asking(scene);
  const long = 'x'.repeat(100_000);
  scene.telegram.write({ from: 42, text: `/start shop ${long}` });
  scene.telegram.write({ from: 42, text: `/resume ${id} ${long}` });
  scene.telegram.write({ from: 42, text: long });
  scene.telegram.write({ from: 666, text: long });
  scene.telegram.write({ from: 42, text: '/status' });
  await heard(scene, `${id}: blocked`);
  const said = scene.telegram.sent.map(({ text }) => text);
  expect(said.filter((text) => text.includes('65536'))).toHaveLength(3);
  expect((await scene.pulse.list({})).sessions).toHaveLength(1);
  // What is as long as the other surfaces take is taken whole.
  const words = `${'y'.repeat(20_000)} THE END`;
  scene.telegram.write({ from: 42, text: words });
  await waitFor(async () => (await statusOf(scene, id)) === 'complete');
  const { events } = await scene.pulse.export(id);
  expect(events.find(({ type }) => type === 'session.resumed')?.data.answer).toBe(words);
});

it('markup of every service stays text, and calls nobody', async () => {
  const goal = '*b* _i_ [x](http://evil) <b>B</b> <!channel> <@U1> @everyone &amp; `c` \u202e';
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const scene = await makeChatScene(() => ({
    slack: {
      ...{ appTokenEnv: 'SLACK_APP', botTokenEnv: 'SLACK_BOT', apiUrl: slack.url },
      ...{ allow: ['U1'], channel: 'C9' },
    },
  }));
  const id = await asking(scene, { goal, command: `echo '<signal>BLOCKED: Which port? ${goal}</signal>'` });
  const told = scene.telegram.sent.at(-1)!;
  expect(told.text).toBe(`⏸️ Blocked: Which port? ${goal}`);
  expect(told.asked).not.toHaveProperty('parse_mode');
  await waitFor(() => slack.sent.length > 0);
  expect(slack.sent[0]!.text).toContain('&lt;!channel&gt; &lt;@U1&gt;');
  expect(await statusOf(scene, id)).toBe('blocked');
});

it('what is signed and says nothing is answered, and breaks nothing', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const hex = publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');
  const discord = { tokenEnv: 'PULSE_DISCORD', publicKey: hex, allow: ['81'] };
  const publicUrl = 'https://pulse.example';
  const sms = { accountSid: 'AC1', authTokenEnv: 'SMS_TOKEN', from: '+1', allow: ['+42'] };
  const scene = await makeChatScene(() => ({ discord, sms, publicUrl }));
  for (const body of ['{nope', '', 'null', '[]', '{"type":2,"id":{}}', JSON.stringify('x'.repeat(100_000))]) {
    const at = String(Math.floor(Date.now() / 1000));
    const signature = sign(null, Buffer.from(`${at}${body}`), privateKey).toString('hex');
    const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': at };
    const { status } = await fetch(`${scene.url}/hooks/discord`, { method: 'POST', headers, body });
    expect(status, body.slice(0, 20)).toBe(200);
  }
  // An answer that Twilio takes, however much there is to say.
  for (let n = 0; n < 12; n++)
    await scene.pulse.start({
      ...{ goal: `${n} ${'g'.repeat(80)}`, path: scene.root, command: 'true', createdBy: 'api' },
    });
  const fields = { Body: 'status', From: '+42', MessageSid: 'SM1' };
  const signed = Object.entries(fields).reduce(
    (sum, pair) => sum + pair.join(''),
    `${publicUrl}/hooks/twilio`,
  );
  const answer = await fetch(`${scene.url}/hooks/twilio`, {
    method: 'POST',
    headers: {
      'x-twilio-signature': createHmac('sha1', SECRETS.SMS_TOKEN).update(signed).digest('base64'),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(fields).toString(),
  });
  const [, words = ''] = /<Message>([\s\S]*)<\/Message>/.exec(await answer.text()) ?? [];
  expect(words).toContain('ses_');
  expect(words.length).toBeLessThanOrEqual(640);
});

it('a session that is started on Slack is Slack’s', async () => {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const scene = await makeChatScene(() => ({
    slack: { appTokenEnv: 'SLACK_APP', botTokenEnv: 'SLACK_BOT', apiUrl: slack.url, allow: ['U1'] },
  }));
  await writeTrustedConfig(scene.root, {
    text: JSON.stringify({ agent: 'command', command: COMPLETE }),
    environment: scene.environment,
  });
  await waitFor(() => slack.isConnected);
  const command = { command: '/pulse', text: 'start shop Do it.', channel_id: 'C9', trigger_id: '1.1' };
  slack.bring('slash_commands', { ...command, user_id: 'U666' });
  slack.bring('slash_commands', { ...command, user_id: 'U1', trigger_id: '1.2' });
  await waitFor(async () => (await scene.pulse.list({})).sessions.length > 0);
  const { sessions } = await scene.pulse.list({});
  expect(sessions).toMatchObject([{ goal: 'Do it.', created_by: 'slack' }]);
});
