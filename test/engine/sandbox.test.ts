/** Sessions in the sandbox: what their agents and checks can see and change, and how they end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import type { Session } from '../../src/store/sessions.ts';
import { pathWithBwrap } from '../fakes/programs.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { sleepers } from '../process/scene.ts';
import { COMPLETE, makeScene, processesIn, type Scene, until } from './scene.ts';

const state = await sandboxState(process.env.PATH);
if (!state.works) console.warn(`The sandbox is not tested here. ${state.message}`);

/** The script itself is the command: a file beside the repository would not be seen inside. */
async function startInside(scene: Scene, script: string, input = {}): Promise<Session> {
  return await scene.start('', { command: script, sandbox: 'on', maxIterations: 1, ...input });
}

async function runInside(scene: Scene, script: string, input = {}): Promise<Session> {
  return await scene.run(await startInside(scene, script, input));
}

/** A runner of its own drives the session and is killed once the agent has made the file `started`. */
async function killOnceStarted(scene: Scene, session: Session): Promise<void> {
  const program = join(import.meta.dirname, '../../bin/pulse.js');
  const runner = spawn(process.execPath, [program, 'run-session', session.id], {
    env: scene.environment,
    stdio: 'ignore',
  });
  const exited = once(runner, 'exit');
  await until(() => existsSync(join(session.worktree_path, 'started')));
  runner.kill('SIGKILL');
  await exited;
  await until(() => processesIn(scene.folder).length === 0);
}

/** What the agent printed, without the signal. */
async function said(scene: Scene, session: Session): Promise<string> {
  return (await scene.pulse.showIteration(session.id, { number: 1 })).iteration.output_full ?? '';
}

/** A repository within the worktree, whose filter git would run when it looks at the files. */
function plants(planted: string): string {
  return `git init -q sub && cd sub && echo '* filter=x' > .gitattributes && echo hi > f
      git add . && git -c user.name=a -c user.email=a@b commit -qm s
      git config filter.x.clean 'touch ${planted}; cat'; git config core.fsmonitor 'touch ${planted}'
      cd .. && git add sub && echo ho > sub/f && touch -d 'now + 5 sec' sub/f`;
}

