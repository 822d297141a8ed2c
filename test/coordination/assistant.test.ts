/** Mail and reservations as the tools of an assistant, and of an agent inside a run that uses the same server. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HttpScene, serveHttp, TOKEN } from '../mcp/http-server.ts';
import { call, failedCall } from '../mcp/tool-calls.ts';

describe('an assistant', { timeout: 60_000 }, () => {
  let scene: HttpScene;
  const clients: Client[] = [];
  beforeEach(async () => {
    scene = await serveHttp();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await scene[Symbol.asyncDispose]();
  });

  async function connect(headers: Record<string, string>): Promise<Client> {
    const client = new Client({ name: 'assistant', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(scene.url), { requestInit: { headers } }));
    clients.push(client);
    return client;
  }

  it('writes, reads and reserves by the names of the agents’ tools', async () => {
    const client = await connect({ authorization: `Bearer ${TOKEN}` });
    const project_key = scene.scratch.repository;
    for (const name of ['Fox', 'Owl']) await call(client, 'register_agent', { project_key, name });
    const mail = {
      project_key,
      sender_name: 'Fox',
      to: ['Owl'],
      subject: 'Hi',
      body_md: 'text',
      topic: 'epic-1',
    };
    const { message } = await call<{ message: { id: string } }>(client, 'send_message', mail);
    const { messages } = await call<{ messages: object[] }>(client, 'fetch_inbox', {
      ...{ project_key, agent_name: 'Owl', topic: 'epic-1' },
    });
    expect(messages).toMatchObject([{ id: message.id, acked_at: null }]);
    await call(client, 'acknowledge_message', { message_id: message.id, agent_name: 'Owl' });
    await call(client, 'acknowledge_message', { project_key, message_id: message.id, agent_name: 'Owl' });
    const elsewhere = { project_key: 'other-12345678', message_id: message.id };
    const answer = { ...elsewhere, sender_name: 'Owl', body_md: 'Understood' };
    expect((await failedCall(client, 'reply_message', answer)).code).toBe('not_found');
    const ack = { ...elsewhere, agent_name: 'Owl' };
    expect((await failedCall(client, 'acknowledge_message', ack)).code).toBe('not_found');
    await call(client, 'reply_message', {
      project_key,
      message_id: message.id,
      sender_name: 'Owl',
      body_md: 'Understood',
    });
    const topic = await call<{ messages: object[] }>(client, 'fetch_topic', {
      project_key,
      topic_name: 'epic-1',
    });
    expect(topic.messages).toHaveLength(2);
    const found = await call<{ messages: object[] }>(client, 'search_messages', { query: 'UNDERSTOOD' });
    expect(found.messages).toHaveLength(1);
    const paths = { project_key, agent_name: 'Fox', paths: ['src/**'], ttl: '10m' };
    expect(await call(client, 'file_reservation_paths', paths)).toMatchObject({ conflicts: [] });
    expect(
      await call(client, 'file_reservation_paths', { project_key, agent_name: 'Owl', paths: ['src/a.ts'] }),
    ).toMatchObject({ granted: [], conflicts: [{ holder: 'Fox', pattern: 'src/**' }] });
    expect(await call(client, 'list_file_reservations')).toMatchObject({
      reservations: [{ path: 'src/**' }],
    });
    expect(await call(client, 'release_file_reservations', { agent_name: 'Fox' })).toMatchObject({
      released: [{ path: 'src/**' }],
    });
  });

  it('without the token reads alone', async () => {
    const client = await connect({});
    expect(await call(client, 'list_file_reservations')).toEqual({ reservations: [] });
    const register = { project_key: scene.scratch.repository, name: 'Fox' };
    expect((await failedCall(client, 'register_agent', register)).code).toBe('unauthorized');
  });
});
