/** Whole sessions: createPulse, real git, real processes, shell scripts for agents. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listVerifications } from '../../src/store/verifications.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { write } from '../git/fixture.ts';
import { COMPLETE, CONTINUE, makeScene } from './scene.ts';

const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

describe('a session that goes well', () => {
  it('ends complete, with its rows, events, commits and refs', async () => {
    const scene = await makeScene({ repo: { files: { 'a.txt': 'a\n', 'old.txt': 'o\n' } } });
    const { pulse, root, folder, sh, head } = scene;
    const session = await scene.start(
      `cat > ${folder}/brief-$PULSE_ITERATION.txt
       echo $PULSE_ITERATION > step-$PULSE_ITERATION.txt
       [ $PULSE_ITERATION = 1 ] && git mv old.txt new.txt
       echo "More words."; echo; echo "Step $PULSE_ITERATION is **made**."
       [ $PULSE_ITERATION = 3 ] && echo '<signal>COMPLETE</signal>' || echo '<signal>CONTINUE</signal>'`,
      { verify: ['test -f step-3.txt', 'echo checked'] },
    );
    expect(session).toMatchObject({
      status: 'pending',
      kind: 'goal',
      project_name: 'project',
      project_path: root,
      base_branch: 'main',
      base_sha: head,
      agent: 'command',
      max_iterations: 10,
      budget_usd: 10,
      time_limit_ms: 8 * 3_600_000,
      iteration_timeout_ms: 3_600_000,
      idle_timeout_ms: null,
      created_by: 'cli',
      started_at: null,
    });
    expect(session.branch_name).toMatch(/^pulse\/the-goal-[0-9a-f]{4}$/);
    expect(session.worktree_path).toBe(
      join(pulse.home.worktrees, session.worktree_path.split('/').at(-2)!, session.id),
    );
    expect(existsSync(session.worktree_path)).toBe(false);

    const done = await scene.run(session);
    expect(done).toMatchObject({
      status: 'complete',
      stop_reason: 'completed',
      current_iteration: 3,
      total_commits: 3,
      last_signal: 'COMPLETE',
      reserved_usd: 0,
    });
    expect(done.running_ms).toBeGreaterThan(0);
    expect(done.started_at! <= done.ended_at!).toBe(true);
    expect(done.progress_log).toMatchObject([
      {
        iteration: 1,
        signal: 'CONTINUE',
        summary: 'Step 1 is made.',
        files: ['new.txt', 'old.txt', 'step-1.txt'],
      },
      { iteration: 2, signal: 'CONTINUE', files: ['step-2.txt'] },
      { iteration: 3, signal: 'COMPLETE', files: ['step-3.txt'] },
    ]);

    const { iterations } = await pulse.show(session.id);
    expect(iterations).toHaveLength(3);
    const commits = sh(root, 'log', '--format=%H', '--reverse', `${head}..${session.branch_name}`).split(
      '\n',
    );
    for (const [index, iteration] of iterations.entries()) {
      const number = index + 1;
      expect(iteration).toMatchObject({
        iteration_number: number,
        attempt: 1,
        status: 'complete',
        outcome: number === 3 ? 'completed' : 'continued',
        signal_source: 'explicit',
        signal_rule: 'explicit:tag-alone',
        output_summary: `Step ${number} is made.`,
        commit_hash: commits[index],
        start_sha: index === 0 ? head : commits[index - 1],
        cost_usd: null,
        failure_class: null,
        // Before the first run there is only the session's own goal.
        anchor_strategy: number === 1 ? null : 'semantic',
      });
      expect(iteration.task_content).toBe(readFileSync(join(folder, `brief-${number}.txt`), 'utf8'));
      expect(iteration.context_tokens).toBeGreaterThan(0);
      expect(iteration.output_full).toContain('More words.');
      const message = sh(root, 'log', '-1', '--format=%B', commits[index]!);
      expect(message.split('\n')[0]).toBe(`pulse: iteration ${number}: Step ${number} is made.`);
      expect(message).toContain(`Pulse-Session: ${session.id}`);
      expect(message).toContain(`Pulse-Iteration: ${number}`);
      expect(sh(root, 'log', '-1', '--format=%an <%ae>', commits[index]!)).toBe('Ada <ada@example.org>');
    }

    const evidence = await scene.store.read((db) => listVerifications(db, session.id));
    expect(evidence).toMatchObject([
      { iteration: 3, command: 'test -f step-3.txt', exit: 0, passed: true, commit: commits[2] },
      { iteration: 3, command: 'echo checked', outputTail: 'checked' },
    ]);
    expect(evidence[0]!.tree).toBe(sh(root, 'rev-parse', `${session.branch_name}^{tree}`));

    const events = await scene.events(session);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['session.created', 'session.started']);
    const begun = ['planned', 'dispatched', 'started'].map((name) => `iteration.${name}`);
    const ran = ['agent.text', 'iteration.ended'];
    const iteration = [...begun, ...ran];
    const settled = ['signal.received', 'iteration.settled'];
    // One of the checks fails before any work: that is told once, before the first agent runs.
    expect(types.slice(2)).toEqual([
      ...[...begun, 'preflight.base', ...ran, ...settled, ...iteration, ...settled],
      ...[...iteration, 'iteration.verified', ...settled, 'session.ended'],
    ]);
    expect(events.at(-1)!.data).toMatchObject({ status: 'complete', stopReason: 'completed' });
    expect(events.at(-1)!.data).not.toHaveProperty('unverified');

    expect(scene.refs()).toEqual([]);
    expect(existsSync(session.worktree_path)).toBe(false);
    expect(sh(root, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(await pulse.runner(session.id)).toBe('none');
  });

  it('leaves the user’s checkout as it was, and says what of it is not included', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    write(root, { 'a.txt': 'changed\n', 'mine.txt': 'untracked\n' });
    sh(root, 'add', 'mine.txt');
    const before = [
      sh(root, 'status', '--porcelain'),
      sh(root, 'rev-parse', 'HEAD'),
      sh(root, 'branch', '--show-current'),
    ];
    writeFileSync(join(scene.folder, 'agent.sh'), `cat a.txt > seen.txt; ls >> seen.txt; ${COMPLETE}`);
    const { session, notes } = await scene.pulse.start({
      goal: 'look',
      path: root,
      createdBy: 'cli',
      command: `. ${scene.folder}/agent.sh`,
    });
    expect(notes).toMatchObject({
      notIncluded: { count: 2, paths: ['a.txt', 'mine.txt'] },
      isCostUnknown: true,
      isUnverified: true,
    });
    const done = await scene.run(session);
    expect(done.status).toBe('complete');
    expect([
      sh(root, 'status', '--porcelain'),
      sh(root, 'rev-parse', 'HEAD'),
      sh(root, 'branch', '--show-current'),
    ]).toEqual(before);
    expect(sh(root, 'show', `${session.branch_name}:seen.txt`)).toBe('a\na.txt\nseen.txt');
    expect((await scene.events(session)).at(-1)!.data).toMatchObject({ unverified: true });
  });

  it('has no base branch on a detached HEAD', async () => {
    const scene = await makeScene();
    scene.sh(scene.root, 'checkout', '-q', '--detach');
    const session = await scene.startAndRun(COMPLETE);
    expect(session).toMatchObject({
      status: 'complete',
      base_branch: null,
      base_sha: scene.head,
      total_commits: 0,
    });
  });

  it('is ended by the tool, whatever the message says', async () => {
    const call = `curl -s -X POST -H "Authorization: Bearer $PULSE_TOOLS_TOKEN" -d`;
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `${call} '{"signal":"complete"}' $PULSE_TOOLS_URL/tools/pulse_signal; echo; echo '<signal>BLOCKED: no</signal>'`,
    );
    expect(session.status).toBe('complete');
    const [iteration] = (await scene.pulse.show(session.id)).iterations;
    expect(iteration).toMatchObject({
      signal: 'COMPLETE',
      signal_source: 'tool',
      signal_rule: 'tool:pulse_signal',
    });
  });

  it('confirms an inferred COMPLETE with one more iteration, whose brief asks for it', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun('cat > brief.txt; echo "All tasks are complete."');
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2 });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ outcome }) => outcome)).toEqual(['continued', 'completed']);
    expect(iterations[1]!.task_content).toContain('gave no signal');
  });
});

describe('what an agent is told and what is kept of it', () => {
  it('is redacted where it was printed, and stored as given where a person wrote it', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(`echo x > f; echo "The token is ${SECRET}."; ${COMPLETE}`, {
      goal: `Use ${SECRET} to log in`,
      verify: [`echo GITHUB_TOKEN=${SECRET}; false`],
      maxIterations: 1,
    });
    const stored = await scene.store.read(async (db) => ({
      session: await db.selectFrom('pulse_sessions').selectAll().executeTakeFirstOrThrow(),
      iteration: await db.selectFrom('pulse_iterations').selectAll().executeTakeFirstOrThrow(),
      events: await db.selectFrom('pulse_events').selectAll().execute(),
      evidence: await db.selectFrom('verifications').selectAll().execute(),
    }));
    expect(stored.session.goal).toBe(`Use ${SECRET} to log in`);
    expect(stored.iteration.task_content).toContain(SECRET);
    expect(stored.iteration.output_full).toContain('The token is [redacted].');
    expect(stored.iteration.output_summary).toBe('The token is [redacted]. Done.');
    expect(JSON.stringify(stored.events)).not.toContain(SECRET);
    expect(stored.evidence[0]!.output_tail).toContain('[redacted]');
    expect(stored.evidence[0]!.output_tail).not.toContain(SECRET);
    expect(JSON.stringify(stored.session.progress_log)).not.toContain(SECRET);
    expect(scene.sh(scene.root, 'log', '--format=%B', session.branch_name)).not.toContain(SECRET);
    expect(JSON.stringify(await scene.pulse.export(session.id))).not.toContain(SECRET);
  });

  it('comes in an environment of its own, without Pulse’s tokens and home', async () => {
    const scene = await makeScene({
      environment: {
        PULSE_TOKEN: 'top-secret-1',
        PULSE_API_TOKEN: 'top-secret-2',
        PULSE_TOOLS_TOKEN: 'top-secret-3',
        AWS_SECRET_ACCESS_KEY: 'top-secret-4',
        LANG: 'C.UTF-8',
      },
    });
    const session = await scene.startAndRun(`env > ${scene.folder}/env.txt; ${COMPLETE}`);
    const lines = readFileSync(join(scene.folder, 'env.txt'), 'utf8').split('\n');
    const env = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    expect(env).toMatchObject({
      PULSE_SESSION_ID: session.id,
      PULSE_ITERATION: '1',
      PULSE_UNIT: '',
      PULSE_RUN_ID: expect.stringMatching(/^tsk_.*\.1$/),
      PULSE_TOOLS_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      HOME: scene.env.HOME,
      LANG: 'C.UTF-8',
    });
    expect(Object.keys(env).filter((name) => name.startsWith('PULSE_') && name.endsWith('TOKEN'))).toEqual([
      'PULSE_TOOLS_TOKEN',
    ]);
    expect(lines.join('\n')).not.toContain('top-secret');
    expect(env).not.toHaveProperty('PULSE_HOME');
    expect(env).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
  });

  it('gives checks the same environment, and names what was withheld from one that fails', async () => {
    const scene = await makeScene({ environment: { DATABASE_URL: 'postgres://secret', LANG: 'C' } });
    const session = await scene.startAndRun(COMPLETE, {
      verify: ['test "$LANG" = C && test -n "$DATABASE_URL"'],
      maxIterations: 1,
    });
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'iteration_limit' });
    const [record] = await scene.store.read((db) => listVerifications(db, session.id));
    expect(record!.outputTail).toMatch(/not given:.*DATABASE_URL/);
    expect(record!.outputTail).not.toContain('postgres://');
  });
});

describe('the setup of a worktree', () => {
  it('runs once, before the first run, and again when a lockfile changes', async () => {
    const scene = await makeScene({ repo: { files: { 'go.sum': 'one\n', '.gitignore': 'vendor/\n' } } });
    await writeTrustedConfig(scene.root, {
      text: `setup: ['mkdir -p vendor; echo run >> vendor/setup.txt']\n`,
      environment: scene.environment,
    });
    const session = await scene.startAndRun(
      `wc -l < vendor/setup.txt > ${scene.folder}/setups-$PULSE_ITERATION
       [ $PULSE_ITERATION = 2 ] && echo two > go.sum
       [ $PULSE_ITERATION = 4 ] && { ${COMPLETE}; } || { ${CONTINUE}; }`,
    );
    expect(session.status).toBe('complete');
    const counts = [1, 2, 3, 4].map((n) => readFileSync(join(scene.folder, `setups-${n}`), 'utf8').trim());
    expect(counts).toEqual(['1', '1', '2', '2']);
  });

  it('that fails, fails the session before any agent runs', async () => {
    const scene = await makeScene();
    await writeTrustedConfig(scene.root, {
      text: `setup: ['echo first', 'echo no network; exit 4', 'touch third']\n`,
      environment: scene.environment,
    });
    const session = await scene.startAndRun(`touch ${scene.folder}/agent-ran; ${COMPLETE}`);
    expect(session).toMatchObject({
      status: 'failed',
      stop_reason: 'preflight_failed',
      current_iteration: 1,
    });
    expect(session.blocked_reason).toContain('exit 4');
    expect(existsSync(join(scene.folder, 'agent-ran'))).toBe(false);
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations).toMatchObject([{ status: 'failed', outcome: 'crashed', signal: null }]);
    expect(iterations[0]!.output_summary).toContain('Setup failed');
  });
});
