/** What the page asks for beside the loops' own decisions: drafts of reviews, exports, planned starts, pairing. */
import { describe, expect, it } from 'vitest';
import { COMPLETE } from '../engine/scene.ts';
import { type ApiScene, makeApiScene } from './scene.ts';

const COMMENT = { path: 'r.txt', side: 'new', line: 1, text: 'Why?' };

/** A workflow whose one pulse is done. */
async function reviewed({ ask, root, run }: ApiScene): Promise<string> {
  const { json } = await ask('POST', '/api/workflows', {
    body: {
      ...{ projectPath: root, approve: true },
      plan: { title: 'T', pulses: [{ id: 'one', title: 'One', description: 'Write.' }] },
      command: `cat > /dev/null; echo "$PULSE_UNIT" > r.txt; pulse tool pulse_done '{"summary": "feat: r", "filesChanged": ["r.txt"]}'`,
    },
  });
  await run({ id: json.sessionId });
  return json.sessionId;
}

describe('the draft of a review', () => {
  it('is kept for every device until the review is decided', async () => {
    const scene = await makeApiScene();
    const { ask } = scene;
    const path = `/api/workflows/${await reviewed(scene)}`;
    expect((await ask('GET', `${path}/draft`)).json).toEqual({ draft: null });
    const first = await ask('PUT', `${path}/draft`, { body: { text: 'Hm.', comments: [COMMENT] } });
    expect(first.status).toBe(200);
    const body = { text: 'Say why.', comments: [COMMENT], viewed: ['r.txt'] };
    await ask('PUT', `${path}/draft`, { body });
    expect((await ask('GET', `${path}/draft`)).json.draft).toMatchObject({ ...body, savedBy: 'api' });
    await ask('POST', `${path}/review`, { body: { comments: [COMMENT] } });
    expect((await ask('GET', `${path}/draft`)).json).toEqual({ draft: null });
  });

  it('may say nothing of the whole, and is refused once the review that it is of is over', async () => {
    const scene = await makeApiScene();
    const { ask } = scene;
    const id = await reviewed(scene);
    const path = `/api/workflows/${id}`;
    const { head } = (await ask('GET', `/api/pulse/${id}?view=head`)).json;
    const body = { text: '', comments: [COMMENT], viewed: ['r.txt'], head };
    expect((await ask('PUT', `${path}/draft`, { body })).status).toBe(200);
    expect((await ask('GET', `${path}/draft`)).json.draft).toMatchObject(body);
    const other = { ...body, head: '0'.repeat(40) };
    expect((await ask('PUT', `${path}/draft`, { body: other })).status).toBe(409);
    await ask('POST', `${path}/review`, { body: { comments: [COMMENT] } });
    const late = await ask('PUT', `${path}/draft`, { body });
    expect([late.status, late.json.error.code]).toEqual([409, 'invalid_transition']);
    expect((await ask('GET', `${path}/draft`)).json).toEqual({ draft: null });
  });

  it('is refused from strangers, without its form, and where there is no workflow', async () => {
    const scene = await makeApiScene();
    const { ask, post } = scene;
    const path = `/api/workflows/${await reviewed(scene)}/draft`;
    const body = { comments: [{ ...COMMENT, line: 0 }] };
    expect((await ask('PUT', path, { body })).status).toBe(422);
    expect((await ask('PUT', path, { body: {}, isStranger: true })).status).toBe(401);
    const { id } = await post(COMPLETE);
    expect((await ask('GET', `/api/workflows/${id}/draft`)).status).toBe(422);
    expect((await ask('GET', path)).json).toEqual({ draft: null });
  });
});