describe.skipIf(!state.works)('an agent in the sandbox', () => {
  it('does its work: edits, commits, calls a tool, and its checks run on the result', async () => {
    const scene = await makeScene({ repo: { files: { 'a.txt': 'first\n' } } });
    const session = await runInside(
      scene,
      `echo second >> a.txt && git add a.txt && git commit -qm 'my own' && echo third >> a.txt
      pulse tool report_usage '{"inputTokens": 5, "outputTokens": 2}' >tool.json
      pulse tool pulse_signal '{"signal": "COMPLETE"}' >>tool.json; echo fine`,
      { verify: ['grep -q third a.txt'] },
    );
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed', total_tokens_used: 7 });
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:a.txt`)).toBe('first\nsecond\nthird');
    expect(scene.refs('refs/pulse/agent')).toHaveLength(1);
    const [created] = await scene.events(session);
    expect(created!.data.sandbox).toBe('on');
  });

  it.each([
    ['a file in the home folder', ({ environment }: Scene) => join(environment.HOME!, 'secret')],
    ['the token of Pulse', ({ pulse }: Scene) => pulse.home.token],
    ['the database', ({ pulse }: Scene) => pulse.home.database],
    ['a file of the checkout', ({ root }: Scene) => join(root, 'a.txt')],
    ['the worktree of another session', ({ pulse }: Scene) => join(pulse.home.worktrees, 'other/file')],
    ['a temporary file of others', ({ folder }: Scene) => join(folder, 'secret')],
  ])('cannot read %s', async (_, pathOf) => {
    const scene = await makeScene({ repo: { files: { 'a.txt': 'first\n' } } });
    const path = pathOf(scene);
    mkdirSync(join(path, '..'), { recursive: true });
    if (!existsSync(path)) writeFileSync(path, 'do not tell\n');
    const session = await runInside(scene, `cat '${path}' 2>&1 && echo READ; ${COMPLETE}`);
    expect(session.status).toBe('complete');
    expect(await said(scene, session)).toMatch(/No such file or directory/);
    expect(await said(scene, session)).not.toContain('READ');
  });

  it.each([
    ['the configuration', '.git/config'],
    ['a hook', '.git/hooks/post-checkout'],
    ['a branch', '.git/refs/heads/main'],
    ['the attributes of everybody', '.git/info/attributes'],
    ['a pack', '.git/objects/pack/planted.pack'],
  ])('cannot change %s of the repository', async (_, name) => {
    const scene = await makeScene();
    const path = join(scene.root, name);
    const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const session = await runInside(scene, `echo planted >> '${path}' && echo WROTE; ${COMPLETE}`);
    expect(session.status).toBe('complete');
    expect(await said(scene, session)).not.toContain('WROTE');
    expect(existsSync(path) ? readFileSync(path, 'utf8') : null).toBe(before);
  });

  it.each([
    ['replace', 'rm -f "$it"; printf other > "$it"'],
    ['write over', 'chmod 644 "$it"; printf other > "$it"'],
    ['delete', 'rm -f "$it"'],
    ['hide', 'rm -rf "$(dirname "$it")"; ln -s "$HOME" "$(dirname "$it")"'],
  ])('cannot %s an object of the repository', async (_, change) => {
    const scene = await makeScene({ repo: { files: { 'a.txt': 'first\n' } } });
    const blob = scene.sh(scene.root, 'rev-parse', 'HEAD:a.txt');
    const path = join(scene.root, '.git/objects', blob.slice(0, 2), blob.slice(2));
    const before = readFileSync(path);
    const session = await runInside(
      scene,
      `it='${path}'; { ${change}; } 2>&1
      echo more > b.txt; git add b.txt; git commit -qm own; ${COMPLETE}`,
      { verify: ['grep -q first a.txt'] },
    );
    expect(session.status).toBe('complete');
    expect(readFileSync(path)).toEqual(before);
    expect(scene.sh(scene.root, 'fsck', '--full', '--strict')).not.toMatch(/error|missing|corrupt/);
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:b.txt`)).toBe('more');
    expect(scene.refs('refs/pulse/agent')).toHaveLength(1);
  });

  it('commits, and git in the repository knows the commit while it still runs', async () => {
    const scene = await makeScene();
    const session = await startInside(
      scene,
      `echo x > x.txt; git add x.txt; git commit -qm 'seen from outside'; touch committed
      while [ ! -e go ]; do sleep 0.1; done; ${COMPLETE}`,
    );
    const run = scene.run(session);
    const at = (name: string) => join(session.worktree_path, name);
    await until(() => existsSync(at('committed')));
    const head = scene.sh(session.worktree_path, 'rev-parse', 'HEAD');
    await until(() => existsSync(join(scene.root, '.git/objects', head.slice(0, 2), head.slice(2))));
    expect(scene.sh(scene.root, 'log', '--all', '--format=%s')).toContain('start');
    scene.sh(scene.root, 'gc', '-q');
    writeFileSync(at('go'), '');
    expect((await run).status).toBe('complete');
  });

  it.each([
    ['the link to the repository', '.git'],
    ['where that leads', '$(git rev-parse --git-dir)/commondir'],
    ['the worktree’s own configuration', '$(git rev-parse --git-dir)/config.worktree'],
  ])('cannot replace %s, by which git would run what it plants', async (_, path) => {
    const scene = await makeScene();
    const session = await runInside(
      scene,
      `it="${path}"; rm -f "$it" && echo GONE; mv "$it" aside && echo GONE; echo x > "$it" && echo GONE; ${COMPLETE}`,
    );
    expect(session.status).toBe('complete');
    expect(await said(scene, session)).not.toContain('GONE');
  });

  it('cannot move a branch or make one', async () => {
    const scene = await makeScene();
    const before = scene.refs('refs/heads');
    const session = await runInside(
      scene,
      `git branch planted; git branch -f main HEAD; git update-ref -d refs/heads/main; git push origin HEAD:x; ${COMPLETE}`,
    );
    expect(scene.refs('refs/heads').filter((ref) => !ref.includes(session.branch_name))).toEqual(before);
    expect(scene.sh(scene.root, 'rev-parse', 'main')).toBe(scene.head);
  });

  it('writes to its home and temporary folders, and nothing of it stays', async () => {
    const scene = await makeScene();
    const mark = `pulse-inside-${process.pid}`;
    const session = await runInside(
      scene,
      `echo x > ~/${mark} && echo x > "$TMPDIR/${mark}" && ls ~/${mark} /tmp/${mark} && ${COMPLETE}`,
    );
    expect(session.status).toBe('complete');
    expect(existsSync(join(scene.environment.HOME!, mark))).toBe(false);
    expect(existsSync(join('/tmp', mark))).toBe(false);
  });

  it('sees of the home what the settings name, and changes only what they allow', async () => {
    const scene = await makeScene();
    const home = scene.environment.HOME!;
    mkdirSync(join(home, 'cache'), { recursive: true });
    writeFileSync(join(home, 'shown'), 'for the agent\n');
    await writeTrustedConfig(scene.root, {
      text: 'sandbox: on\nsandboxRead: [~/shown]\nsandboxWrite: [~/cache]\n',
      environment: scene.environment,
    });
    const session = await runInside(
      scene,
      `cat ~/shown; echo x >> ~/shown && echo WROTE; echo kept > ~/cache/file; ${COMPLETE}`,
      { sandbox: undefined },
    );
    expect(await said(scene, session)).toContain('for the agent');
    expect(await said(scene, session)).not.toContain('WROTE');
    expect(readFileSync(join(home, 'cache/file'), 'utf8')).toBe('kept\n');
  });

  it('cannot have git run its program outside, by a repository within the worktree', async () => {
    const scene = await makeScene();
    const planted = join(scene.folder, 'planted');
    const session = await runInside(scene, `${plants(planted)}; ${COMPLETE}`);
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:sub/f`)).toBe('ho');
    expect(existsSync(planted)).toBe(false);
  });

  it('leaves no such program to the person who looks into the worktree afterwards', async () => {
    const scene = await makeScene();
    const planted = join(scene.folder, 'planted');
    const session = await runInside(scene, `${plants(planted)}; echo "<signal>BLOCKED: a question</signal>"`);
    expect(session.status).toBe('blocked');
    const nested = join(session.worktree_path, 'sub');
    if (existsSync(join(nested, '.git'))) scene.sh(nested, 'status', '--porcelain');
    scene.sh(session.worktree_path, 'status', '--porcelain');
    expect(existsSync(planted)).toBe(false);
    expect(readFileSync(join(nested, 'f'), 'utf8')).toBe('ho\n');
  });

  it('cannot make Pulse write elsewhere, by a symlink in the worktree’s git directory', async () => {
    const scene = await makeScene();
    const planted = join(scene.folder, 'planted');
    const session = await runInside(
      scene,
      `echo x > new; git add new; rm "$(git rev-parse --git-dir)/index"
      ln -s ${planted} "$(git rev-parse --git-dir)/index" && ${COMPLETE}`,
    );
    expect(session).toMatchObject({ status: 'complete', total_commits: 1 });
    expect(existsSync(planted)).toBe(false);
  });

  it('shows nothing of Pulse’s own, even where the folder that holds it is shown', async () => {
    const scene = await makeScene();
    await writeTrustedConfig(scene.root, {
      text: `sandboxRead: ['${scene.folder}']\n`,
      environment: scene.environment,
    });
    writeFileSync(scene.pulse.home.token, 'secret\n');
    writeFileSync(join(scene.folder, 'shown'), 'for the agent\n');
    const session = await runInside(
      scene,
      `cat '${scene.folder}/shown'; cat '${scene.pulse.home.token}' '${scene.pulse.home.database}' && echo READ; ${COMPLETE}`,
    );
    expect(await said(scene, session)).toContain('for the agent');
    expect(await said(scene, session)).not.toContain('READ');
  });

  it('cannot have its check run outside: what verification starts is enclosed too', async () => {
    const scene = await makeScene();
    const secret = join(scene.environment.HOME!, 'secret');
    writeFileSync(secret, 'do not tell\n');
    const session = await runInside(
      scene,
      `printf '#!/bin/sh\\ncat "%s" > copied; test ! -s copied\\n' '${secret}' > check.sh; ${COMPLETE}`,
      { verify: ['sh check.sh'] },
    );
    expect(session.status).toBe('complete');
    expect((await scene.pulse.verify(session.id)).verdict).toBe('fresh');
  });
});

describe.skipIf(!state.works)('the end of an agent in the sandbox', () => {
  const forever = `7${process.pid}`.padEnd(12, '3');

  it('is told to it by the signal, on abort, and nothing is left', async () => {
    const scene = await makeScene();
    const told = join(scene.folder, 'cache', 'told');
    mkdirSync(join(told, '..'));
    await writeTrustedConfig(scene.root, {
      text: `sandboxWrite: [${join(told, '..')}]\n`,
      environment: scene.environment,
    });
    const session = await startInside(
      scene,
      `trap 'echo TERM > ${told}; exit 0' TERM; setsid sleep ${forever}1 & touch ${told}.ready; sleep ${forever}0 & wait`,
    );
    const running = scene.run(session);
    await until(() => existsSync(`${told}.ready`));
    await scene.pulse.abort(session.id, { actor: 'test' });
    expect(await running).toMatchObject({ status: 'aborted' });
    expect(readFileSync(told, 'utf8')).toBe('TERM\n');
    expect(sleepers(forever)).toEqual([]);
  });

  it('comes at its time limit, even if it heeds no signal', async () => {
    const scene = await makeScene();
    const session = await runInside(scene, `trap '' TERM INT; setsid sleep ${forever}2 & sleep ${forever}3`, {
      iterationTimeoutMs: 500,
    });
    expect((await scene.pulse.showIteration(session.id, { number: 1 })).iteration.failure_class).toBe(
      'timeout_hard',
    );
    expect(sleepers(forever)).toEqual([]);
  });

  /** Kills the runner of a session whose agent has planted something and is at work; nothing of either is left. */
  async function killAtWork(scene: Scene, planted: string): Promise<Session> {
    const session = await startInside(
      scene,
      `test "$PULSE_ATTEMPT" = 1 || { ${COMPLETE}; exit 0; }
      echo kept > own.txt && git add own.txt && git commit -qm 'my own'
      ${plants(planted)}
      (env -i setsid sleep ${forever}4 &) ; touch started; sleep ${forever}5`,
    );
    await killOnceStarted(scene, session);
    await until(() => sleepers(forever).length === 0);
    return session;
  }

  it.each(['goes on', 'gives it up'])(
    'comes when Pulse itself is killed, and what it has planted is not run by whoever %s',
    async (how) => {
      const scene = await makeScene();
      const planted = join(scene.folder, 'planted');
      const session = await killAtWork(scene, planted);
      if (how === 'gives it up') await scene.pulse.abort(session.id, { actor: 'test' });
      expect((await scene.run(session)).status).toBe(how === 'goes on' ? 'complete' : 'aborted');
      const [recovered] = scene.refs('refs/pulse/recovery');
      expect(scene.sh(scene.root, 'show', `${recovered}:own.txt`)).toBe('kept');
      expect(scene.sh(scene.root, 'fsck', '--full')).not.toMatch(/error|missing|corrupt/);
      expect(existsSync(planted)).toBe(false);
    },
  );
});

describe('where bubblewrap cannot be used', () => {
  it.each([
    ['not installed', null],
    [
      'No permissions to create new namespace',
      'echo "bwrap: No permissions to create new namespace" >&2; exit 1',
    ],
  ])('a session that must have it is refused, and nothing is created: %s', async (why, bwrap) => {
    const scene = await makeScene();
    scene.environment.PATH = pathWithBwrap(scene.folder, bwrap);
    await expect(startInside(scene, COMPLETE)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      exitCode: 2,
      message: expect.stringContaining(why),
    });
    expect((await scene.pulse.list({})).sessions).toEqual([]);
    expect(scene.refs('refs/heads')).toHaveLength(1);
  });

  it('a session that takes what it gets runs without, and says so', async () => {
    const scene = await makeScene();
    scene.environment.PATH = pathWithBwrap(scene.folder, null);
    const command = `ls '${scene.root}' >/dev/null && ${COMPLETE}`;
    const started = {
      goal: 'the goal',
      path: scene.root,
      createdBy: 'cli',
      command,
      sandbox: 'auto',
    } as const;
    const { session, notes } = await scene.pulse.start(started);
    expect(notes.sandbox).toEqual({ wish: null, refused: 'bubblewrap is not installed.' });
    expect((await scene.events(session))[0]!.data.sandbox).toBe('off');
    expect((await scene.run(session)).status).toBe('complete');
  });
});
