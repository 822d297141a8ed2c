/** What can be asked of a project's turns and code over HTTP and MCP. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiScene, makeApiScene } from '../api/scene.ts';
import { serveHttp } from '../mcp/http-server.ts';
import { call, rawCall, textOf } from '../mcp/tool-calls.ts';
import { claude, said, uuid, writeLines } from './transcripts.ts';

const SECRET = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
const TALK = [
  claude(1, null, said('user', 'Build the login with a refresh token')),
  '{"torn',
  claude(2, 1, said('assistant', `It is built, with API_KEY=${SECRET}`)),
];
/** What nobody would ask, and what a search must answer all the same. */
const ODD = [
  ...[
    '',
    ' ',
    '"',
    "'; DROP TABLE turns; --",
    ' AND OR NEAR(',
    '* %',
    '\0',
    '\ud800',
    '\u202e',
    '🚢',
    '\n\r\t',
  ],
  ...['token '.repeat(400), 'login'.repeat(600), '港'.repeat(900)],
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-context-http-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('context over HTTP', () => {
  let scene: ApiScene;
  beforeEach(async () => {
    scene = await makeApiScene({
      environment: { CLAUDE_CONFIG_DIR: join(folder, 'claude'), CODEX_HOME: join(folder, 'codex') },
    });
  });

  const about = (path: string, more: Record<string, string | number> = {}) =>
    `/api/context/${path}?${new URLSearchParams({ project_key: scene.root, ...more } as Record<string, string>)}`;
  const importTalk = (paths = [writeLines(join(folder, 'talk.jsonl'), TALK)]) =>
    scene.ask('POST', '/api/context/import', { body: { project_key: scene.root, paths } });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(scene.root, path)), { recursive: true });
    writeFileSync(join(scene.root, path), text);
  };

  it('reads transcripts, tells what was skipped, and adds nothing twice', async () => {
    const { status, json } = await importTalk();
    expect(status).toBe(200);
    expect(json).toMatchObject({ conversations: 1, turns: 2, added: 2 });
    expect(json.skipped).toMatchObject([{ line: 2 }]);
    expect((await importTalk()).json).toMatchObject({ turns: 2, added: 0 });
    const { json: page } = await scene.ask('GET', about('turns', { limit: 1 }));
    expect(page.turns.map(({ id }: { id: string }) => id)).toEqual([uuid(1)]);
    const { json: next } = await scene.ask('GET', about('turns', { cursor: page.nextCursor }));
    expect(next.turns).toMatchObject([{ id: uuid(2), parent_id: uuid(1), depth: 1 }]);
    expect(JSON.stringify([json, page, next])).not.toContain(SECRET);
  });

  it('without paths finds what Claude Code keeps of the repository', async () => {
    const slug = scene.root.replace(/[^A-Za-z0-9]/g, '-');
    writeLines(join(folder, 'claude/projects', slug, 'a.jsonl'), TALK);
    const { json } = await scene.ask('POST', '/api/context/import', { body: { project_key: scene.root } });
    expect(json).toMatchObject({ conversations: 1, added: 2 });
  });

  it('refuses what is no transcript, strangers, and a project that is none', async () => {
    const other = writeLines(join(folder, 'other.jsonl'), ['{"a":1}']);
    expect((await importTalk([other])).status).toBe(400);
    const body = { project_key: scene.root, paths: [writeLines(join(folder, 'b.jsonl'), TALK)] };
    const stranger = await scene.ask('POST', '/api/context/import', { body, isStranger: true });
    expect(stranger.status).toBe(401);
    expect((await scene.ask('GET', about('turns'))).json.turns).toEqual([]);
    const nowhere = await scene.ask('GET', '/api/context/search?project_key=/nowhere&query=x');
    expect(nowhere.status).toBeGreaterThanOrEqual(400);
    expect(nowhere.status).toBeLessThan(500);
  });

  it('finds turns by words, best first', async () => {
    await importTalk();
    const { status, json } = await scene.ask('GET', about('search', { query: 'refresh login' }));
    expect(status).toBe(200);
    expect(json.results[0]).toMatchObject({ turn_id: uuid(1), role: 'user', depth: 0 });
    expect(json.results[0].similarity).toBeGreaterThan(0);
  });

  it('answers a query of any letters, of turns and of code', { timeout: 60_000 }, async () => {
    await importTalk();
    write('src/login.ts', 'export function refreshToken() {}\n');
    for (const query of ODD) {
      const turns = await scene.ask('GET', about('search', { query }));
      expect([JSON.stringify(query.slice(0, 40)), turns.status]).toEqual([
        JSON.stringify(query.slice(0, 40)),
        200,
      ]);
      const code = await scene.ask('GET', about('code', { query, wait_ms: 0 }));
      expect(code.status, JSON.stringify(query.slice(0, 40))).toBe(200);
      if (query.trim() === '') expect([turns.json.results, code.json.results]).toEqual([[], []]);
    }
    const long = await scene.ask('GET', about('search', { query: `refresh ${'x'.repeat(12_000)}` }));
    expect(long.json.results[0]).toMatchObject({ turn_id: uuid(1) });
  });

  it('finds code with how much the index knew, and nothing that is held out', async () => {
    write(
      'src/login.ts',
      `/** Renews the token. */\nexport function refreshToken() { return '${SECRET}'; }\n`,
    );
    write('.pulse/held-out/check.ts', 'export function refreshTokenCheck() {}\n');
    const { status, json } = await scene.ask(
      'GET',
      about('code', { query: 'refresh token', limit: 5, wait_ms: 20_000 }),
    );
    expect(status).toBe(200);
    expect(['partial', 'ready', 'stale', 'lexical']).toContain(json.index);
    const paths = json.results.map(({ path }: { path: string }) => path);
    expect(paths[0]).toBe('src/login.ts');
    expect(paths.join()).not.toContain('held-out');
    expect(json.results[0]).toMatchObject({ line: expect.any(Number), text: expect.any(String) });
    expect(JSON.stringify(json)).not.toContain(SECRET);
  });

  it('makes the slice of a turn, and tells of a turn or a policy that is not there', async () => {
    await importTalk();
    const { status, json } = await scene.ask('GET', about(`slices/${uuid(2)}`));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...{ anchor_turn_id: uuid(2), turn_ids: [uuid(1), uuid(2)], node_count: 2, policy_id: 'default' },
      edges: [{ parent: uuid(1), child: uuid(2) }],
      admissibility_token: expect.stringMatching(/^[\w-]+\.[0-9a-f]{32}$/),
    });
    expect((await scene.ask('GET', about(`slices/${uuid(2)}`))).json).toEqual(json);
    expect((await scene.ask('GET', about(`slices/${uuid(9)}`))).status).toBe(404);
    const unknown = await scene.ask('GET', about(`slices/${uuid(2)}`, { policy: 'none' }));
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    expect(unknown.status).toBeLessThan(500);
    const turn = await scene.ask('GET', `/api/turns/${uuid(2)}`);
    expect(turn.json.turn.content).toContain('[redacted]');
  });
});

it('an assistant searches what was said and reads a turn', { timeout: 60_000 }, async () => {
  await using served = await serveHttp();
  const project_key = served.scratch.repository;
  const paths = [writeLines(join(folder, 'talk.jsonl'), TALK)];
  await served.pulse.context.importTurns({ project_key, paths });
  const client = new Client({ name: 'assistant', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url)));
  try {
    const search = (query: string) =>
      call<{ results: { turn_id: string }[] }>(client, 'pulse_context_search', { project_key, query });
    expect((await search('refresh login')).results[0]).toMatchObject({ turn_id: uuid(1) });
    for (const query of ['', ...ODD.slice(1), `refresh ${'x '.repeat(40_000)}`])
      expect((await search(query)).results).toBeInstanceOf(Array);
    const turn = textOf(await rawCall(client, 'pulse_context_turn', { turn_id: uuid(2), project_key }));
    expect(turn).toContain('It is built');
    expect(turn).not.toContain(SECRET);
  } finally {
    await client.close();
  }
});
