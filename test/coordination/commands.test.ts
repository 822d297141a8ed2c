/** `pulse mail`, `pulse reserve` and `pulse release`, as a person types them. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MessageView } from '../../src/coordination/mail/read-messages.ts';
import { useScene } from '../e2e/scene.ts';

const scene = useScene();

async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await scene.pulse([...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}
const code = async (...args: string[]) => (await scene.pulse(args)).code;
const send = async (...more: string[]) =>
  (await json<{ message: MessageView }>('mail', 'send', '--subject', 'Hi', '--body', 'text', ...more))
    .message;

describe('pulse mail', { timeout: 60_000 }, () => {
  it('registers, sends, answers, lists and acknowledges', async () => {
    for (const name of ['Fox', 'Owl'])
      expect(await json('mail', 'register', name)).toEqual({ agent: { name } });
    expect(await json('mail', 'register', 'Fox')).toEqual({ agent: { name: 'Fox-2' } });
    const sent = await send('--from', 'Fox', '--to', 'Owl', 'Fox-2', '--topic', 'epic-1', '--ack-required');
    expect(Object.keys(sent)).toEqual([
      ...[
        'id',
        'thread_id',
        'topic',
        'sender_name',
        'to',
        'subject',
        'body_md',
        'importance',
        'ack_required',
      ],
      ...['reply_to', 'created_at', 'acks'],
    ]);
    expect(sent).toMatchObject({
      to: ['Owl', 'Fox-2'],
      topic: 'epic-1',
      ack_required: true,
      importance: 'normal',
    });
    const { message: answer } = await json<{ message: MessageView }>(
      ...['mail', 'reply', sent.id, '--from', 'Owl', '--body', 'Café'],
    );
    expect(answer).toMatchObject({
      reply_to: sent.id,
      thread_id: sent.thread_id,
      topic: 'epic-1',
      to: ['Fox'],
    });

    expect(await code('mail', 'ack', sent.id, '--as', 'Fox')).toBe(2);
    await json('mail', 'ack', sent.id, '--as', 'Owl');
    const { messages } = await json<{ messages: MessageView[] }>('mail', 'inbox', '--as', 'Owl');
    const [ack] = messages[0]!.acks;
    expect(messages).toEqual([{ ...sent, acks: [ack], acked_at: ack!.at }]);
    const listed = async (...args: string[]) =>
      (await json<{ messages: MessageView[] }>('mail', ...args)).messages.map(({ id }) => id);
    expect(await listed('topic', 'epic-1')).toEqual([sent.id, answer.id]);
    expect(await listed('search', 'cafe')).toEqual([answer.id]);
    expect(await listed('search', 'cafe', '"AND', 'text')).toEqual([]);
  });

  it('refuses unknown names with exit 2 and delivers nothing', async () => {
    await json('mail', 'register', 'Fox');
    const text = ['--subject', 'Hi', '--body', 'text'];
    expect(await code('mail', 'send', '--from', 'Fox', '--to', 'Fox', '--to', 'Owl', ...text)).toBe(2);
    expect(await code('mail', 'send', '--from', 'Owl', '--to', 'Fox', ...text)).toBe(2);
    expect(await code('mail', 'send', '--from', 'Fox', '--to', 'Fox', '--subject', 'Hi')).toBe(2);
    expect(await code('mail', 'inbox', '--as', 'Owl')).toBe(2);
    expect(await json('mail', 'inbox', '--as', 'Fox')).toEqual({ messages: [] });
  });

  it('prints what agents wrote without what a terminal would act on', async () => {
    for (const name of ['Fox', 'Owl']) await json('mail', 'register', name);
    const evil = '\u001b]0;title\u0007\u001b[31mred\u001b[2J\u202e';
    await json(
      'mail',
      'send',
      '--from',
      'Fox',
      '--to',
      'Owl',
      '--subject',
      `S${evil}`,
      '--body',
      `B${evil}\nsecond`,
    );
    const { stdout } = await scene.pulse(['mail', 'inbox', '--as', 'Owl']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toContain('red\n  second');
  });

  it('is the same mail in every worktree, and another in another repository', async () => {
    await json('mail', 'register', 'Fox');
    scene.git('worktree', 'add', '-q', '../beside');
    const beside = join(scene.directory, 'beside');
    const at = async (cwd: string) =>
      JSON.parse((await scene.pulse(['mail', 'register', 'Fox', '--json'], { cwd })).stdout);
    expect(await at(beside)).toEqual({ agent: { name: 'Fox-2' } });
    expect((await scene.pulse(['mail', 'register', 'Fox'], { cwd: scene.directory })).code).toBe(2);
  });

  it('is a person’s inside a run, where only reading is left', async () => {
    const env = { PULSE_RUN_ID: 'run_1' };
    await json('mail', 'register', 'Fox');
    const refused = await scene.pulse(['mail', 'register', 'Owl', '--json'], { env });
    expect(JSON.parse(refused.stdout).error.code).toBe('inside_run');
    expect(refused.code).toBe(2);
    expect((await scene.pulse(['mail', 'inbox', '--as', 'Fox'], { env })).code).toBe(0);
    expect((await scene.pulse(['reserve', 'a', '--as', 'Fox'], { env })).code).toBe(2);
    expect((await scene.pulse(['release', '--as', 'Fox'], { env })).code).toBe(2);
    expect((await scene.pulse(['reserve', '--list'], { env })).code).toBe(0);
  });
});

describe('pulse reserve', { timeout: 60_000 }, () => {
  const reserve = async (...args: string[]) => {
    const ended = await scene.pulse(['reserve', ...args, '--json']);
    return { code: ended.code, ...JSON.parse(ended.stdout) };
  };
  const paths = ({ granted }: { granted: { path: string }[] }) => granted.map(({ path }) => path);

  it('grants all or nothing, lists, and releases', async () => {
    const first = await reserve('src/*.ts', 'docs/{a,b}.md', '--as', 'Fox', '--reason', 'bead 1');
    expect(first).toMatchObject({ code: 0, conflicts: [] });
    const second = await reserve('README.md', 'src/a.ts', '--as', 'Owl');
    expect(second).toEqual({
      code: 1,
      granted: [],
      conflicts: [
        { path: 'src/a.ts', pattern: 'src/*.ts', holder: 'Fox', expires_at: first.granted[1].expires_at },
      ],
    });
    expect((await reserve('src/deep/a.ts', 'SRC/a.ts', '--as', 'Owl')).code).toBe(0);
    const { reservations } = await json<{ reservations: object[] }>('reserve', '--list');
    expect(reservations).toHaveLength(4);
    expect(reservations[1]).toMatchObject({
      agent_name: 'Fox',
      path: 'src/*.ts',
      exclusive: true,
      reason: 'bead 1',
    });
    expect(await code('release', 'src/a.ts', '--as', 'Fox')).toBe(1);
    expect(await code('release', 'src/*.ts', '--as', 'Fox')).toBe(0);
    expect(await code('release', '--as', 'Fox')).toBe(0);
    expect(await code('release', '--as', 'Fox')).toBe(1);
    expect((await reserve('src/a.ts', '--as', 'Owl', '--shared')).code).toBe(0);
    expect((await reserve('src/**', '--as', 'Fox', '--shared')).code).toBe(1);
    expect((await reserve('src/**', '--as', 'Fox', '--force')).code).toBe(0);
  });

  it('means paths from where one stands, and none outside of the repository', async () => {
    mkdirSync(join(scene.repository, 'src'));
    const inside = await scene.pulse(['reserve', 'a.ts', '../README.md', '--as', 'Fox', '--json'], {
      cwd: join(scene.repository, 'src'),
    });
    expect(paths(JSON.parse(inside.stdout))).toEqual(['README.md', 'src/a.ts']);
    symlinkSync(scene.repository, join(scene.directory, 'link'));
    expect(
      paths(await reserve(`${scene.directory}/link/x/*.md`, `${scene.repository}/y`, '--as', 'Fox')),
    ).toEqual(['x/*.md', 'y']);
    for (const path of ['../x', '/etc/passwd', '{a,../../x}', '{a,.git/config}', './.git'])
      expect((await reserve(path, '--as', 'Owl')).error.code, path).toBe('path_outside');
    expect(await code('reserve', 'a')).toBe(2);
    expect(await code('reserve', '--as', 'Owl')).toBe(2);
    expect(await code('reserve', '{a,b}'.repeat(20), '--as', 'Owl')).toBe(2);
  });

  it('lasts as long as it was asked for', async () => {
    const { granted } = await reserve('a', '--as', 'Fox', '--ttl', '2h');
    expect(Date.parse(granted[0].expires_at) - Date.parse(granted[0].created_at)).toBe(7_200_000);
    expect(await code('reserve', 'a', '--as', 'Owl', '--ttl', '8d')).toBe(2);
  });
});
