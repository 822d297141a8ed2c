/** A remote whose address holds a password: it reaches the server, and no process's arguments. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { withoutPasswords } from '../../src/git/credentials.ts';
import { createGit, type GitCall, gitFailure } from '../../src/git/exec.ts';
import { makeRepo, spawnGit } from './fixture.ts';

it('is asked with the password, which stands in no argument', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { root, env } = makeRepo();
  const calls: GitCall[] = [];
  const git = createGit({
    exec: (call) => {
      calls.push(call);
      return spawnGit(call);
    },
    env,
  });
  const remote = `http://me:s%40cret-token@127.0.0.1:${port}/project.git`;
  expect((await git.attempt(['ls-remote', remote], { cwd: root })).code).not.toBe(0);
  expect(calls[0]!.args.join(' ')).not.toMatch(/cret|me:/);
  expect(calls[0]!.args).toContain(`http://127.0.0.1:${port}/project.git`);
  expect(seen[0]).toBe(`Basic ${Buffer.from('me:s@cret-token').toString('base64')}`);
});

it.each([
  ['a shape that is known', `ghp_${'a1B2'.repeat(9)}`],
  ['a length that no name has', 'f'.repeat(40)],
])('takes a token for what it is that stands alone before the host: %s', (_, token) => {
  const { args, env } = withoutPasswords({ args: ['push', `https://${token}@host/x`], env: {} });
  expect(args).toEqual(['push', 'https://host/x']);
  const login = Buffer.from(`${token}:`).toString('base64');
  expect(env).toMatchObject({ GIT_CONFIG_VALUE_0: `Authorization: Basic ${login}` });
});

it('keeps what the environment says already, and addresses without a password as they are', () => {
  const env = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' };
  const plain = {
    args: [
      'fetch',
      'https://me@host/x',
      'https://john.smith2024@host/x',
      'git@host:x',
      'ssh://a:b@host/x',
      '/path',
    ],
    env,
  };
  expect(withoutPasswords(plain)).toBe(plain);
  const given = withoutPasswords({ args: ['push', 'https://me:pw@host/x'], env });
  expect(given.args).toEqual(['push', 'https://host/x']);
  expect(given.env).toMatchObject({
    ...env,
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_1: 'http.https://host/.extraHeader',
  });
});

it('is not in an error either, whatever git says of it', () => {
  const address = 'https://me:s3cret-pw@host/x.git';
  const said = { code: 128, stdout: Buffer.alloc(0), stderr: `fatal: unable to access '${address}': no` };
  const { message, data } = gitFailure(['push', address], said);
  expect(JSON.stringify([message, data])).not.toContain('s3cret');
  expect(message).toContain('host/x.git');
});
