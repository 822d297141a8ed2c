/** What an agent inside a run can do with mail and reservations, over the real endpoint. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerAgent } from '../../src/coordination/mail/agents.ts';
import { sendMessage } from '../../src/coordination/mail/messages.ts';
import { listReservations } from '../../src/coordination/reservations/held.ts';
import { endReservations } from '../../src/coordination/reservations/reservations.ts';
import type { CoordinationCall, CoordinationOptions } from '../../src/coordination/tools/coordination-run.ts';
import { createCoordinationTools } from '../../src/coordination/tools/coordination-tools.ts';
import { redact } from '../../src/domain/redact.ts';
import type { Store } from '../../src/store/store.ts';
import type { ToolReply } from '../../src/tools/contract.ts';
import { createToolEndpoint, type ToolEndpoint } from '../../src/tools/endpoint.ts';
import { ids, onBothStores } from './both-stores.ts';

const project = 'repo-1';

onBothStores((open) => {
  describe('an agent inside a run', () => {
    let endpoint: ToolEndpoint;
    let store: Store;
    let calls: CoordinationCall[];
    beforeEach(async () => {
      endpoint = createToolEndpoint();
      store = await open();
      calls = [];
    });
    afterEach(() => endpoint[Symbol.asyncDispose]());

    type Call = (name: string, input?: object) => Promise<ToolReply>;
    async function run(attempt: number, more: Partial<CoordinationOptions> = {}): Promise<Call> {
      const tools = createCoordinationTools({
        ...{ store, project, ids, redact, root: '/worktree' },
        holder: { sessionId: 'ses_1', attemptId: `tsk_${attempt}` },
        record: async (_, call) => void calls.push(call),
        ...more,
      });
      const { url, token } = await endpoint.admit(tools, () => undefined);
      return async (name, input = {}) => {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`${url}/tools/${name}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(input),
        });
        return (await answer.json()) as ToolReply;
      };
    }
    const messagesOf = ({ output }: ToolReply) => (output as { messages: { subject: string }[] }).messages;

    it('registers once, then writes and reads under that name alone', async () => {
      await store.tx('mail', (db) => registerAgent(db, { project, name: 'Fox', ids }));
      const call = await run(1);
      expect(await call('fetch_inbox')).toMatchObject({
        ok: false,
        reasons: [expect.anything(), expect.stringContaining('register_agent')],
      });
      expect(await call('register_agent', { project_key: '/repo', name: 'Fox' })).toEqual({
        ok: true,
        output: { agent: { name: 'Fox-2' } },
      });
      expect((await call('register_agent', { name: 'Another' })).output).toEqual({
        agent: { name: 'Fox-2' },
      });
      const mail = { to: ['Fox'], subject: 'Hi', body_md: 'text', topic: 'epic-1', thread_id: 'E1' };
      expect(await call('send_message', { ...mail, sender_name: 'Fox' })).toMatchObject({ ok: false });
      const sent = await call('send_message', { ...mail, sender_name: 'Fox-2', project_key: '/repo' });
      expect(sent).toMatchObject({
        ok: true,
        output: { message: { sender_name: 'Fox-2', thread_id: 'E1' } },
      });
      expect(await call('send_message', { ...mail, to: ['Nobody'] })).toMatchObject({ ok: false });
      expect(await call('send_message', { ...mail, to: [] })).toMatchObject({ ok: false });
      expect(messagesOf(await call('fetch_topic', { topic_name: 'epic-1' }))).toHaveLength(1);
      expect(calls.map(({ type }) => type)).toEqual(['registered', 'sent', 'topic_fetched']);
    });

    it('fetches, answers and acknowledges what it got, and nothing of another project', async () => {
      for (const name of ['Lead', 'Fox'])
        await store.tx('mail', (db) => registerAgent(db, { project, name, ids }));
      await store.tx('mail', (db) => registerAgent(db, { project: 'other', name: 'Fox', ids }));
      const message = {
        from: 'Lead',
        to: ['Fox'],
        subject: 'Start',
        body: 'with bead 1',
        topic: 'epic-1',
        ids,
      };
      const { id } = await store.tx('mail', (db) => sendMessage(db, { project, ...message }));
      const elsewhere = await store.tx('mail', (db) =>
        sendMessage(db, { project: 'other', ...message, from: 'Fox' }),
      );
      const call = await run(1, { agentName: 'Fox' });
      expect(messagesOf(await call('fetch_inbox', { agent_name: 'Fox', topic: 'epic-1' }))).toMatchObject([
        { id, acked_at: null },
      ]);
      expect(await call('acknowledge_message', { message_id: id })).toMatchObject({ ok: true });
      expect(await call('reply_message', { message_id: id, body_md: 'Understood' })).toMatchObject({
        output: { message: { subject: 'Re: Start', to: ['Lead'], reply_to: id } },
      });
      for (const [name, more] of [
        ['acknowledge_message', {}],
        ['reply_message', { body_md: 'x' }],
      ] as const)
        expect(await call(name, { message_id: elsewhere.id, ...more })).toMatchObject({ ok: false });
      expect(calls.map(({ type }) => type)).toEqual(['inbox_fetched', 'acknowledged', 'sent']);
    });

    it('is told who holds what it may not have, after its conflict was reported', async () => {
      const told: object[] = [];
      const fox = await run(1, { agentName: 'Fox' });
      const owl = await run(2, {
        agentName: 'Owl',
        onConflict: async (conflicts) => void told.push(...conflicts),
      });
      const granted = await fox('file_reservation_paths', {
        ...{ project_key: '/repo', agent_name: 'Fox', paths: ['/worktree/src/*.ts', 'docs/a.md'] },
        reason: 'Working bead 1',
      });
      expect(granted).toMatchObject({
        ok: true,
        output: { granted: [{ path: 'docs/a.md' }, { path: 'src/*.ts' }], conflicts: [] },
      });
      const refused = await owl('file_reservation_paths', { paths: ['README.md', 'src/a.ts'] });
      const { expires_at } = (granted.output as { granted: { expires_at: string }[] }).granted[1]!;
      const conflict = { path: 'src/a.ts', pattern: 'src/*.ts', holder: 'Fox', expires_at };
      expect(refused).toEqual({
        ok: false,
        output: { granted: [], conflicts: [conflict] },
        reasons: [`src/a.ts: Fox holds src/*.ts until ${expires_at}`],
      });
      expect(told).toEqual([conflict]);
      expect(await owl('file_reservation_paths', { paths: ['/etc/passwd'] })).toMatchObject({ ok: false });
      expect(await owl('release_file_reservations', {})).toEqual({ ok: true, output: { released: [] } });
      expect(await owl('release_file_reservations', { agent_name: 'Fox' })).toMatchObject({ ok: false });
      // There is no force for an agent.
      expect(await owl('file_reservation_paths', { paths: ['src/a.ts'], force: true })).toMatchObject({
        ok: false,
      });
      await store.tx('end', (db) => endReservations(db, { sessionId: 'ses_1', attemptId: 'tsk_1' }));
      expect(await owl('file_reservation_paths', { paths: ['src/a.ts'] })).toMatchObject({ ok: true });
      const held = await store.read((db) => listReservations(db, { project }));
      expect(held).toMatchObject([{ agent_name: 'Owl', session_id: 'ses_1', attempt_id: 'tsk_2' }]);
    });
  });
});
