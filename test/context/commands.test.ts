/** `pulse context`, as a person types it. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Imported } from '../../src/context/import/import-transcripts.ts';
import type { TurnHead } from '../../src/store/turns.ts';
import { useScene } from '../e2e/scene.ts';
import { startEmbeddingServer } from '../fakes/embedding-server.ts';
import { claude, said, uuid, writeLines } from './transcripts.ts';

const scene = useScene();

async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await scene.pulse(['context', ...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

describe('pulse context', { timeout: 60_000 }, () => {
  it('imports transcripts and lists their turns; a file that is none is refused', async () => {
    const path = writeLines(join(scene.repository, '../talk.jsonl'), [
      claude(1, null, said('user', 'Build the login')),
      '{"torn',
      claude(2, 1, said('assistant', 'It is built.')),
    ]);
    const imported = await json<Imported>('import', path);
    expect(imported).toMatchObject({ conversations: 1, turns: 2, added: 2 });
    expect(imported.skipped).toMatchObject([{ file: path, line: 2 }]);
    const { turns } = await json<{ turns: TurnHead[] }>('turns');
    expect(turns.map(({ id }) => id)).toEqual([uuid(1), uuid(2)]);
    expect(Object.keys(turns[0]!).sort()).toEqual(
      [
        ...['content_hash', 'created_at', 'depth', 'id', 'iteration_number', 'parent_id', 'phase', 'role'],
        ...['salience', 'session_id'],
      ].sort(),
    );
    const other = writeLines(join(scene.repository, '../other.jsonl'), ['{"a":1}']);
    expect((await scene.pulse(['context', 'import', other])).code).toBe(2);
    expect((await scene.pulse(['context', 'import', '/nowhere.jsonl'])).code).toBe(2);
    expect(await json('turns')).toEqual({ turns });
    const { results } = await json<{ results: { turn_id: string }[] }>('search', 'login');
    expect(results.map(({ turn_id }) => turn_id)).toEqual([uuid(1), uuid(2)]);
    expect(await json('search', '"NEAR( AND *')).toEqual({ results: [] });
    expect(await json('search', 'refresh token')).toEqual({ results: [] });
    const slice = await json('slice', uuid(2));
    expect(slice).toMatchObject({ turn_ids: [uuid(1), uuid(2)], node_count: 2, policy_id: 'default' });
    for (const wrong of [
      ['slice', uuid(77)],
      ['slice', 'x'],
      ['slice', uuid(1), '--policy', 'none'],
    ])
      expect((await scene.pulse(['context', ...wrong])).code, wrong.join(' ')).toBe(2);
  });

  it('finds code in the checkout, never what is ignored or held out', async () => {
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(scene.repository, path)), { recursive: true });
      writeFileSync(join(scene.repository, path), text);
    };
    write('.gitignore', 'out/\n');
    write('src/harbour.ts', 'export function openHarbour() {\n  return "glacier";\n}\n');
    for (const hidden of ['out', '.pulse/held-out', 'kept', 'full/path', 'linked/to'])
      write(`${hidden}/harbour.ts`, 'export function harbourSecret() {\n  return "glacier";\n}\n');
    symlinkSync('linked/to', join(scene.repository, 'link'));
    const named = ['kept/', join(scene.repository, 'full/path'), './full/../link'];
    const heldOut = named.map((from) => `  - {from: ${from}, command: "true"}\n`);
    write('.pulse/config.yaml', `heldOut:\n${heldOut.join('')}`);
    const found = await json<{ index: string; results: { path: string; line: number }[] }>(
      'code',
      'harbour glacier',
    );
    expect(['lexical', 'partial', 'ready', 'stale']).toContain(found.index);
    expect(found.results.map(({ path }) => path)).toEqual(['src/harbour.ts']);
    const { code, stdout, stderr } = await scene.pulse(['context', 'code', 'harbour']);
    expect([code, stdout]).toEqual([0, 'src/harbour.ts:1: export function openHarbour() {\n']);
    expect(stderr).toContain('index: ');
    expect((await scene.pulse(['context', 'code'])).code).toBe(2);
  });
});

describe('pulse context with an embedder', { timeout: 60_000 }, () => {
  it('sends nothing unless the user’s own config says so, and then finds by meaning', async () => {
    await using server = await startEmbeddingServer();
    const talk = writeLines(join(scene.repository, '../talk.jsonl'), [
      claude(1, null, said('user', 'The automobile is slow')),
      claude(2, null, said('user', 'Roses need water')),
    ]);
    const config = `embedder:\n  service: ollama\n  model: nomic-embed-text\n  url: ${server.url('ollama')}\n`;
    const inProject = join(scene.repository, '.pulse/config.yaml');
    mkdirSync(dirname(inProject), { recursive: true });
    writeFileSync(inProject, config);
    const refused = await scene.pulse(['start', 'x', '--trust', '--command', 'true']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('belongs in your own config'),
    ]);
    rmSync(inProject);
    await json('import', talk);
    expect(await json('search', 'car')).toEqual({ results: [] });
    expect(server.asks).toEqual([]);

    const own = join(scene.directory, '.config/pulse/config.yaml');
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, config);
    await json('import', talk);
    const { results, embedder } = await json<{ results: { turn_id: string }[]; embedder: object }>(
      'search',
      'car',
    );
    expect(results[0]).toMatchObject({ turn_id: uuid(1) });
    expect(embedder).toEqual({
      ...{ service: 'ollama', model: 'nomic-embed-text', dimension: 16, state: 'ready', reason: null },
    });
    const told = await scene.pulse(['context', 'search', 'car']);
    expect(told.stderr).toContain('embedder ollama nomic-embed-text: ready');
    const doctor = await scene.pulse(['doctor']);
    expect(doctor.stdout + doctor.stderr).toContain('ollama nomic-embed-text answers, 16 dimensions');
    server.misbehave(() => ({ status: 500, body: '' }));
    const away = await scene.pulse(['context', 'search', 'vehicle']);
    expect([away.code, away.stderr]).toEqual([0, expect.stringContaining('away (words answered alone)')]);
  });
});
