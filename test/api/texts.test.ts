/** What a session changed, what its agent was told, and what it printed. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sectionsOf } from '../../src/operations/dashboard/run-texts.ts';
import { makeApiScene } from './scene.ts';

const CHANGES = String.raw`
mkdir -p src "odd dir"; printf 'one\ntwo\n' > src/a.txt; printf '\0\1\2' > image.bin
printf 'x\n' > "odd dir/tab	ü.txt"; ln -s /etc/passwd link; ln -s src/a.txt README.md.link
seq 60000 > long.txt; rm -f README.md; printf 'diff --git a/x b/x\n' > src/b.txt
echo "Did it. <signal>CONTINUE</signal>"`;

describe('the diff of a session', () => {
  it('has every file with its patch, within bounds, and follows no link', async () => {
    const { ask, post, run } = await makeApiScene();
    const { id } = await run(await post(CHANGES, { maxIterations: 1 }));
    const { status, json } = await ask('GET', `/api/pulse/${id}/diff`);
    expect(status).toBe(200);
    const file = (path: string) => json.files.find((each: { path: string }) => each.path === path);
    expect(file('src/a.txt')).toMatchObject({ status: 'added', added: 2, removed: 0, isBinary: false });
    expect(file('src/a.txt').patch).toMatch(/^diff --git a\/src\/a\.txt[\s\S]*\+one\n\+two\n$/);
    expect(file('src/b.txt').patch).toContain('+diff --git a/x b/x');
    expect(file('image.bin')).toMatchObject({ isBinary: true, added: null, patch: null, isTruncated: false });
    expect(file('odd dir/tab\tü.txt').patch).toContain('+x');
    expect(file('link')).toMatchObject({ newMode: '120000' });
    expect(file('link').patch).toContain('+/etc/passwd\n');
    expect(JSON.stringify(json)).not.toContain('root:x:');
    expect(file('long.txt')).toMatchObject({ added: 60_000, patch: null, isTruncated: true });
    expect(json).toMatchObject({ isTruncated: true });
    expect(json.files.map(({ path }: { path: string }) => path)).toEqual(
      json.files.map(({ path }: { path: string }) => path).toSorted(),
    );

    const whole = await ask('GET', `/api/pulse/${id}/diff?path=long.txt`);
    expect(whole.json.files).toHaveLength(1);
    expect(whole.json.files[0]).toMatchObject({ isTruncated: false });
    expect(whole.json.files[0].patch.length).toBeGreaterThan(300_000);
    const stat = await ask('GET', `/api/pulse/${id}/diff?stat=true&iteration=1`);
    expect(stat.json.files).toHaveLength(json.files.length);
    expect(stat.json.files.every(({ patch }: { patch: null }) => patch === null)).toBe(true);
    const same = await ask('GET', `/api/pulse/${id}/diff?from=${json.from}&to=${json.from.slice(0, 12)}`);
    expect(same.json).toMatchObject({ files: [], added: 0, removed: 0, isTruncated: false });
  });

  it('is refused for what is not there, and for what is no commit', async () => {
    const { ask, post, run } = await makeApiScene();
    const { id } = await run(
      await post('echo x > x; echo "<signal>CONTINUE</signal>"', { maxIterations: 1 }),
    );
    const refused = {
      'path=../x': 404,
      'iteration=9': 404,
      'from=ffffffffffff': 404,
      'from=--output=x': 422,
      'from=main': 422,
      'iteration=1&from=abcd': 400,
    };
    for (const [query, status] of Object.entries(refused))
      expect([query, (await ask('GET', `/api/pulse/${id}/diff?${query}`)).status]).toEqual([query, status]);
  });
});

describe('the texts of an iteration', () => {
  it('are its brief by sections, and what its agent printed', async () => {
    const { ask, startAndRun, pulse } = await makeApiScene();
    const script = 'echo "First line."; echo "Second. <signal>CONTINUE</signal>"';
    const { id } = await startAndRun(script, { goal: '# Not a heading', maxIterations: 2, record: true });
    const { json } = await ask('GET', `/api/pulse/${id}/brief?iteration=1`);
    expect(json).toMatchObject({ iteration: 1, tokens: expect.any(Number) });
    const titles = json.sections.map(({ title }: { title: string }) => title);
    expect(titles[0]).toBe('Goal');
    expect(titles).not.toContain('Not a heading');
    expect(json.sections[0].text).toContain('# Not a heading');
    expect((await ask('GET', `/api/pulse/${id}/brief`)).json.iteration).toBe(2);

    const first = (await ask('GET', `/api/pulse/${id}/transcript?iteration=1&limit=1`)).json;
    expect(first).toMatchObject({ iteration: 1, attempt: 1, isRecorded: true, attempts: [1] });
    const pages = [...first.entries];
    for (let after = first.nextAfter; after !== null; ) {
      const page = (await ask('GET', `/api/pulse/${id}/transcript?iteration=1&limit=1&after=${after}`)).json;
      pages.push(...page.entries);
      after = page.nextAfter;
    }
    expect(pages.map(({ text }) => text).join('\n')).toContain('First line.');
    expect(pages.at(-1)).toMatchObject({ kind: 'done', data: { ok: true } });

    expect(readdirSync(join(pulse.home.recordings, id)).length).toBeGreaterThan(0);
    rmSync(join(pulse.home.recordings, id), { recursive: true });
    const stored = (await ask('GET', `/api/pulse/${id}/transcript?iteration=1`)).json;
    expect(stored).toMatchObject({ isRecorded: false, attempts: [] });
    expect((await ask('GET', `/api/pulse/${id}/transcript?iteration=7`)).status).toBe(404);
    expect((await ask('GET', `/api/pulse/${id}/brief?iteration=7`)).status).toBe(404);
  });

  it('are divided by headings that stand in no fence', () => {
    const brief = '# A\n\n````\n# quoted\n```\n# still\n````\n\n# B\ntext\n## C';
    expect(sectionsOf(brief)).toEqual([
      { title: 'A', text: '````\n# quoted\n```\n# still\n````' },
      { title: 'B', text: 'text\n## C' },
    ]);
  });
});
