/** What each agent's hook sends before a tool call, and what it is told: the guard of Pulse's own tools decides. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { guardScript } from '../../../src/agents/shared/guard-hook.ts';
import { createRefusals } from '../../../src/engine/run/refused-calls.ts';
import { createToolEndpoint } from '../../../src/tools/endpoint.ts';
import { type CallGuardOptions, createCallGuard } from '../../../src/tools/guard/call-guard.ts';
import { HOOK_FORMATS } from '../../../src/tools/guard/hook-formats.ts';
import { makeRepo } from '../../git/fixture.ts';

function makeGuard(more: Partial<CallGuardOptions> = {}) {
  const { root, env } = makeRepo();
  const refused: { id: string | null; tool: string; reasons: readonly string[] }[] = [];
  const guard = createCallGuard({
    worktree: root,
    environment: { ...env, TMPDIR: join(root, '../tmp') },
    onRefusal: (call) => void refused.push(call),
    ...more,
  });
  const ask = async (format: string, input: unknown): Promise<string> =>
    JSON.stringify(await guard.answer(format, input));
  return { root: realpathSync(root), refused, guard, ask };
}

test('a checkout and a state directory below /tmp are not nobody’s', async () => {
  const { root, env, folder } = makeRepo();
  const checkout = join(folder, 'checkout');
  const state = join(folder, 'state');
  const worktree = join(state, 'worktrees/p/ses');
  for (const made of [checkout, worktree]) mkdirSync(made, { recursive: true });
  spawnSync('git', ['init', '-q', worktree]);
  symlinkSync(checkout, join(folder, 'alias'));
  const guard = createCallGuard({
    worktree,
    environment: { ...env, TMPDIR: folder },
    kept: [checkout, state],
    onRefusal: () => undefined,
  });
  const answer = async (command: string) =>
    JSON.stringify(await guard.answer('claude', { tool_name: 'Bash', tool_input: { command } }));
  for (const command of [
    `rm -rf ${checkout}/readme.md`,
    `echo x > ${checkout}/evil.txt`,
    `echo x > ${join(folder, 'alias')}/evil.txt`,
    `rm -rf ${checkout}`,
    `rm -rf ${state}/trust`,
    `cp a ${state}/token`,
    `rm -rf ${folder}`,
  ])
    expect([command, await answer(command)]).toEqual([
      command,
      expect.stringContaining('outside the worktree'),
    ]);
  for (const command of [
    `echo x > ${folder}/scratch.txt`,
    'echo x > own.txt',
    `echo x > ${worktree}/own.txt`,
  ])
    expect([command, await answer(command)]).toEqual([
      command,
      expect.not.stringContaining('outside the worktree'),
    ]);
  const write = { tool_name: 'Write', tool_input: { file_path: join(checkout, 'evil.txt'), content: 'x' } };
  expect(JSON.stringify(await guard.answer('claude', write))).toContain('outside the worktree');
  expect(root).not.toBe(worktree);
});

const PUSH = 'cd . && git push --force origin main';

/** As the versions that are tested send it. */
const SHELL_CALLS: Record<(typeof HOOK_FORMATS)[number], (command: string) => object> = {
  claude: (command) => ({
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'a step' },
    tool_use_id: 'toolu_1',
  }),
  codex: (command) => ({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } }),
  gemini: (command) => ({
    hook_event_name: 'BeforeTool',
    tool_name: 'run_shell_command',
    tool_input: { command, description: 'a step' },
  }),
  qwen: (command) => ({
    hook_event_name: 'PreToolUse',
    tool_name: 'run_shell_command',
    tool_input: { command, is_background: false },
    tool_use_id: 'its-own',
  }),
  pi: (command) => ({ tool_name: 'bash', tool_use_id: 'call_1', tool_input: { command } }),
  opencode: (command) => ({ tool_name: 'bash', tool_use_id: 'call_1', tool_input: { command } }),
  copilot: (command) => ({ toolName: 'bash', toolArgs: { command, description: 'a step' } }),
  acp: (title) => ({ toolCallId: 'a', kind: 'execute', status: 'pending', title, locations: [] }),
};

