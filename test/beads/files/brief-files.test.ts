/** What a brief quotes of files that others write, in real folders. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGit } from '../../../src/git/exec.ts';
import { type BriefFilesQuery, readBriefFiles } from '../../../src/loops/beads/files/brief-files.ts';
import { capture } from '../../../src/process/capture.ts';

let folder: string;
let root: string;
let worktree: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
  root = join(folder, 'root');
  worktree = join(folder, 'worktree');
  mkdirSync(root);
  mkdirSync(worktree);
  write(folder, 'secret', 'top secret\n');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(base: string, path: string, content: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), content);
}

function read(query: Partial<BriefFilesQuery> = {}) {
  const usual = { worktree, root, feature: 'auth', learningRefs: [], decisionRefs: [], body: '' };
  return readBriefFiles({ ...usual, ...query });
}

describe('the files of a brief', () => {
  it('are absent where nothing is', async () => {
    const files = await read({ ownerId: 'worker-Fox' });
    expect(files).toEqual({
      agents: { path: 'AGENTS.md', content: null, note: null },
      state: { path: '.pulse/STATE.md', content: null, note: null },
      context: { path: 'history/auth/CONTEXT.md', content: null, note: null },
      handoff: { path: '.pulse/handoffs/worker-Fox.json', content: null, note: null },
      decisions: [],
      unknownDecisions: [],
      learnings: [],
      missingLearnings: [],
    });
    expect((await read()).handoff).toBeNull();
  });

  it('are those of the worktree, and of `.pulse` in the checkout', async () => {
    write(worktree, 'AGENTS.md', 'Be kind.\n');
    write(root, 'AGENTS.md', 'Other.\n');
    write(root, '.pulse/STATE.md', '# State\n');
    write(worktree, '.pulse/STATE.md', 'forged\n');
    write(worktree, 'history/auth/CONTEXT.md', '- D1: JWT\n');
    write(root, '.pulse/handoffs/worker-Fox.json', '{"status": "ready_to_resume"}');
    const files = await read({ ownerId: 'worker-Fox' });
    expect(files.agents.content).toBe('Be kind.\n');
    expect(files.state.content).toBe('# State\n');
    expect(files.context.content).toBe('- D1: JWT\n');
    expect(files.handoff?.content).toBe('{"status": "ready_to_resume"}');
  });

  it('leave out a handoff that was taken up', async () => {
    write(root, '.pulse/handoffs/single-worker.json', '{"status": "consumed"}');
    expect((await read({ ownerId: 'single-worker' })).handoff?.content).toBeNull();
  });

  it('quote every decision of the references and of the body, and name the unknown', async () => {
    write(worktree, 'history/auth/CONTEXT.md', '### D1: JWT\n\nYes.\n\n### D2: No cookies\n');
    const files = await read({ decisionRefs: ['D2', 'CONTEXT.md#D9'], body: 'Follow D1 and D7.' });
    expect(files.decisions).toEqual([
      { id: 'D2', text: '### D2: No cookies' },
      { id: 'D1', text: '### D1: JWT\n\nYes.' },
    ]);
    expect(files.unknownDecisions).toEqual(['D9', 'D7']);
    expect((await read({ feature: 'other', body: 'D1' })).unknownDecisions).toEqual(['D1']);
  });

  it('find `history` in the checkout where it is not committed, and nothing else there', async () => {
    write(root, 'history/auth/CONTEXT.md', '- D1: JWT\n');
    write(root, 'history/learnings/a.md', 'Learned.\n');
    write(root, '.env', 'KEY=1\n');
    const learningRefs = ['history/learnings/a.md', '.env', 'history/../.env'];
    const files = await read({ decisionRefs: ['D1'], learningRefs });
    expect(files.decisions).toHaveLength(1);
    expect(files.learnings.map(({ content }) => content)).toEqual(['Learned.\n', null, null]);
    expect(files.missingLearnings).toEqual(['.env', 'history/../.env']);
  });

  it('lead to nothing outside of the repository', async () => {
    symlinkSync(join(folder, 'secret'), join(worktree, 'AGENTS.md'));
    mkdirSync(join(root, '.pulse'));
    symlinkSync(join(folder, 'secret'), join(root, '.pulse/STATE.md'));
    write(root, '.env', 'KEY=1\n');
    mkdirSync(join(root, 'history/auth'), { recursive: true });
    symlinkSync('../../.env', join(root, 'history/auth/CONTEXT.md'));
    symlinkSync(folder, join(worktree, 'up'));
    const learningRefs = ['../secret', 'up/secret', '/etc/hostname', 'x'.repeat(900)];
    const files = await read({ learningRefs });
    expect(JSON.stringify(files)).not.toMatch(/top secret|KEY=1/);
    expect(files.agents.note).toBe('it is no ordinary file of the repository');
    expect(files.missingLearnings).toEqual(learningRefs);
    await expect(read({ feature: '../..' })).rejects.toMatchObject({ code: 'path_outside' });
    await expect(read({ ownerId: 'worker-../x' })).rejects.toMatchObject({ code: 'path_outside' });
  });

  it('are not read through a linked folder of the checkout', async () => {
    write(folder, 'elsewhere/STATE.md', 'foreign\n');
    write(folder, 'elsewhere/CONTEXT.md', '- D1: foreign\n');
    symlinkSync(join(folder, 'elsewhere'), join(root, '.pulse'));
    mkdirSync(join(root, 'history'));
    symlinkSync(join(folder, 'elsewhere'), join(root, 'history/auth'));
    const files = await read({ decisionRefs: ['D1'] });
    expect(JSON.stringify(files)).not.toContain('foreign');
    expect(files.unknownDecisions).toEqual(['D1']);
  });

  it('may be links within the worktree', async () => {
    write(worktree, 'CLAUDE.md', 'Be kind.\n');
    symlinkSync('CLAUDE.md', join(worktree, 'AGENTS.md'));
    expect((await read()).agents.content).toBe('Be kind.\n');
  });

  it('are ordinary files within bounds: no pipe is waited for, no huge file is read', async () => {
    execFileSync('mkfifo', [join(worktree, 'AGENTS.md')]);
    write(worktree, 'big.md', 'x'.repeat(1024 * 1024 + 1));
    write(worktree, 'long.md', 'y'.repeat(20_000));
    write(root, '.pulse/STATE.md', `old ${'z'.repeat(10_000)} new\n`);
    mkdirSync(join(worktree, 'folder.md'));
    const files = await read({ learningRefs: ['big.md', 'long.md', 'folder.md'] });
    expect(files.agents.content).toBeNull();
    expect(files.learnings.map(({ note }) => note)).toEqual([
      'it is too large: more than 1024 KiB',
      'only its first 16000 characters are here',
      'it is no ordinary file of the repository',
    ]);
    expect(files.learnings[1]!.content!.length).toBeLessThan(17_000);
    expect(files.state.content).toMatch(/ new\n$/);
    expect(files.state.content).not.toContain('old');
  });
});

describe('the files of a commit', () => {
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: process.env });
  const sh = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], {
      cwd: root,
      encoding: 'utf8',
    });
  const commit = () => {
    sh('add', '-A', '-f');
    sh('commit', '-q', '-m', 'x');
    return { git, id: sh('rev-parse', 'HEAD').trim() };
  };

  beforeEach(() => {
    sh('init', '-q', '-b', 'main');
  });

  it('are read where no worktree is yet, and not as the checkout has them', async () => {
    write(root, 'AGENTS.md', 'Be kind.\n');
    write(root, 'history/auth/CONTEXT.md', '- D1: JWT\n');
    write(root, 'history/learnings/a b.md', 'Learned.\n');
    const first = commit();
    write(root, 'AGENTS.md', 'Changed.\n');
    write(root, 'history/auth/CONTEXT.md', '- D1: Cookies\n');
    const learningRefs = ['history/learnings/a b.md', 'absent.md'];
    const query = { commit: first, worktree: join(folder, 'none'), learningRefs, body: 'D1' };
    const files = await read(query);
    expect(files.agents.content).toBe('Be kind.\n');
    expect(files.decisions).toEqual([{ id: 'D1', text: '- D1: JWT' }]);
    expect(files.learnings.map(({ content }) => content)).toEqual(['Learned.\n', null]);
  });

  it('follow links within the commit alone, and have bounds', async () => {
    write(root, 'CLAUDE.md', 'Be kind.\n');
    symlinkSync('CLAUDE.md', join(root, 'AGENTS.md'));
    symlinkSync('../secret', join(root, 'out.md'));
    symlinkSync(join(folder, 'secret'), join(root, 'far\n.md'));
    symlinkSync('nothing', join(root, 'dangling.md'));
    symlinkSync('loop.md', join(root, 'loop.md'));
    write(root, 'big.md', 'x'.repeat(1024 * 1024 + 1));
    write(root, 'folder/x.md', 'x');
    write(root, 'last.md', 'Last.\n');
    const learningRefs = [
      ...['out.md', 'far\n.md', 'dangling.md', 'loop.md', 'big.md', 'folder', '../secret', './last.md'],
      ...['CLAUDE.md/x', 'last.md'],
    ];
    const files = await read({ commit: commit(), learningRefs });
    expect(files.agents.content).toBe('Be kind.\n');
    const odd = 'it is no ordinary file of the repository';
    expect(files.learnings.map(({ content, note }) => content ?? note)).toEqual([
      ...[odd, null, null, odd, 'it is too large: more than 1024 KiB', odd, null, null],
      ...[null, 'Last.\n'],
    ]);
  });

  it('are completed by `history` of the checkout where git does not have it', async () => {
    write(root, 'README.md', 'x\n');
    const first = commit();
    write(root, 'history/auth/CONTEXT.md', '- D1: JWT\n');
    write(root, 'AGENTS.md', 'Not committed.\n');
    const files = await read({ commit: first, body: 'D1' });
    expect(files.decisions).toHaveLength(1);
    expect(files.agents.content).toBeNull();
  });
});
