/** People write to Pulse: real serve, real sessions, a service on loopback. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { COMPLETE } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { asking, type ChatScene, heard, makeChatScene, SECRETS, statusOf, waitFor } from './chat-scene.ts';

describe('Telegram', () => {
  it('plain words answer the one session that waits; the agent reads them', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    scene.telegram.write({ from: 42, text: 'Port 8080, please.' });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    const { branch_name: branch } = await scene.pulse.session(id);
    expect(scene.sh(scene.root, 'show', `${branch}:brief.txt`)).toContain('Port 8080, please.');
    const { events } = await scene.pulse.export(id);
    const resumed = events.find(({ type }) => type === 'session.resumed');
    expect(resumed?.data).toMatchObject({ actor: 'telegram:42', answer: 'Port 8080, please.' });
    await heard(scene, /Session complete/);
  });

  it('hears no stranger, and says nothing to them', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const before = scene.telegram.sent.length;
    for (const text of ['/status', `/abort ${id}`, 'Port 1.', '/pair 0000000000', '/start shop Break it.'])
      scene.telegram.write({ from: 666, text });
    scene.telegram.write({ from: 42, text: '/status' });
    await heard(scene, `${id}: blocked`);
    expect(scene.telegram.sent.slice(before).map(({ chat_id: chat }) => chat)).toEqual(['42']);
    expect(await statusOf(scene, id)).toBe('blocked');
    expect((await scene.pulse.list({})).sessions).toHaveLength(1);
  });

  it('lets somebody in who sends the code, once', async () => {
    const scene = await makeChatScene();
    const code = await scene.pulse.pairChat('telegram');
    scene.telegram.write({ from: 7, text: `/pair ${code}` });
    expect(await heard(scene, 'You are paired')).toContain('chat: "7" in notify.telegram');
    scene.telegram.write({ from: 8, text: `/pair ${code}` });
    scene.telegram.write({ from: 7, text: '/status' });
    await heard(scene, 'no session yet');
    expect(scene.telegram.sent.map(({ chat_id: chat }) => chat)).toEqual(['7', '7']);
  });

  it('needs nobody to be allowed beforehand, and offers what can be written', async () => {
    const scene = await makeChatScene(({ root }) => ({ projects: { shop: root } }));
    await waitFor(() => scene.telegram.offered.length > 0);
    expect(scene.telegram.offered.map(({ command }) => command)).toContain('status');
    expect(notifySchema.parse({ telegram: { tokenEnv: 'BOT_TOKEN' } }).telegram?.allow).toEqual([]);
  });

  it('does once what is brought twice', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene);
    const update = scene.telegram.write({ from: 42, text: `/resume ${id.slice(-6)} Port 1.` });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    scene.telegram.repeat(update);
    scene.telegram.write({ from: 42, text: '/status' });
    await heard(scene, `${id}: complete`);
    const { events } = await scene.pulse.export(id);
    expect(events.filter(({ type }) => type === 'session.resumed')).toHaveLength(1);
    expect(scene.telegram.sent.filter(({ text }) => text.includes('continues'))).toHaveLength(1);
  });

  it('is read on where the service numbers anew, as after a week without a message', async () => {
    const scene = await makeChatScene();
    const { telegram } = scene;
    telegram.renumber(900_000);
    telegram.write({ from: 42, text: '/status' });
    await heard(scene, 'no session yet');
    telegram.renumber(5_000);
    for (const name of ['none1', 'none2', 'none3']) {
      telegram.write({ from: 42, text: `/pause ${name}` });
      await heard(scene, name);
    }
    expect(telegram.sent.filter(({ text }) => text.includes('none'))).toHaveLength(3);
    // What has been dealt with is not brought again, and again.
    await waitFor(() => telegram.offsets.at(-1) === 5_003);
  });

  it('starts in a project that is named, pauses and aborts, and says what is wrong', async () => {
    const scene = await makeChatScene();
    await writeTrustedConfig(scene.root, {
      text: JSON.stringify({ agent: 'command', command: 'sleep 60' }),
      environment: scene.environment,
    });
    scene.telegram.write({ from: 42, text: '/start nowhere Do it.' });
    await heard(scene, 'No project is named nowhere');
    scene.telegram.write({ from: 42, text: '/start shop Do it.' });
    const said = await heard(scene, 'works on it');
    const id = said.split(' ')[0]!;
    expect(await scene.pulse.session(id)).toMatchObject({
      goal: 'Do it.',
      created_by: 'telegram',
      chat_id: '42',
    });
    scene.telegram.write({ from: 42, text: `/abort ${id}` });
    await heard(scene, `${id}: aborted`);
    scene.telegram.write({ from: 42, text: `/pause ${id}` });
    await waitFor(() => scene.telegram.sent.length >= 4);
    expect(await statusOf(scene, id)).toBe('aborted');
  });

  it('tells of a goal that is long without breaking a character, which the service would refuse', async () => {
    const scene = await makeChatScene();
    const id = await asking(scene, { goal: `${'g'.repeat(79)}😀 ${'h'.repeat(419)}` });
    scene.telegram.write({ from: 42, text: '/status' });
    expect(await heard(scene, `${id}: blocked`)).toContain(`${'g'.repeat(79)}…`);
  });

  it('starts in a project that is named from the home folder', async () => {
    const scene = await makeChatScene(({ root }) => ({
      projects: { shop: `~/${relative(homedir(), root)}` },
    }));
    await writeTrustedConfig(scene.root, {
      text: JSON.stringify({ agent: 'command', command: 'echo "<signal>COMPLETE</signal>"' }),
      environment: scene.environment,
    });
    scene.telegram.write({ from: 42, text: '/start shop Do it.' });
    const said = await heard(scene, 'works on it');
    expect((await scene.pulse.session(said.split(' ')[0]!)).project_path).toBe(realpathSync(scene.root));
  });

  it('raises a limit only for a yes', async () => {
    const scene = await makeChatScene();
    const command = `[ "$PULSE_ITERATION" = 1 ] && echo x > x.txt && echo "<signal>CONTINUE</signal>" || { ${COMPLETE}; }`;
    const input = { goal: 'g', path: scene.root, command, maxIterations: 1, chatId: '42' };
    const { session } = await scene.pulse.start({ ...input, createdBy: 'api' });
    await scene.run(session);
    await heard(scene, 'Blocked');
    scene.telegram.write({ from: 42, text: 'Use tabs.' });
    await heard(scene, 'Answer yes to raise it: --max-iterations 11');
    expect(await statusOf(scene, session.id)).toBe('blocked');
    scene.telegram.write({ from: 42, text: 'Yes' });
    await waitFor(async () => (await statusOf(scene, session.id)) === 'complete');
    expect(await scene.pulse.session(session.id)).toMatchObject({ max_iterations: 11 });
  });

  it('is asked again when it refused, and never shows its secret', async () => {
    const scene = await makeChatScene();
    scene.telegram.refusals.push({ status: 500, description: 'Internal' });
    scene.telegram.write({ from: 42, text: '/help' });
    await heard(scene, 'resume ID ANSWER');
    expect(scene.said.join('\n')).toContain('telegram: Internal');
    expect(scene.said.join('\n')).not.toContain(SECRETS.BOT_TOKEN);
  });
});

describe('POST /hooks/twilio', () => {
  const sms = { accountSid: 'AC1', authTokenEnv: 'SMS_TOKEN', from: '+1', allow: ['+42'] };
  const publicUrl = 'https://pulse.example';

  async function text(scene: ChatScene, fields: Record<string, string>, token = SECRETS.SMS_TOKEN) {
    const signed = Object.keys(fields)
      .toSorted()
      .reduce((sum, name) => `${sum}${name}${fields[name]}`, `${publicUrl}/hooks/twilio`);
    const signature = createHmac('sha1', token).update(signed).digest('base64');
    const answer = await fetch(`${scene.url}/hooks/twilio`, {
      method: 'POST',
      headers: { 'x-twilio-signature': signature, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    });
    return { status: answer.status, body: await answer.text() };
  }

  it('answers a question once for each message, by its signature alone', async () => {
    const scene = await makeChatScene(() => ({ sms, publicUrl }));
    const id = await asking(scene);
    const words = { From: '+42', MessageSid: 'SM1', Body: `Port <9>. #${id.slice(-4)}` };
    expect((await text(scene, words, 'forged')).status).toBe(403);
    expect(await statusOf(scene, id)).toBe('blocked');
    const stranger = await text(scene, { ...words, From: '+666', MessageSid: 'SM0' });
    expect(stranger).toMatchObject({ status: 200, body: expect.stringContaining('<Response/>') });
    expect(await text(scene, words)).toMatchObject({
      status: 200,
      body: expect.stringContaining('continues'),
    });
    expect((await text(scene, words)).body).toContain('<Response/>');
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    expect((await text(scene, { From: '+42', MessageSid: 'SM2', Body: 'status' })).body).toContain(
      'complete',
    );
  });

  it('takes an end like a tag for what it is, where no session has it', async () => {
    const scene = await makeChatScene(() => ({ sms, publicUrl }));
    const id = await asking(scene, { phoneNumber: '+42' });
    const issue = id.endsWith('0db8') ? '#0db9' : '#0db8';
    const words = { From: '+42', MessageSid: 'SM1', Body: `That of issue ${issue}` };
    expect((await text(scene, words)).body).toContain('continues');
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    const { events } = await scene.pulse.export(id);
    const resumed = events.find(({ type }) => type === 'session.resumed');
    expect(resumed!.data).toMatchObject({ answer: `That of issue ${issue}` });
  });
});

describe('POST /hooks/discord', () => {
  it('takes signed commands of those who are allowed', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const hex = publicKey.export({ format: 'der', type: 'spki' }).subarray(12).toString('hex');
    const discord = { tokenEnv: 'PULSE_DISCORD', publicKey: hex, allow: ['81'] };
    const scene = await makeChatScene(() => ({ discord }));
    const post = async (body: object, { isForged = false, agoMs = 0 } = {}) => {
      const sent = JSON.stringify(body);
      const at = String(Math.floor((Date.now() - agoMs) / 1000));
      const signature = sign(null, Buffer.from(`${at}${isForged ? 'x' : sent}`), privateKey).toString('hex');
      const answer = await fetch(`${scene.url}/hooks/discord`, {
        method: 'POST',
        headers: { 'x-signature-ed25519': signature, 'x-signature-timestamp': at },
        body: sent,
      });
      return { status: answer.status, json: answer.status === 200 ? await answer.json() : null };
    };
    expect(await post({ id: '1', type: 1 })).toEqual({ status: 200, json: { type: 1 } });
    expect(await post({ type: 1 })).toEqual({ status: 200, json: { type: 1 } });
    expect((await post({ id: '1', type: 1 }, { isForged: true })).status).toBe(401);
    // What somebody has kept, or signed for later.
    for (const agoMs of [6 * 60_000, -6 * 60_000, 40 * 24 * 3_600_000])
      expect((await post({ id: '1', type: 1 }, { agoMs })).status).toBe(401);
    expect((await post({ id: '1', type: 1 }, { agoMs: 4 * 60_000 })).status).toBe(200);
    const id = await asking(scene);
    const command = (number: string, user: string, name: string, options: object[] = []) => ({
      ...{ id: number, type: 2, channel_id: '9', member: { user: { id: user } } },
      data: { name: 'pulse', options: [{ name, options }] },
    });
    const answer = [
      { name: 'session', value: id },
      { name: 'answer', value: 'Port 3.' },
    ];
    await post(command('2', '666', 'resume', answer));
    expect(await statusOf(scene, id)).toBe('blocked');
    const { json } = await post(command('3', '81', 'resume', answer));
    expect(json).toMatchObject({ type: 4, data: { content: expect.stringContaining('continues') } });
    await waitFor(async () => (await statusOf(scene, id)) === 'complete');
    const { channel_id: _, ...placeless } = command('4', '81', 'status');
    const { json: listed } = await post(placeless);
    expect(listed).toMatchObject({ data: { content: expect.stringContaining(id) } });
  });
});
