/** Text messages without a public address: the service is asked while a question waits. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { smsReader } from '../../src/notify/inbound/text-messages.ts';
import { accountId } from '../../src/notify/routes.ts';
import { appendEvents } from '../../src/store/events.ts';
import { asking, makeChatScene, statusOf, waitFor } from './chat-scene.ts';
import { routed } from './outbox-scene.ts';
import { age, meansOf, noting, openFileStore, reading } from './reading-scene.ts';
import { openTwilio, TWILIO } from './twilio-messages.ts';

it('answers a question by a text message, hears no stranger, nothing old, and asks only while one waits', async () => {
  const twilio = await openTwilio();
  onTestFinished(() => twilio[Symbol.asyncDispose]());
  const { accountSid, from } = TWILIO;
  const sms = { accountSid, authTokenEnv: 'SMS_TOKEN', from, apiUrl: twilio.url, allow: ['+42'] };
  const scene = await makeChatScene(() => ({ sms }));
  await delay(1_500);
  expect(twilio.polls).toBe(0);
  twilio.write({ from: '+42', body: 'Port 1, as I said an hour ago.', agoMs: 3_600_000 });
  twilio.refusals.push(503);
  const id = await asking(scene, { phoneNumber: '+42' });
  await waitFor(() => twilio.sent.length > 0 && twilio.polls > 1);
  twilio.write({ from: '+666', body: `abort ${id}` });
  twilio.write({ from: '+666', body: 'Port 6.' });
  const { polls } = twilio;
  await waitFor(() => twilio.polls > polls + 1);
  expect(await statusOf(scene, id)).toBe('blocked');
  twilio.write({ from: '+42', body: 'Port 2.' });
  await waitFor(async () => (await statusOf(scene, id)) === 'complete');
  await waitFor(() => twilio.sent.some(({ body }) => body.startsWith('✅')));
  expect(twilio.sent.map(({ to }) => to)).toEqual(twilio.sent.map(() => '+42'));
  const { events } = await scene.pulse.export(id);
  expect(events.filter(({ type }) => type === 'session.resumed').map(({ data }) => data)).toMatchObject([
    { actor: 'sms:+42', answer: 'Port 2.' },
  ]);
  const asked = twilio.polls;
  await delay(2_500);
  expect(twilio.polls).toBeLessThanOrEqual(asked + 1);
});

it('hears who resumes what has failed, for a day', async () => {
  const twilio = await openTwilio();
  onTestFinished(() => twilio[Symbol.asyncDispose]());
  const { accountSid, from } = TWILIO;
  const sms = { accountSid, authTokenEnv: 'SMS', from, apiUrl: twilio.url, allow: ['+42'], to: '+42' };
  const notify = notifySchema.parse({ sms });
  const store = await openFileStore();
  const id = await routed(store, notify);
  await store.tx('fail', async (db) => {
    await appendEvents(db, id, [{ type: 'session.failed', data: { stopReason: 'agent_error' } }]);
    await db.updateTable('pulse_sessions').set({ status: 'failed' }).where('id', '=', id).execute();
  });
  const { actions, did } = noting(store);
  const options = { store, notify, environment: { SMS: TWILIO.token }, actions };
  reading(smsReader, options);
  twilio.write({ from: '+42', body: `resume ${id} Mended.` });
  await waitFor(() => did.length > 0);
  expect(did).toEqual(['sms:+42 answer Mended.']);
  const isWanted = () => smsReader.isWanted!(meansOf(options), accountId('sms', notify.sms!));
  expect(await isWanted()).toBe(true);
  await age(store, 25 * 3_600_000);
  expect(await isWanted()).toBe(false);
});

it('hears who pairs, while nothing waits, and asks no longer than the code is good', async () => {
  const twilio = await openTwilio();
  onTestFinished(() => twilio[Symbol.asyncDispose]());
  const { accountSid, from } = TWILIO;
  const sms = { accountSid, authTokenEnv: 'SMS_TOKEN', from, apiUrl: twilio.url, allow: [] };
  const scene = await makeChatScene(() => ({ sms }));
  twilio.write({ from: '+43', body: 'pair 0000000000', agoMs: 60_000 });
  const code = await scene.pulse.pairChat('sms');
  await waitFor(() => twilio.polls > 1);
  twilio.write({ from: '+43', body: `pair ${code}` });
  await waitFor(() => twilio.sent.some(({ to, body }) => to === '+43' && body.includes('You are paired')));
  const asked = twilio.polls;
  await delay(2_500);
  expect(twilio.polls).toBeLessThanOrEqual(asked + 1);
});

it('a phone number that YAML reads as a number is refused, with what to do', () => {
  const sms = { accountSid: 'AC1', authTokenEnv: 'T', from: '+15550100' };
  const parse = (more: object) => notifySchema.safeParse({ sms: { ...sms, ...more } });
  for (const wrong of [{ allow: [15550101] }, { to: 15550101 }, { from: 15550100 }])
    expect(parse(wrong).error?.message).toContain('must be in quotes');
  expect(parse({ allow: ['+15550101'], to: '+15550101' }).success).toBe(true);
});