const WRITE_CALLS: Record<(typeof HOOK_FORMATS)[number], (path: string) => object> = {
  claude: (file_path) => ({ tool_name: 'Write', tool_input: { file_path, content: 'x' } }),
  codex: (path) => ({
    tool_name: 'apply_patch',
    tool_input: { command: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` },
  }),
  gemini: (file_path) => ({ tool_name: 'write_file', tool_input: { file_path, content: 'x' } }),
  qwen: (file_path) => ({ tool_name: 'edit', tool_input: { file_path, old_string: 'a', new_string: 'b' } }),
  pi: (path) => ({ tool_name: 'write', tool_input: { path, content: 'x' } }),
  opencode: (filePath) => ({ tool_name: 'write', tool_input: { filePath, content: 'x' } }),
  copilot: (path) => ({ toolName: 'create', toolArgs: { path, file_text: 'x' } }),
  acp: (path) => ({ toolCallId: 'a', kind: 'edit', title: 'Writing', content: [{ type: 'diff', path }] }),
};

describe.each(HOOK_FORMATS)('the hook of %s', (format) => {
  test('is told why a push is refused, and what to do instead', async () => {
    const { ask, refused } = makeGuard();
    const answer = await ask(format, SHELL_CALLS[format](PUSH));
    expect(answer).toContain('an agent does not push');
    expect(answer).toContain('leave publishing to Pulse');
    expect(refused).toHaveLength(1);
  });

  test('is told that a file outside of the worktree is not to be written, or one of git’s', async () => {
    const { ask, root } = makeGuard();
    expect(await ask(format, WRITE_CALLS[format]('/usr/share/planted'))).toContain('outside the worktree');
    expect(await ask(format, WRITE_CALLS[format](join(root, '.git/config')))).toContain('would change');
    expect(await ask(format, SHELL_CALLS[format]('echo x > /usr/share/planted'))).toContain('outside');
  });

  test('is told the reason of the run’s own rule, of a file in the worktree', async () => {
    const rule = async (path: string) => (path === 'src/new.ts' ? null : `${path} is another's.`);
    const { ask, root, refused } = makeGuard({ refuseEdit: rule });
    mkdirSync(join(root, 'other'));
    symlinkSync('other', join(root, 'alias'));
    for (const path of ['other/a.ts', join(root, 'other/a.ts'), 'src/../other/a.ts', 'alias/a.ts'])
      expect(await ask(format, WRITE_CALLS[format](path))).toContain('Not done. other/a.ts');
    expect(await ask(format, WRITE_CALLS[format]('src/new.ts'))).toBe('{}');
    expect(await ask(format, WRITE_CALLS[format]('/tmp/scratch.txt'))).toBe('{}');
    expect(refused).toHaveLength(4);
    expect(refused[0]!.reasons).toEqual(["other/a.ts is another's."]);
  });

  test('lets pass what is the work', async () => {
    const { ask, root, refused } = makeGuard();
    expect(await ask(format, SHELL_CALLS[format]('npm test && git add -A && git commit -m x'))).toBe('{}');
    expect(await ask(format, WRITE_CALLS[format](join(root, 'src/new.ts')))).toBe('{}');
    expect(await ask(format, WRITE_CALLS[format]('relative/new.ts'))).toBe('{}');
    expect(await ask(format, WRITE_CALLS[format]('/tmp/scratch.txt'))).toBe('{}');
    expect(refused).toEqual([]);
  });

  test.each([null, 7, 'text', [], {}, { tool_name: 3 }, { tool_name: 'Bash', tool_input: 'x' }])(
    'lets pass what it cannot read: %j',
    async (input) => {
      expect(await makeGuard().ask(format, input)).toBe('{}');
    },
  );
});

describe('after a call', () => {
  const after = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: PUSH } };
  const context = { hookEventName: 'PostToolUse', additionalContext: 'You have mail.' };
  test.each([
    ['claude', { hookSpecificOutput: context }],
    ['codex', { hookSpecificOutput: context }],
    ['opencode', { news: 'You have mail.' }],
  ] as const)('the hook of %s is told what is new, and refused nothing', async (format, answer) => {
    const news = ['You have mail.', null];
    const { guard, refused } = makeGuard({ takeNews: async () => news.shift() ?? null });
    expect(await guard.answer(format, after)).toEqual(answer);
    expect(await guard.answer(format, after)).toEqual({});
    expect(refused).toEqual([]);
  });

  test('nothing is told before one, where it could be refused', async () => {
    const { ask } = makeGuard({ takeNews: async () => 'You have mail.' });
    expect(await ask('claude', SHELL_CALLS.claude('npm test'))).toBe('{}');
  });
});

describe('the words of a refusal', () => {
  test.each([
    ['claude', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }],
    ['codex', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }],
    ['qwen', { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } }],
    ['gemini', { decision: 'deny', reason: expect.any(String) }],
    ['pi', { reason: expect.any(String) }],
    ['opencode', { reason: expect.any(String) }],
    ['copilot', { permissionDecision: 'deny', permissionDecisionReason: expect.any(String) }],
    ['acp', { reason: expect.any(String) }],
  ] as const)('have the shape that %s reads', async (format, shape) => {
    expect(await makeGuard().guard.answer(format, SHELL_CALLS[format](PUSH))).toMatchObject(shape);
  });

  test('for an agent that is none are not there', async () => {
    expect(await makeGuard().guard.answer('nobody', {})).toBeNull();
  });
});

test('a symlink out of the worktree is outside', async () => {
  const { ask, root } = makeGuard();
  symlinkSync('/usr/share', join(root, 'link'));
  expect(await ask('claude', WRITE_CALLS.claude(join(root, 'link/planted')))).toContain(
    'outside the worktree',
  );
});

