/** Mail and reservations over HTTP, by TypeScript, and as an assistant's tools. */
import { describe, expect, it } from 'vitest';
import { type ApiScene, makeApiScene, TRUSTED } from '../api/scene.ts';

async function makeMail(): Promise<ApiScene> {
  const scene = await makeApiScene();
  for (const name of ['Fox', 'Owl'])
    expect(
      (await scene.ask('POST', '/api/mail/agents', { body: { project_key: scene.root, name } })).json,
    ).toEqual({
      agent: { name },
    });
  return scene;
}

const MESSAGE = { sender_name: 'Fox', to: ['Owl'], subject: 'Hi', body_md: 'text', topic: 'epic-1' };

describe('mail over HTTP', () => {
  it('is sent, listed, answered and acknowledged', async () => {
    const { ask, root } = await makeMail();
    const { status, json } = await ask('POST', '/api/mail', { body: { ...MESSAGE, project_key: root } });
    expect(status).toBe(201);
    const { id } = json.message;
    const answer = await ask('POST', `/api/mail/${id}/reply`, {
      body: { sender_name: 'Owl', body_md: 'Ünder way' },
    });
    expect(answer.json.message).toMatchObject({ reply_to: id, to: ['Fox'], topic: 'epic-1' });
    const acked = await ask('POST', `/api/mail/${id}/ack`, { body: { agent_name: 'Owl' } });
    expect(acked.status).toBe(200);
    const list = async (query: string) => {
      const { messages } = (await ask('GET', `/api/mail?${query}`)).json as { messages: { id: string }[] };
      return messages.map((message) => message.id);
    };
    const both = [id, answer.json.message.id];
    expect(await list('')).toEqual(both);
    expect(await list(`project_key=${encodeURIComponent(root)}&topic=epic-1`)).toEqual(both);
    expect(await list('agent_name=Owl')).toEqual([id]);
    expect(await list('q=under')).toEqual([both[1]]);
    expect(await list('limit=1')).toEqual([both[1]]);
    expect((await ask('GET', '/api/mail?agent_name=Owl')).json.messages[0].acked_at).toBe(
      acked.json.message.acks[0].at,
    );
  });

  it('needs the token, known names and a project', async () => {
    const { ask, root } = await makeMail();
    expect((await ask('POST', '/api/mail', { body: MESSAGE, isStranger: true })).status).toBe(401);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, to: ['Hare'] } })).status).toBe(404);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, sender_name: 'Hare' } })).status).toBe(404);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, to: [] } })).status).toBe(422);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, project_key: 'repo' } })).status).toBe(422);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, project_key: '/nowhere' } })).status).toBe(
      422,
    );
    expect((await ask('GET', '/api/mail?agent_name=Hare')).status).toBe(404);
    expect((await ask('POST', '/api/mail/msg_0/ack', { body: { agent_name: 'Owl' } })).status).toBe(404);
    // The name alone is enough where one project knows it.
    expect((await ask('POST', '/api/mail', { body: MESSAGE })).status).toBe(201);
    const other = { project_key: 'other-0123abcd', name: 'Fox' };
    expect((await ask('POST', '/api/mail/agents', { body: other })).status).toBe(201);
    expect((await ask('POST', '/api/mail', { body: MESSAGE })).status).toBe(422);
    expect((await ask('POST', '/api/mail', { body: { ...MESSAGE, project_key: root } })).status).toBe(201);
  });

  it('with a key is sent once, however often and at once it is asked for', async () => {
    const { ask } = await makeMail();
    const call = (body: object) => ({ body, headers: { ...TRUSTED, 'idempotency-key': 'k1' } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask('POST', '/api/mail', call(MESSAGE))),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect((await ask('GET', '/api/mail')).json.messages).toHaveLength(1);
    expect(await ask('POST', '/api/mail', call({ ...MESSAGE, subject: 'Other' }))).toMatchObject({
      status: 409,
      json: { error: { code: 'key_reused' } },
    });
    // What was refused is not remembered.
    const refused = { body: { ...MESSAGE, to: ['Hare'] }, headers: { ...TRUSTED, 'idempotency-key': 'k2' } };
    expect((await ask('POST', '/api/mail', refused)).status).toBe(404);
    expect((await ask('GET', '/api/mail')).json.messages).toHaveLength(1);
  });
});

describe('reservations over HTTP', () => {
  it('are granted, refused, listed, released and ended', async () => {
    const { ask, root } = await makeMail();
    const reserve = async (agent_name: string, paths: string[], more: object = {}) =>
      (await ask('POST', '/api/reservations', { body: { project_key: root, agent_name, paths, ...more } }))
        .json;
    const { granted } = await reserve('Fox', ['src/**'], {
      ttl: '10m',
      reason: 'token ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    });
    expect(granted).toMatchObject([
      { agent_name: 'Fox', path: 'src/**', exclusive: true, reason: 'token [redacted]' },
    ]);
    expect(await reserve('Owl', ['docs', 'src/a.ts'])).toEqual({
      granted: [],
      conflicts: [{ path: 'src/a.ts', pattern: 'src/**', holder: 'Fox', expires_at: granted[0].expires_at }],
    });
    expect((await reserve('Owl', ['../x'])).error.code).toBe('path_outside');
    expect((await reserve('Owl', ['src/a.ts'], { exclusive: false })).conflicts).toHaveLength(1);
    const held = async () =>
      (await ask('GET', '/api/reservations')).json.reservations.map((each: { path: string }) => each.path);
    expect(await held()).toEqual(['src/**']);
    const ended = await ask('DELETE', `/api/reservations/${granted[0].id}`);
    expect([ended.status, ended.json.reservation.path]).toEqual([200, 'src/**']);
    expect((await ask('DELETE', `/api/reservations/${granted[0].id}`)).json).toEqual({ reservation: null });
    expect((await ask('DELETE', '/api/reservations/rsv_0')).status).toBe(404);
    expect((await ask('DELETE', `/api/reservations/${granted[0].id}`, { isStranger: true })).status).toBe(
      401,
    );
    await reserve('Owl', ['a', 'b']);
    const released = await ask('POST', '/api/reservations/release', {
      body: { agent_name: 'Owl', paths: ['a'] },
    });
    expect(released.json.released.map((each: { path: string }) => each.path)).toEqual(['a']);
    expect(await held()).toEqual(['b']);
  });
});

describe('by TypeScript', () => {
  it('the same operations are methods', async () => {
    const { pulse, root } = await makeMail();
    const { message } = await pulse.mail.send({ project_key: root, ...MESSAGE });
    await pulse.mail.acknowledge(message.id, { agent_name: 'Owl' });
    const { messages } = await pulse.mail.inbox({ agent_name: 'Owl' });
    expect(messages).toMatchObject([{ id: message.id, acks: [{ agent_name: 'Owl' }] }]);
    const { granted } = await pulse.reservations.reserve({ agent_name: 'Fox', paths: ['a'], ttl: 60_000 });
    expect(await pulse.reservations.end(granted[0]!.id)).toMatchObject({ reservation: { path: 'a' } });
  });
});
