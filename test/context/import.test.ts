import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { importTranscripts } from '../../src/context/import/import-transcripts.ts';
import {
  openTranscript,
  type TranscriptLine,
  transcriptLines,
} from '../../src/context/import/transcript-lines.ts';
import { redact } from '../../src/domain/redact.ts';
import type { Store } from '../../src/store/store.ts';
import { findTurn, listTurnHeads } from '../../src/store/turns.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { at, claude, codex, message, result, said, used, uuid, writeLines } from './transcripts.ts';

const folder = mkdtempSync(join(tmpdir(), 'pulse-import-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const fresh = (name = 'transcript.jsonl') => join(folder, `${files++}`, name);

function read(
  store: Store,
  paths: string[],
  { projectId = 'project', root = folder, environment = {} } = {},
) {
  return importTranscripts(store, { projectId, root, paths, environment, redact });
}
const turns = (store: Store, projectId = 'project') =>
  store.read((db) => listTurnHeads(db, { projectId, after: null, limit: undefined }));

const CONVERSATION = [
  { type: 'summary', summary: 'A login', leafUuid: uuid(9) },
  claude(1, null, said('user', 'Build the login')),
  claude(2, 1, { type: 'attachment', attachment: {} }),
  claude(3, 2, said('assistant', 'I look at src/login.ts first.')),
  claude(4, 3, used()),
  claude(5, 4, result('secret tool output')),
  claude(6, 5, said('assistant', 'Done: all tests pass. <signal>COMPLETE</signal>')),
  claude(7, 1, said('user', 'Another branch of the talk')),
];

onBothStores((open) => {
  describe('a transcript of Claude Code', () => {
    it('becomes turns: entries with text, each below the nearest turn before it', async () => {
      const store = await open();
      const path = writeLines(fresh(), CONVERSATION);
      expect(await read(store, [path])).toEqual({ conversations: 1, turns: 4, added: 4, skipped: [] });
      const found = await turns(store);
      expect(found.map(({ id, parent_id, depth, role }) => [id, parent_id, depth, role])).toEqual([
        [uuid(1), null, 0, 'user'],
        [uuid(3), uuid(1), 1, 'assistant'],
        [uuid(6), uuid(3), 2, 'assistant'],
        [uuid(7), uuid(1), 1, 'user'],
      ]);
      expect(found.map(({ created_at }) => created_at)).toEqual([at(1), at(3), at(6), at(7)]);
      expect(found.map(({ phase }) => phase)).toEqual(['planning', 'exploration', 'synthesis', 'planning']);
      expect(found[2]!.salience).toBeGreaterThan(found[1]!.salience);
    });

    it('adds only what is new when it is read again, and the same to another project', async () => {
      const store = await open();
      const path = writeLines(fresh(), CONVERSATION);
      await read(store, [path]);
      appendFileSync(path, `${JSON.stringify(claude(8, 7, said('assistant', 'More')))}\n`);
      expect(await read(store, [path])).toMatchObject({ turns: 5, added: 1 });
      expect(await read(store, [path])).toMatchObject({ turns: 5, added: 0 });
      expect(await read(store, [path], { projectId: 'other' })).toMatchObject({ turns: 5, added: 5 });
      expect(await turns(store, 'other')).toEqual(await turns(store));
    });

    it('tells of torn lines and skips them; what stood below them keeps its place', async () => {
      const store = await open();
      const torn = JSON.stringify(claude(2, 1, said('assistant', 'half'))).slice(0, 80);
      const path = writeLines(fresh(), [
        claude(1, null, said('user', 'one')),
        torn,
        claude(3, 2, said('user', 'three')),
        '[1]',
        claude(4, 3, { ...said('user', 'no id'), uuid: '../../etc' }),
      ]);
      const { added, skipped } = await read(store, [path]);
      expect(added).toBe(2);
      expect(skipped.map(({ file, line }) => [file, line])).toEqual([
        [path, 2],
        [path, 4],
        [path, 5],
      ]);
      expect((await turns(store)).map(({ parent_id }) => parent_id)).toEqual([null, uuid(1)]);
    });

    it('is redacted when it is read', async () => {
      const store = await open();
      const key = `sk-ant-api03-${'a1B2'.repeat(20)}`;
      const path = writeLines(fresh(), [claude(1, null, said('user', `Use API_KEY=${key}\0 here`))]);
      await read(store, [path]);
      const turn = await store.read((db) => findTurn(db, 'project', uuid(1)));
      expect(turn?.content).toContain('[redacted]');
      expect(turn?.content).not.toContain('a1B2');
    });
  });

  describe('a rollout of Codex', () => {
    it('becomes turns with ids of session and line; what Codex says itself is left out', async () => {
      const store = await open();
      const lines = [
        codex(0, 'session_meta', { id: uuid(50), cwd: '/repo' }),
        codex(1, 'response_item', message('user', '<user_instructions>be nice</user_instructions>')),
        codex(1, 'response_item', message('user', '<environment_context>x</environment_context>')),
        codex(1, 'response_item', message('developer', 'permissions')),
        codex(2, 'response_item', message('user', 'Fix the parser')),
        codex(2, 'event_msg', { type: 'user_message', message: 'Fix the parser' }),
        codex(3, 'response_item', { type: 'function_call', name: 'shell', arguments: '{}' }),
        codex(4, 'response_item', message('assistant', 'I have fixed it.')),
        codex(4, 'event_msg', { type: 'agent_message', message: 'I have fixed it.' }),
      ];
      const path = writeLines(fresh('rollout-2026.jsonl'), lines);
      expect(await read(store, [path])).toEqual({ conversations: 1, turns: 2, added: 2, skipped: [] });
      const [user, assistant] = await turns(store);
      expect(user).toMatchObject({ role: 'user', parent_id: null, created_at: at(2) });
      expect(assistant).toMatchObject({ role: 'assistant', parent_id: user!.id, depth: 1 });
      // The same file under another name is the same conversation.
      expect(await read(store, [writeLines(fresh('copy.jsonl'), lines)])).toMatchObject({ added: 0 });
    });
  });

  describe('what is named', () => {
    it('must be transcripts, or nothing is imported', async () => {
      const store = await open();
      const good = writeLines(fresh(), CONVERSATION);
      const link = fresh();
      writeLines(link, []);
      rmSync(link);
      symlinkSync(good, link);
      const pipe = `${link}.pipe`;
      execFileSync('mkfifo', [pipe]);
      const bad = [
        writeLines(fresh(), ['{"name": "package"}', '{"a":1}']),
        writeLines(fresh('notes.txt'), ['some words']),
        writeLines(fresh(), []),
        `${good}.not-there`,
        link,
        pipe,
      ];
      for (const path of bad)
        await expect(read(store, [good, path])).rejects.toMatchObject({ code: 'usage' });
      expect(await turns(store)).toEqual([]);
    });

    it('may be a folder: its transcripts are read, links in it are not followed', async () => {
      const store = await open();
      const path = writeLines(fresh('deep/a.jsonl'), CONVERSATION);
      const top = join(path, '../..');
      writeLines(join(top, 'other.jsonl'), ['{"a":1}']);
      symlinkSync(tmpdir(), join(top, 'away'));
      const { conversations, skipped } = await read(store, [top]);
      expect(conversations).toBe(1);
      expect(skipped).toEqual([{ file: join(top, 'other.jsonl'), line: 0, reason: 'it is no transcript' }]);
    });
  });

  it('without a path finds what both agents keep of the repository, and of no other', async () => {
    const store = await open();
    const home = join(folder, `home-${files++}`);
    const root = join(folder, 'my.repo');
    writeLines(join(root, 'x'), []);
    const slug = root.replace(/[^A-Za-z0-9]/g, '-');
    writeLines(join(home, '.claude/projects', slug, 'a.jsonl'), CONVERSATION);
    writeLines(join(home, '.claude/projects', `${slug}-2`, 'b.jsonl'), [
      claude(30, null, said('user', 'no')),
    ]);
    for (const [name, cwd] of [
      ['here', root],
      ['there', '/elsewhere'],
    ])
      writeLines(join(home, `.codex/sessions/2026/01/rollout-${name}.jsonl`), [
        codex(0, 'session_meta', { id: name, cwd }),
        codex(2, 'response_item', message('user', `in ${name}`)),
      ]);
    const found = await read(store, [], { root, environment: { HOME: home } });
    expect(found).toMatchObject({ conversations: 2, turns: 5, added: 5 });
    const elsewhere = { CLAUDE_CONFIG_DIR: join(home, 'none'), CODEX_HOME: join(home, '.codex') };
    const onlyCodex = await read(store, [], { root, environment: elsewhere, projectId: 'two' });
    expect(onlyCodex).toMatchObject({ conversations: 1, turns: 1 });
  });

  it('reads a file of any bytes without an error of its own', async () => {
    const store = await open();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        const path = writeLines(fresh(), [claude(1, null, said('user', 'one'))]);
        appendFileSync(path, bytes);
        writeFileSync(
          path,
          Buffer.concat([Buffer.from(`${JSON.stringify(claude(1, null, said('user', 'one')))}\n`), bytes]),
        );
        expect((await read(store, [path])).turns).toBeGreaterThan(0);
      }),
      { numRuns: 25 },
    );
  });
});

it('a transcript is read up to a number of lines, and the rest is told', async () => {
  const path = writeLines(fresh(), [claude(1, null, said('user', 'Build the login'))]);
  appendFileSync(path, `${'\n'.repeat(1_000_000)}{}`);
  await using file = await openTranscript(path);
  const read: TranscriptLine[] = [];
  for await (const line of transcriptLines(file)) read.push(line);
  const skip = 'there are too many lines: the rest is left out';
  expect(read.slice(1)).toEqual([{ line: 1_000_001, skip }]);
});