test('a command that is given as words is read as it is run', async () => {
  const { ask } = makeGuard();
  const command = ['bash', '-lc', "echo 'a b' && git push"];
  expect(await ask('codex', { tool_name: 'shell', tool_input: { command } })).toContain('does not push');
});

test.each([
  [
    'opencode',
    { tool_name: 'apply_patch', tool_input: { patchText: '*** Add File: /usr/share/planted\n+x' } },
  ],
  ['copilot', { toolName: 'apply_patch', toolArgs: '*** Begin Patch\n*** Add File: /usr/share/planted\n+x' }],
] as const)('a patch of %s is read', async (format, input) => {
  expect(await makeGuard().ask(format, input)).toContain('outside the worktree');
});

describe('what an ACP agent asks for', () => {
  const acp = async (call: object) => makeGuard().ask('acp', { toolCallId: 'a', ...call });

  test('is a command as it was given, or else its title', async () => {
    const command = ['bash', '-lc', 'git push'];
    expect(await acp({ kind: 'execute', title: 'Publish', rawInput: { command } })).toContain('not push');
    expect(await acp({ kind: 'execute', title: '`ls`', rawInput: { command: 'git push' } })).toContain(
      'push',
    );
    expect(await acp({ kind: 'other', title: 'Run', rawInput: { command: 'git push' } })).toContain('push');
    expect(await acp({ kind: 'edit', title: 'git push' })).toBe('{}');
  });

  test('is a file that it names anywhere, unless it only looks', async () => {
    const path = '/usr/share/planted';
    for (const kind of ['edit', 'delete', 'move', undefined]) {
      expect(await acp({ kind, locations: [{ path }] })).toContain('outside the worktree');
    }
    expect(await acp({ kind: 'edit', rawInput: { file_path: path } })).toContain('outside');
    for (const kind of ['read', 'search', 'fetch', 'think', 'execute']) {
      expect(await acp({ kind, title: 'ls', locations: [{ path }] })).toBe('{}');
    }
  });
});

test('a branch of the user is known to be one', async () => {
  const { ask } = makeGuard();
  expect(await ask('claude', SHELL_CALLS.claude('git checkout main'))).toContain('a branch of the user');
});

describe('at the run’s endpoint', () => {
  test('a hook’s script asks with the run’s token, and an answer comes within the time of a small program', async () => {
    const { root, guard } = makeGuard();
    await using endpoint = createToolEndpoint();
    using access = await endpoint.admit([], () => undefined, guard);
    const file = join(root, '../guard.sh');
    writeFileSync(file, guardScript({ ...access, names: [] }, 'gemini'));
    const { promise, resolve } = Promise.withResolvers<string>();
    // Not spawnSync: the endpoint is in this very process.
    const { execFile } = await import('node:child_process');
    const child = execFile('bash', [file], (_, stdout) => resolve(stdout));
    child.stdin!.end(JSON.stringify(SHELL_CALLS.gemini(`${PUSH} # ä€😀`)));
    expect(JSON.parse(await promise)).toMatchObject({ decision: 'deny' });
  });

  test('nobody is answered without the token, or where the run has no guard', async () => {
    const { guard } = makeGuard();
    await using endpoint = createToolEndpoint();
    using access = await endpoint.admit([], () => undefined, guard);
    using bare = await endpoint.admit([], () => undefined);
    const post = (token: string, format: string): Promise<number> =>
      fetch(`${access.url}/guard/${format}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{}',
      }).then(({ status }) => status);
    expect(await post('wrong', 'claude')).toBe(401);
    expect(await post(access.token, 'claude')).toBe(200);
    expect(await post(access.token, 'nobody')).toBe(404);
    expect(await post(bare.token, 'claude')).toBe(404);
  });

  test('a script that cannot reach it lets the call pass', () => {
    const folder = join(makeGuard().root, '../scripts');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'guard.sh'),
      guardScript({ url: 'http://127.0.0.1:1', token: 't', names: [] }, 'qwen'),
    );
    const { status, stdout } = spawnSync('bash', [join(folder, 'guard.sh')], {
      input: '{}',
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});

describe('refused calls', () => {
  test('are told from what the agent’s own settings deny, by id or by name, each once', () => {
    const refusals = createRefusals();
    refusals.add({ id: 'a', tool: 'Bash' });
    refusals.add({ id: null, tool: 'run_shell_command' });
    expect(refusals.take({ id: 'b', tool: 'Bash' })).toBe(false);
    expect(refusals.take({ id: 'a', tool: 'Bash' })).toBe(true);
    expect(refusals.take({ id: 'a', tool: 'Bash' })).toBe(false);
    expect(refusals.take({ id: 'any', tool: 'run_shell_command' })).toBe(true);
    expect(refusals.take({ tool: 'run_shell_command' })).toBe(false);
  });
});
