import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { runsOf } from '../lanes/lane.ts';
import { type OpenApiDocument, requestsOf } from './openapi-requests.ts';
import { makeApiScene, TRUSTED } from './scene.ts';

const REQUESTS = Number(process.env.PULSE_FUZZ_REQUESTS ?? runsOf(1_000, 10_000));
/** Stands for the id of the session that was started last. */
const NEWEST = 'NEWEST';
const HANG_MS = 15_000;
const DOCUMENTED = [400, 401, 403, 404, 409, 413, 422, 429];

it(`answers ${REQUESTS} requests without a failure, and a refused one changes nothing`, async () => {
  const failures: unknown[] = [];
  const { app, ask, post, root, pulse, environment } = await makeApiScene({
    onFailure: (error) => failures.push(error),
  });
  const document = (await ask('GET', '/openapi.json')).json as OpenApiDocument;
  // Without it every start would have to name its agent.
  await writeTrustedConfig(root, { text: 'agent: demo\n', environment });
  const aborted = (await post('true')).id;
  await ask('POST', `/api/pulse/${aborted}/abort`);
  await post('true');
  const plan = { title: 'Greet', pulses: [{ id: 'one', title: 'One', description: 'Say hello.' }] };
  const workflow = await ask('POST', '/api/workflows', { body: { plan, projectPath: root } });
  expect(workflow.status).toBe(201);
  const research = {
    goal: 'Faster',
    metric: { name: 'ms', direction: 'lower', verifyCommand: 'echo 1' },
    scope: { inScope: ['src/**'] },
  };
  const researched = await ask('POST', '/api/research', {
    body: { research, projectPath: root },
    headers: TRUSTED,
  });
  expect(researched.status).toBe(201);
  for (const name of ['Fox', 'Owl'])
    await ask('POST', '/api/mail/agents', { body: { project_key: root, name } });
  const sessions = [aborted, workflow.json.sessionId, researched.json.sessionId, 'ses_0'];
  const known = {
    id: fc.constantFrom(NEWEST, NEWEST, NEWEST, ...sessions),
    research: fc.constantFrom(research, { ...research, guard: 'true' }, { ...research, goal: '' }),
    plan: fc.constantFrom(plan, { ...plan, verify: [{ command: 'true', source: 'Test' }] }, { title: '' }),
    pulseId: fc.constantFrom('one', 'two', workflow.json.pulses[0].id),
    goal: fc.constantFrom('Say hello', 'Grüße 🎉', ' '),
    projectPath: fc.constantFrom(root, root, root, root, root, '/', '/nowhere', 'relative'),
    agent: fc.constantFrom('demo', 'command', 'replay', 'nobody'),
    base: fc.constantFrom('main', 'HEAD', '-x', 'HEAD~9', '@{u}', 'main:README.md'),
    branch: fc.constantFrom('pulse/x', 'main', '-b', 'a..b'),
    'idempotency-key': fc.oneof(fc.uuid(), fc.constantFrom('k1', 'k2', 'k3')),
    n: fc.constantFrom('1', '2'),
    project_key: fc.constantFrom(root, root, root, '/nowhere', 'x-00000000'),
    agent_name: fc.constantFrom('Fox', 'Owl', 'Nobody'),
    sender_name: fc.constantFrom('Fox', 'Owl', 'Nobody'),
    to: fc.constantFrom(['Fox'], ['Owl', 'Fox'], ['Nobody'], []),
    paths: fc.constantFrom(['src/**'], ['a', '*.md'], ['../x'], ['[']),
    after: fc.constantFrom('0', '1', '2'),
    'last-event-id': fc.constantFrom('0', '1', '2'),
  };
  using database = new DatabaseSync(pulse.home.database, {
    readOnly: true,
    timeout: 5_000,
  }) as DatabaseSync & Disposable;
  const rows = database.prepare(
    `SELECT (SELECT count(*) FROM pulse_sessions) AS sessions, (SELECT count(*) FROM pulse_events) AS events,
      (SELECT count(*) FROM idempotency_keys) AS keys, (SELECT count(*) FROM turns) AS turns,
      (SELECT count(*) FROM pulses) AS pulses, (SELECT sum(plan_version) FROM workflows) AS approvals,
      (SELECT count(*) FROM mail_messages) AS messages, (SELECT count(*) FROM reservations) AS reservations,
      (SELECT count(*) FROM mail_agents) AS agents,
      (SELECT group_concat(phase || coalesce(finished_at, '-')) FROM researches) AS researches,
      (SELECT group_concat(status || coalesce(request, '-')) FROM pulse_sessions JOIN session_controls ON id = session_id) AS state`,
  );
  const answers = new Map<number, number>();

  await fc.assert(
    fc.asyncProperty(
      requestsOf(document, { known, authorization: TRUSTED.authorization }),
      async (request) => {
        const { method, headers, body } = request;
        const {
          sessions: [newest],
        } = await pulse.list({ limit: 1 });
        const path = request.path.replace(NEWEST, newest!.id);
        const before = rows.get() as { sessions: number };
        const hasBody = body !== undefined && method !== 'GET' && method !== 'HEAD';
        const asked = Promise.resolve(
          app.request(path, { method, headers, body: hasBody ? body : undefined }),
        );
        const answer = await orHang(asked);
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
        const isEventStream = answer.headers.get('content-type') === 'text/event-stream';
        if (isEventStream || method === 'HEAD') {
          await answer.body?.cancel();
        } else if (answer.status >= 400) {
          expect(DOCUMENTED).toContain(answer.status);
          const { error } = (await answer.json()) as { error: object };
          expect(Object.keys(error)).toEqual(['code', 'message', 'hint', 'details']);
        } else {
          await answer.text();
        }
        const after = rows.get() as { sessions: number };
        if (answer.status >= 400 || method !== 'POST') expect(after).toEqual(before);
        else expect(after.sessions - before.sessions).toBeLessThanOrEqual(answer.status === 201 ? 1 : 0);
      },
    ),
    { numRuns: REQUESTS, endOnFailure: true },
  );
  expect(failures).toEqual([]);
  for (const status of [200, 201, 202, 400, 401, 403, 404, 409, 422])
    expect([...answers.keys()]).toContain(status);
}, 600_000);

async function orHang(asked: Promise<Response>): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${HANG_MS} ms`)), HANG_MS);
  });
  try {
    return await Promise.race([asked, hang]);
  } finally {
    clearTimeout(timer);
  }
}