describe('a plan over HTTP', () => {
  it('may be the text of its file, and what an edit replaces is told', async () => {
    const { ask, root, run } = await makeApiScene();
    const start = (plan: unknown) =>
      ask('POST', '/api/workflows', { body: { projectPath: root, plan, command: 'true' } });
    const text = 'title: T\npulses:\n  - { id: one, title: One, description: Write. }\n';
    const { status, json } = await start(text);
    expect([status, json.workflow?.plan.pulses[0].id]).toEqual([201, 'one']);
    expect((await start('title: [')).json.error.details.violations[0].message).toContain(
      'neither YAML nor JSON',
    );
    expect((await start('title: T')).status).toBe(422);
    const id = json.sessionId;
    await run({ id });
    const plan = text.replace('Write.', 'Write more.');
    expect((await ask('POST', `/api/workflows/${id}/approve`, { body: { plan } })).status).toBe(202);
    const { events } = (await ask('GET', `/api/pulse/${id}/history?types=PlanCardResolved`)).json;
    expect(events[0].data).toMatchObject({
      ...{ resolution: 'approved', planVersion: 1 },
      replaced: { pulses: [{ id: 'one', description: 'Write.' }] },
    });
  });

  it('holds for research, too', async () => {
    const { ask, root } = await makeApiScene();
    const research =
      'goal: G\nmetric: { name: n, direction: lower, verifyCommand: echo 1 }\nscope: { inScope: [a] }\n';
    const body = { projectPath: root, research, command: 'true' };
    const { status, json } = await ask('POST', '/api/research', { body });
    expect([status, json.research?.content.goal]).toEqual([201, 'G']);
  });
});

describe('an export over HTTP', () => {
  it('is a file with all that is known of the session', async () => {
    const scene = await makeApiScene({
      writeReport: async (format, { session }) => `${format} of ${session.goal}`,
    });
    const session = await scene.post(COMPLETE, { verify: ['true'] });
    await scene.run(session);
    const path = `/api/pulse/${session.id}/export`;
    const { headers, json } = await scene.ask('GET', path);
    expect(json).toMatchObject({ session: { id: session.id }, verifications: [{ command: 'true' }] });
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${session.id}.json"`);
    expect((await scene.ask('GET', `${path}?format=html`)).json).toBe('html of the goal');
    expect((await scene.ask('GET', `${path}?format=md`)).headers.get('content-type')).toContain('markdown');
    expect((await scene.ask('GET', `${path}?format=pdf`)).status).toBe(422);
    expect((await scene.ask('GET', '/api/pulse/ses_ffffffff/export')).status).toBe(404);
  });
});

describe('POST /api/schedules', () => {
  it('plans each kind of start as it would be begun, once for a key', async () => {
    const { ask, root } = await makeApiScene();
    const body = {
      when: 'in 2h',
      kind: 'goal',
      input: { goal: 'Later', projectPath: root, command: 'true' },
    };
    const headers = { 'idempotency-key': 'plan-1' };
    const { status, json } = await ask('POST', '/api/schedules', { body, headers });
    expect([status, json.schedule.operation, json.schedule.words]).toEqual([
      201,
      'start',
      ['start', 'Later'],
    ]);
    expect(json.schedule.input).toMatchObject({ goal: 'Later', command: 'true' });
    expect((await ask('POST', '/api/schedules', { body, headers })).json).toEqual(json);
    await ask('POST', '/api/schedules', {
      body: { when: '0 3 * * *', kind: 'swarm', input: { projectPath: root, epic: 'e' } },
    });
    const { schedules } = (await ask('GET', '/api/schedules')).json;
    expect(schedules.map(({ operation }: { operation: string }) => operation).toSorted()).toEqual([
      'start',
      'swarm start',
    ]);
  });

  it('says at once what is wrong, and plans nothing', async () => {
    const { ask, root } = await makeApiScene();
    const input = { goal: 'Later', projectPath: root };
    const wrong = { when: 'in 2h', kind: 'goal', input: { ...input, maxIterations: 0, color: 'red' } };
    const { status, json } = await ask('POST', '/api/schedules', { body: wrong });
    expect(status).toBe(422);
    expect(json.error.details.violations.length).toBeGreaterThan(1);
    expect(
      (await ask('POST', '/api/schedules', { body: { when: 'soon', kind: 'goal', input } })).status,
    ).toBe(422);
    expect(
      (
        await ask('POST', '/api/schedules', {
          body: { when: 'in 2h', kind: 'goal', input },
          isStranger: true,
        })
      ).status,
    ).toBe(401);
    expect((await ask('GET', '/api/schedules')).json).toEqual({ schedules: [] });
  });
});

describe('POST /api/notify/pair', () => {
  it('gives a code and the words to send it with', async () => {
    const { ask } = await makeApiScene();
    const { status, json } = await ask('POST', '/api/notify/pair', { body: { channel: 'telegram' } });
    expect([status, json.text]).toEqual([201, `/pair ${json.code}`]);
    expect((await ask('POST', '/api/notify/pair', { body: { channel: 'ntfy' } })).status).toBe(422);
  });
});
