/** A session that comes from an issue: read through `gh`, told of the end by it, once. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createIssueSender, type RunGh } from '../../src/notify/channels/issue.ts';
import { COMPLETE, makeScene, type Scene, until } from '../engine/scene.ts';

const ISSUE = {
  number: 12,
  title: 'The parser forgets commas',
  body: 'It should keep them.\n\nSee `src/parser`.',
  url: 'https://github.com/ada/parser/issues/12',
};

/** Answers as gh does, keeps what it was asked, and what was said on the issue. */
async function makeGhScene(config = ''): Promise<Scene & { asked(): string; said(): string }> {
  const scene = await makeScene({ environment: { PATH: `/tmp/none:${process.env.PATH}` } });
  const bin = join(scene.folder, 'bin');
  mkdirSync(bin);
  const [asked, said] = [join(scene.folder, 'asked'), join(scene.folder, 'said')];
  writeFileSync(join(scene.folder, 'issue.json'), JSON.stringify(ISSUE));
  writeFileSync(
    join(bin, 'gh'),
    `#!/bin/sh
echo "$*" >> ${asked}
case "$*" in
  *comments*) printf '{"comments":['; [ -e ${said} ] && printf '{"body":"%s"}' "$(tr '\\n' ' ' < ${said})"; echo ']}';;
  "issue comment"*) cat >> ${said}; echo https://github.com/ada/parser/issues/12#issuecomment-1;;
  *"view 12"*|*issues/12*) cat ${scene.folder}/issue.json;;
  *) echo "no such issue" >&2; exit 1;;
esac
`,
  );
  chmodSync(join(bin, 'gh'), 0o755);
  scene.environment.PATH = `${bin}:${process.env.PATH}`;
  if (config) {
    mkdirSync(join(scene.root, '.pulse'), { recursive: true });
    writeFileSync(join(scene.root, '.pulse/config.yaml'), config);
  }
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  return { ...scene, asked: () => read(asked), said: () => read(said) };
}

describe('a start with an issue', () => {
  it('has its text for a goal, and keeps the reference', async () => {
    const scene = await makeGhScene();
    const session = await scene.start(COMPLETE, { goal: '', issue: '#12' });
    expect(session.goal).toBe(`${ISSUE.title} (#12)\n\n${ISSUE.body}`);
    expect(session.branch_name).toMatch(/^pulse\/the-parser-forgets-commas/);
    const { title, number, url } = ISSUE;
    const { issue } = await scene.pulse.show(session.id);
    expect(issue).toEqual({ title, number, url, comment: false });
    const created = (await scene.events(session))[0]!;
    expect(created.data).toMatchObject({ issue: ISSUE.url });
    expect(scene.asked()).toBe('issue view 12 --json number,title,body,url\n');
  });

  it('puts what the person says before it, and takes an address', async () => {
    const scene = await makeGhScene();
    const { goal } = await scene.start(COMPLETE, { goal: 'Only the lexer.', issue: `${ISSUE.url}#top` });
    expect(goal).toBe(`Only the lexer.\n\n${ISSUE.title} (#12)\n\n${ISSUE.body}`);
    expect(scene.asked()).toContain(`view ${ISSUE.url} --json`);
  });

  it.each([
    ['another host', 'https://gitlab.com/ada/parser/issues/12', /on gitlab\.com/],
    ['an option', '--web', /no issue/],
    ['no issue at all', 'twelve', /no issue/],
    ['one that is not there', '13', /no such issue/],
  ])('refuses %s, and nothing is created', async (_, issue, message) => {
    const scene = await makeGhScene();
    await expect(scene.start(COMPLETE, { goal: '', issue })).rejects.toThrow(message);
    expect((await scene.pulse.list({})).sessions).toEqual([]);
  });

  it('says what is missing where gh is not installed', async () => {
    const scene = await makeGhScene();
    scene.environment.PATH = '/usr/bin:/bin';
    const asked = scene.start(COMPLETE, { goal: '', issue: '12' });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_input', message: /gh is not installed/ });
  });

  it('is told of the end on the issue, once, if that is asked for', async () => {
    const scene = await makeGhScene();
    const silent = await scene.startAndRun(COMPLETE, { goal: '', issue: '12' });
    const session = await scene.startAndRun(COMPLETE, { goal: '', issue: '12', comment: true });
    await until(() => scene.said() !== '');
    expect(scene.said()).toContain('✅ Session complete (1 iterations, 0 commits)');
    expect(scene.said()).toContain(`<!-- pulse ${session.id} -->`);
    expect(scene.said()).not.toContain(silent.id);
  });
});

describe('the comment', () => {
  const sending = {
    ...{ text: 'done', weight: 'end' as const, key: 'k', destination: ISSUE.url },
    about: { type: 'session.ended', sessionId: 'ses_1', iteration: null },
  };
  const means = { settings: {}, secret: () => '', signal: new AbortController().signal };

  it('is not made again by a process that finds it there', async () => {
    const comments: string[] = [];
    const gh: RunGh = async (args, { stdin = '' }) => {
      if (args[1] === 'comment') comments.push(stdin);
      return {
        code: 0,
        stdout: JSON.stringify({ comments: comments.map((body) => ({ body })) }),
        stderr: '',
      };
    };
    const sender = createIssueSender(gh);
    await sender.send(sending, means);
    // As after a kill between the comment and its record.
    expect(await sender.send(sending, means)).toMatchObject({ kind: 'sent' });
    expect(comments).toHaveLength(1);
  });

  it('waits for a service that is away, and leaves out all but the end', async () => {
    const sender = createIssueSender(async () => ({ code: 1, stdout: '', stderr: 'no network' }));
    expect(await sender.send(sending, means)).toEqual({ kind: 'later', error: 'no network' });
    expect(sender.skips!({ ...sending, about: { ...sending.about, type: 'session.blocked' } }, {})).toBe(
      true,
    );
  });
});
