/** A verification that is asked for over HTTP outlives the request, and the process. */
import { describe, expect, it, vi } from 'vitest';
import { COMPLETE } from '../engine/scene.ts';
import { type ApiScene, makeApiScene, TRUSTED } from './scene.ts';

async function finished(scene: ApiScene): Promise<string> {
  const session = await scene.post(`echo x > x.txt; ${COMPLETE}`, { verify: ['test -f x.txt'] });
  await scene.run(session);
  return session.id;
}

async function asked({ ask }: ApiScene, id: string, headers = {}): Promise<string> {
  const { status, json } = await ask('POST', `/api/pulse/${id}/verify`, { headers });
  expect(status, JSON.stringify(json)).toBe(202);
  return json.jobId;
}

/** Until the job has ended. */
async function working({ pulse, ask }: ApiScene, jobId: string): Promise<unknown> {
  const stop = new AbortController();
  const jobs = pulse.runJobs({ signal: stop.signal, say: () => undefined });
  const job = async () => (await ask('GET', `/api/jobs/${jobId}`)).json.job;
  await vi.waitUntil(async () => (await job()).endedAt !== null, { timeout: 60_000 });
  stop.abort();
  await jobs;
  return job();
}

describe('POST /api/pulse/:id/verify', () => {
  it('answers with a job, which tells whether the evidence is still true', async () => {
    const scene = await makeApiScene();
    const id = await finished(scene);
    const jobId = await asked(scene, id);
    expect((await scene.ask('GET', `/api/jobs/${jobId}`)).json.job).toMatchObject({
      ...{ id: jobId, kind: 'verify', sessionId: id, status: 'waiting', answer: null, endedAt: null },
    });
    expect(await working(scene, jobId)).toMatchObject({
      status: 'done',
      answer: {
        verdict: 'fresh',
        trust: 'verified',
        checks: [{ command: 'test -f x.txt', verdict: 'fresh' }],
      },
      error: null,
    });
    const { json } = await scene.ask('GET', `/api/pulse/${id}/evidence`);
    expect(json).toMatchObject({
      trust: 'verified',
      verifications: [{ command: 'test -f x.txt', passed: true }],
      judgements: [{ verdict: 'accepted', iteration: 1 }],
    });
  });

  it('is asked once for one key, and only with the token', async () => {
    const scene = await makeApiScene();
    const id = await finished(scene);
    const headers = { ...TRUSTED, 'idempotency-key': 'k' };
    const ids = await Promise.all([1, 2, 3].map(() => asked(scene, id, headers)));
    expect(new Set(ids).size).toBe(1);
    expect((await scene.ask('POST', `/api/pulse/${id}/verify`, { isStranger: true })).status).toBe(401);
  });

  it('says what is wrong: of the session at once, of the verification in the job', async () => {
    const scene = await makeApiScene();
    const unknown = 'ses_00000000-0000-7000-8000-000000000000';
    expect((await scene.ask('POST', `/api/pulse/${unknown}/verify`)).status).toBe(404);
    expect((await scene.ask('GET', '/api/jobs/job_00000000-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await scene.ask('GET', '/api/jobs/nonsense')).status).toBe(422);
    const session = await scene.post(`echo x > x.txt; ${COMPLETE}`);
    await scene.run(session);
    expect(await working(scene, await asked(scene, session.id))).toMatchObject({
      ...{
        status: 'failed',
        answer: null,
        error: { code: 'not_found', hint: expect.stringContaining('--verify') },
      },
    });
  });

  it('leaves a job that it could not end to the next that looks', async () => {
    const scene = await makeApiScene();
    const flag = `${scene.root}/../slow`;
    const session = await scene.post(`echo x > x.txt; ${COMPLETE}`, {
      verify: [`test -f ${flag} && sleep 30; test -f x.txt`],
    });
    await scene.run(session);
    const { rmSync, writeFileSync } = await import('node:fs');
    writeFileSync(flag, '');
    const jobId = await asked(scene, session.id);
    const stop = new AbortController();
    const jobs = scene.pulse.runJobs({ signal: stop.signal, say: () => undefined });
    const status = async () => (await scene.ask('GET', `/api/jobs/${jobId}`)).json.job.status;
    await vi.waitUntil(async () => (await status()) === 'running', { timeout: 60_000 });
    stop.abort();
    await jobs;
    expect(await status()).toBe('waiting');
    rmSync(flag);
    expect(await working(scene, jobId)).toMatchObject({ status: 'done', answer: { verdict: 'fresh' } });
  });
});
