/** `pulse context`, as a person types it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Imported } from '../../src/context/import/import-transcripts.ts';
import type { TurnHead } from '../../src/store/turns.ts';
import { useScene } from '../e2e/scene.ts';
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
});
