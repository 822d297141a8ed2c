/** `pulse-loops/client` against the real app; its types are checked by the compiler as this file uses them. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { generateClient } from '../packaging/client.ts';
import { listen } from '../src/api/http-server.ts';
import { type Card, createClient, PulseApiError } from '../src/client/index.ts';
import { type ApiScene, makeApiScene, TOKEN } from './api/scene.ts';

const ROOT = resolve(import.meta.dirname, '..');

function clientOf({ app }: ApiScene, key: string | undefined = TOKEN) {
  const ask = (async (url: string, init: RequestInit) => app.request(url, init)) as typeof fetch;
  return createClient({ url: 'http://localhost:3002', key, fetch: ask });
}

describe('the client', () => {
  it('is what the table says now', async () => {
    for (const [name, text] of Object.entries(await generateClient()))
      expect(readFileSync(join(ROOT, 'src/client/generated', name), 'utf8'), 'npm run generate').toBe(text);
  });

  it('imports nothing of Pulse', () => {
    const files = globSync('src/client/**/*.ts', { cwd: ROOT });
    expect(files.length).toBeGreaterThan(4);
    for (const file of files)
      expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(/from '(?:\.\.\/(?!client)|[a-z@])/);
  });

  it('starts, lists, reads, changes and follows as the API does', async () => {
    const scene = await makeApiScene();
    const pulse = clientOf(scene);
    const body = { projectPath: scene.root, goal: 'the goal', command: 'true', maxIterations: 2 };
    const { sessionId: id } = await pulse.start(body, { idempotencyKey: 'k' });
    expect((await pulse.start(body, { idempotencyKey: 'k' })).sessionId).toBe(id);
    const { sessions } = await pulse.listCards({ attention: 'no_runner', limit: 10 });
    const card: Card | undefined = sessions[0];
    expect(card?.id).toBe(id);
    expect((await pulse.list()).sessions[0]!.progress_log).toEqual([]);
    expect((await pulse.showHead({ id })).lastSeq).toBe(1);
    expect((await pulse.diff({ id, stat: true })).files).toEqual([]);
    const seen: string[] = [];
    for await (const { event, data } of pulse.live({ watch: { [id]: 0 } })) {
      seen.push(event ?? (data as { type: string }).type);
      if (event === 'ready') break;
    }
    expect(seen).toEqual(expect.arrayContaining(['card', 'session.created', 'ready']));
    expect((await pulse.abort({ id })).session.status).toBe('aborted');
    const events: number[] = [];
    for await (const { data } of pulse.events(id)) events.push(data.seq);
    expect(events).toEqual([1, 2]);
    expect(await pulse.bead.list({ project_key: scene.root })).toMatchObject({ beads: [] });
  });

  it('throws what the server says', async () => {
    const scene = await makeApiScene();
    const refused = await clientOf(scene)
      .show({ id: 'ses_0' })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PulseApiError);
    expect(refused).toMatchObject({ status: 404, code: 'not_found', hint: expect.any(String) });
    await expect(clientOf(scene, 'wrong').list()).rejects.toMatchObject({ status: 401 });
  });

  it('works as docs/client.md prints it', { timeout: 60_000 }, async () => {
    const scene = await makeApiScene();
    await using server = await listen(scene.app, { host: '127.0.0.1', port: 0 });
    const document = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');
    const blocks = [...document.matchAll(/^```ts runnable\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    expect(blocks.length).toBeGreaterThan(4);
    const source = JSON.stringify(join(ROOT, 'src/client/index.ts'));
    const program = join(scene.folder, 'program.mts');
    writeFileSync(program, blocks.join('\n').replaceAll("'pulse-loops/client'", source));
    const env = { PATH: process.env.PATH, PULSE_URL: server.url, PULSE_TOKEN: TOKEN };
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: scene.root, env });
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining(['night watch read,operate', '1 no_runner', '404 not_found', 'session.created']),
    );
  });
});
