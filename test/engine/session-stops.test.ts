/** Sessions that stop and go on: blocked, paused, aborted, timed out, crashed, out of money. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../src/store/sessions.ts';
import { COMPLETE, CONTINUE, makeScene, processesIn, type Scene, until } from './scene.ts';

const PERSON = { actor: 'test' };
/** An answer is a turn too: without context it stands in a brief only where it is quoted. */
const NO_CONTEXT = { contextStrategy: 'none' } as const;

/** Starts driving without waiting for the end. */
function drive(scene: Scene, { id }: Pick<Session, 'id'>): Promise<Session> {
  return scene.run({ id });
}

describe('a blocked session', () => {
  const ASKS = `
    echo $PULSE_ITERATION >> log.txt
    case $PULSE_ITERATION in
      1) echo 'Half of it is there.'; echo '<signal>BLOCKED: Which port shall it be?</signal>';;
      *) ${COMPLETE};;
    esac`;

  it('keeps its work and its worktree, and goes on with the answer in the next brief', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(ASKS, NO_CONTEXT);
    expect(blocked).toMatchObject({
      status: 'blocked',
      stop_reason: 'blocked_by_agent',
      blocked_reason: 'Which port shall it be?',
      total_commits: 1,
      last_signal: 'BLOCKED',
    });
    expect(existsSync(blocked.worktree_path)).toBe(true);
    expect(scene.refs('refs/pulse/attempts')).toEqual([]);

    const { next } = await scene.pulse.resume(blocked.id, { ...PERSON, answer: 'Port `8080`, please.' });
    expect(next).toBe('run');
    const done = await scene.run(blocked);
    expect(done).toMatchObject({
      status: 'complete',
      current_iteration: 2,
      total_commits: 2,
      stop_reason: 'completed',
    });
    const { iterations } = await scene.pulse.show(blocked.id);
    expect(iterations[1]!.task_content).toContain('Port `8080`, please.');
    expect(iterations[1]!.task_content).toContain('Which port shall it be?');
    const resumed = (await scene.events(blocked)).find(({ type }) => type === 'session.resumed');
    expect(resumed!.data).toMatchObject({ actor: 'test', from: 'blocked', answer: 'Port `8080`, please.' });
    expect(existsSync(blocked.worktree_path)).toBe(false);
  });

  it('quotes an answer once', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(
      `
      case $PULSE_ITERATION in
        1) echo '<signal>BLOCKED: why?</signal>';; 2) ${CONTINUE};; *) ${COMPLETE};;
      esac`,
      NO_CONTEXT,
    );
    await scene.pulse.resume(blocked.id, { ...PERSON, answer: 'Therefore.' });
    await scene.run(blocked);
    const { iterations } = await scene.pulse.show(blocked.id);
    const quoting = iterations.filter(({ task_content }) => task_content.includes('Therefore.'));
    expect(quoting.map(({ iteration_number }) => iteration_number)).toEqual([2]);
  });

  it('starts from where a person has put its branch meanwhile', async () => {
    const scene = await makeScene();
    const { root, sh } = scene;
    const blocked = await scene.startAndRun(ASKS);
    sh(root, 'switch', '-q', blocked.branch_name);
    writeFileSync(join(root, 'person.txt'), 'help\n');
    sh(root, 'add', '-A');
    sh(root, 'commit', '-q', '-m', 'a hand');
    const theirs = sh(root, 'rev-parse', 'HEAD');
    sh(root, 'switch', '-q', 'main');
    await scene.pulse.resume(blocked.id, PERSON);
    expect((await scene.run(blocked)).status).toBe('complete');
    const { iterations } = await scene.pulse.show(blocked.id);
    expect(iterations[1]!.start_sha).toBe(theirs);
    expect(sh(root, 'log', '--format=%s', `main..${blocked.branch_name}`).split('\n')).toEqual([
      'pulse: iteration 2: Done.',
      'a hand',
      'pulse: iteration 1: Half of it is there.',
    ]);
    expect(sh(root, 'show', `${blocked.branch_name}:person.txt`)).toBe('help');
    expect(iterations[1]!.files_changed).toEqual(['log.txt']);
  });

  it('at its iteration limit needs a higher one to go on, and says so', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(CONTINUE, { maxIterations: 2 });
    expect(blocked).toMatchObject({
      status: 'blocked',
      stop_reason: 'iteration_limit',
      current_iteration: 2,
    });
    await expect(scene.pulse.resume(blocked.id, PERSON)).rejects.toMatchObject({ code: 'limit_not_raised' });
    expect((await scene.pulse.show(blocked.id)).session.status).toBe('blocked');
    await scene.pulse.resume(blocked.id, { ...PERSON, maxIterations: 3 });
    expect(await scene.run(blocked)).toMatchObject({ stop_reason: 'iteration_limit', current_iteration: 3 });
  });

  it('after three rejections carries the failing output in every next brief, and counts anew when resumed', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(`echo $PULSE_ITERATION > n.txt; ${COMPLETE}`, {
      verify: ['echo "seen: $(cat n.txt)"; test $(cat n.txt) -ge 5'],
    });
    expect(blocked).toMatchObject({
      status: 'blocked',
      stop_reason: 'verification_failed',
      current_iteration: 3,
    });
    await scene.pulse.resume(blocked.id, PERSON);
    expect(await scene.run(blocked)).toMatchObject({ status: 'complete', current_iteration: 5 });
    const { iterations } = await scene.pulse.show(blocked.id);
    expect(iterations.map(({ outcome }) => outcome)).toEqual([
      'rejected',
      'rejected',
      'rejected',
      'rejected',
      'completed',
    ]);
    for (const number of [2, 3, 4, 5]) {
      expect(iterations[number - 1]!.task_content).toContain(`seen: ${number - 1}`);
    }
  });
});

describe('a pause', () => {
  const WORKS = `
    echo "attempt $PULSE_ATTEMPT" >> half.txt
    if [ $PULSE_ATTEMPT = 1 ]; then touch ${'$'}PROBE; sleep 600; fi
    ${COMPLETE}`;

  async function stopped() {
    const scene = await makeScene();
    const probe = join(scene.folder, 'probe');
    const session = await scene.start(WORKS.replaceAll('$PROBE', probe), NO_CONTEXT);
    const running = drive(scene, session);
    await until(() => existsSync(probe));
    return { scene, session, running };
  }

  it('at once ends the agent, keeps its leftovers, and the resume does the iteration again', async () => {
    const { scene, session, running } = await stopped();
    await scene.pulse.pause(session.id, { ...PERSON, now: true });
    const paused = await running;
    expect(paused).toMatchObject({
      status: 'paused',
      stop_reason: 'paused_by_user',
      current_iteration: 1,
      reserved_usd: 0,
    });
    expect(processesIn(paused.worktree_path)).toEqual([]);
    const ref = `refs/pulse/recovery/${session.id}/1.1`;
    expect(scene.refs()).toEqual([`refs/pulse/head/${session.id}`, ref]);
    expect(scene.sh(scene.root, 'show', `${ref}:half.txt`)).toBe('attempt 1');
    expect(existsSync(paused.worktree_path)).toBe(true);

    await scene.pulse.resume(session.id, PERSON);
    const done = await scene.run(session);
    expect(done).toMatchObject({ status: 'complete', current_iteration: 1, total_commits: 1 });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations).toMatchObject([
      { iteration_number: 1, attempt: 2, status: 'complete', start_sha: scene.head },
    ]);
    expect(iterations[0]!.task_content).toContain(ref);
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:half.txt`)).toBe('attempt 2');
    const retried = (await scene.events(session)).filter(({ type }) => type === 'iteration.retried');
    expect(retried).toMatchObject([{ iteration: 1, data: { attempt: 2, reason: 'stopped by a person' } }]);
  });

  it('at once quotes an answer that comes with the resume in the brief of the attempt that is done again', async () => {
    const { scene, session, running } = await stopped();
    await scene.pulse.pause(session.id, { ...PERSON, now: true });
    await running;
    await scene.pulse.resume(session.id, { ...PERSON, answer: 'Do it in one file.' });
    await scene.run(session);
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations).toMatchObject([{ attempt: 2 }]);
    expect(iterations[0]!.task_content).toContain('Do it in one file.');
    expect(iterations[0]!.task_content).toContain(`refs/pulse/recovery/${session.id}/1.1`);
  });

  it('at once, resumed with a higher limit, lets the attempt that is done again use it', async () => {
    const scene = await makeScene();
    const probe = join(scene.folder, 'probe');
    const call = `curl -s -X POST -H "Authorization: Bearer $PULSE_TOOLS_TOKEN" -d`;
    const session = await scene.start(
      `if [ $PULSE_ATTEMPT = 1 ]; then touch ${probe}; sleep 600; fi
       ${call} '{"inputTokens": 500}' $PULSE_TOOLS_URL/tools/report_usage; sleep 0.3; ${COMPLETE}`,
      { budgetTokens: 100 },
    );
    const running = drive(scene, session);
    await until(() => existsSync(probe));
    await scene.pulse.pause(session.id, { ...PERSON, now: true });
    await running;
    await scene.pulse.resume(session.id, { ...PERSON, budgetTokens: 1000 });
    expect(await scene.run(session)).toMatchObject({ status: 'complete', total_tokens_used: 500 });
  });

  it('at once, with a commit of a person on the branch before the resume, starts again from there', async () => {
    const { scene, session, running } = await stopped();
    const { root, sh } = scene;
    await scene.pulse.pause(session.id, { ...PERSON, now: true });
    await running;
    sh(root, 'switch', '-q', session.branch_name);
    sh(root, 'commit', '-q', '--allow-empty', '-m', 'a hand');
    const theirs = sh(root, 'rev-parse', 'HEAD');
    sh(root, 'switch', '-q', 'main');
    await scene.pulse.resume(session.id, PERSON);
    expect(await scene.run(session)).toMatchObject({ status: 'complete', total_commits: 1 });
    expect((await scene.pulse.show(session.id)).iterations).toMatchObject([
      { attempt: 2, start_sha: theirs },
    ]);
    expect(sh(root, 'rev-parse', `${session.branch_name}~1`)).toBe(theirs);
  });

  it('takes effect after the iteration in hand', async () => {
    const scene = await makeScene();
    const gate = join(scene.folder, 'gate');
    const session = await scene.start(
      `touch ${gate}.open; while [ ! -e ${gate} ]; do sleep 0.05; done; echo x >> f; ${CONTINUE}`,
    );
    const running = drive(scene, session);
    await until(() => existsSync(`${gate}.open`));
    await scene.pulse.pause(session.id, PERSON);
    expect((await scene.pulse.show(session.id)).session.status).toBe('running');
    writeFileSync(gate, '');
    expect(await running).toMatchObject({ status: 'paused', current_iteration: 1, total_commits: 1 });
    expect(scene.refs()).toEqual([`refs/pulse/head/${session.id}`]);
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations).toMatchObject([{ status: 'complete', outcome: 'continued' }]);
  });

  it('takes effect at once while a retry waits', async () => {
    const scene = await makeScene();
    const session = await scene.start('echo $PULSE_ATTEMPT > f; exit 9');
    const running = drive(scene, session);
    await scene.seen(session, 'iteration.retried');
    await scene.pulse.pause(session.id, PERSON);
    expect(await running).toMatchObject({ status: 'paused', resume_at: null });
    expect((await scene.pulse.show(session.id)).iterations[0]!.attempt).toBeLessThan(3);
  });

  it('of a session that nobody runs is done on the spot', async () => {
    const scene = await makeScene();
    const session = await scene.start(COMPLETE);
    await scene.store.tx('test', async (db) => {
      await db.updateTable('pulse_sessions').set({ status: 'running' }).execute();
    });
    expect((await scene.pulse.pause(session.id, PERSON)).session).toMatchObject({ status: 'paused' });
    await expect(scene.pulse.pause(session.id, PERSON)).rejects.toMatchObject({ code: 'invalid_transition' });
    await scene.pulse.resume(session.id, PERSON);
    expect((await scene.run(session)).status).toBe('complete');
  });
});

describe('an abort in the middle of a run', () => {
  it('ends everything the agent started within 10 s, and refuses what comes late', async () => {
    const scene = await makeScene();
    const { folder } = scene;
    const session = await scene.start(`
      trap '' TERM INT HUP
      setsid sleep 631 &
      (sleep 632 & sleep 632 &) &
      env -i sh -c 'trap "" TERM; sleep 633' &
      env -i setsid sh -c 'sleep 634 & exec sleep 634' &
      echo work > late.txt
      touch ${folder}/up
      while :; do sleep 1; done`);
    const running = drive(scene, session);
    await until(() => existsSync(join(folder, 'up')));
    await until(() => processesIn(session.worktree_path).length >= 7);
    const began = performance.now();
    const { session: aborted } = await scene.pulse.abort(session.id, PERSON);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(aborted).toMatchObject({ status: 'aborted', stop_reason: 'aborted_by_user', reserved_usd: 0 });
    await running;
    expect(sleepers()).toEqual([]);
    expect(existsSync(session.worktree_path)).toBe(false);
    const { iterations, session: after } = await scene.pulse.show(session.id);
    expect(after).toMatchObject({ status: 'aborted', total_commits: 0 });
    expect(iterations).toMatchObject([
      { status: 'failed', failure_class: 'cancelled', signal: null, commit_hash: null },
    ]);
    const tasks = await scene.store.read((db) => db.selectFrom('inbox_tasks').selectAll().execute());
    expect(tasks).toMatchObject([{ status: 'cancelled', result: null }]);
    expect(scene.sh(scene.root, 'rev-parse', session.branch_name)).toBe(scene.head);
    expect(scene.sh(scene.root, 'show', `refs/pulse/recovery/${session.id}/1.1:late.txt`)).toBe('work');
    await expect(scene.pulse.resume(session.id, PERSON)).rejects.toMatchObject({
      code: 'invalid_transition',
    });
    await expect(scene.pulse.abort(session.id, PERSON)).rejects.toMatchObject({ code: 'invalid_transition' });
  });

  it('of a pending, a blocked and a paused session ends it and removes its worktree', async () => {
    const scene = await makeScene();
    const pending = await scene.start(COMPLETE);
    expect((await scene.pulse.abort(pending.id, PERSON)).session.status).toBe('aborted');
    const blocked = await scene.startAndRun('echo x > f; echo "<signal>BLOCKED: x</signal>"');
    expect(existsSync(blocked.worktree_path)).toBe(true);
    expect((await scene.pulse.abort(blocked.id, PERSON)).session.status).toBe('aborted');
    expect(existsSync(blocked.worktree_path)).toBe(false);
    expect((await scene.events(blocked)).at(-1)).toMatchObject({
      type: 'session.aborted',
      data: { actor: 'test' },
    });
  });
});

describe('a run that takes too long', () => {
  it('ends its iteration, keeps its work, and the next is told', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `echo $PULSE_ITERATION >> log.txt; [ $PULSE_ITERATION = 1 ] && sleep 600; ${COMPLETE}`,
      { iterationTimeoutMs: 700 },
    );
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2, total_commits: 2 });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations[0]).toMatchObject({
      status: 'timeout',
      outcome: 'timeout',
      failure_class: 'timeout_hard',
      signal: null,
      files_changed: ['log.txt'],
    });
    expect(iterations[1]!.task_content).toContain('used up its time');
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:log.txt`)).toBe('1\n2');
  });

  it('by silence is ended where an idle limit was asked for, and not where output comes', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `if [ $PULSE_ITERATION = 1 ]; then sleep 600; fi
       for i in 1 2 3 4 5 6; do echo "still at it $i"; sleep 0.25; done; ${COMPLETE}`,
      { idleTimeoutMs: 800 },
    );
    expect(session).toMatchObject({ status: 'complete', current_iteration: 2 });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations[0]).toMatchObject({ status: 'timeout', failure_class: 'timeout_idle' });
    expect(iterations[1]!.task_content).toContain('no activity');
  });

  it('three times in a row fails the session', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun('sleep 600', { iterationTimeoutMs: 300 });
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'agent_error', current_iteration: 3 });
  });
});

describe('an agent that crashes', () => {
  it('finds a person’s answer in the brief of its retry too', async () => {
    const scene = await makeScene();
    const blocked = await scene.startAndRun(
      `
      [ $PULSE_ITERATION = 1 ] && { echo '<signal>BLOCKED: why?</signal>'; exit 0; }
      [ $PULSE_ATTEMPT = 1 ] && exit 3
      ${COMPLETE}`,
      NO_CONTEXT,
    );
    await scene.pulse.resume(blocked.id, { ...PERSON, answer: 'Therefore.' });
    expect((await scene.run(blocked)).status).toBe('complete');
    const { iterations } = await scene.pulse.show(blocked.id);
    expect(iterations[1]).toMatchObject({ attempt: 2 });
    expect(iterations[1]!.task_content).toContain('Therefore.');
  });

  it('is tried again after 1 s and after 5 s, from the same start, then the session fails', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `date +%s.%N >> ${scene.folder}/starts; ls > ${scene.folder}/seen-$PULSE_ATTEMPT
       echo junk > junk-$PULSE_ATTEMPT; echo 'cannot go on' >&2; exit 3`,
    );
    expect(session).toMatchObject({
      status: 'failed',
      stop_reason: 'agent_error',
      current_iteration: 1,
      total_commits: 0,
    });
    expect(session.blocked_reason).toContain('cannot go on');
    const starts = readFileSync(join(scene.folder, 'starts'), 'utf8').trim().split('\n').map(Number);
    expect(starts).toHaveLength(3);
    const [first, second] = [starts[1]! - starts[0]!, starts[2]! - starts[1]!];
    expect(first).toBeGreaterThan(1);
    expect(first).toBeLessThan(4);
    expect(second).toBeGreaterThan(5);
    expect(second).toBeLessThan(8);
    for (const attempt of [1, 2, 3]) {
      expect(readFileSync(join(scene.folder, `seen-${attempt}`), 'utf8')).toBe('a.txt\n');
    }
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations).toMatchObject([
      { attempt: 3, status: 'failed', outcome: 'crashed', failure_class: 'crashed' },
    ]);
    const retries = (await scene.events(session)).filter(({ type }) => type === 'iteration.retried');
    expect(retries.map(({ data }) => [data.attempt, data.delayMs])).toEqual([
      [2, 1000],
      [3, 5000],
    ]);
    expect(scene.refs()).toEqual([
      `refs/pulse/head/${session.id}`,
      ...[1, 2].map((attempt) => `refs/pulse/recovery/${session.id}/1.${attempt}`),
    ]);
    expect(existsSync(session.worktree_path)).toBe(true);
  }, 30_000);

  it('and is then resumed by a person does a new iteration, with what it left behind kept', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `[ -e ${scene.folder}/well ] && { ls > seen.txt; ${COMPLETE}; exit 0; }; echo junk > junk.txt; exit 3`,
    );
    expect(session.status).toBe('failed');
    writeFileSync(join(scene.folder, 'well'), '');
    await scene.pulse.resume(session.id, PERSON);
    expect(await scene.run(session)).toMatchObject({ status: 'complete', current_iteration: 2 });
    expect(scene.refs()).toContain(`refs/pulse/recovery/${session.id}/1.3`);
    expect(scene.sh(scene.root, 'show', `${session.branch_name}:seen.txt`)).toBe('a.txt\nseen.txt');
  }, 30_000);
});

describe('an agent that spends', () => {
  const REPORT = `curl -s -X POST -H "Authorization: Bearer $PULSE_TOOLS_TOKEN" -d`;

  it('too much is stopped in the middle of its run, its work kept, and its spending counted', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun(
      `echo begun > work.txt
       ${REPORT} '{"costUsd": 0.4, "inputTokens": 100}' $PULSE_TOOLS_URL/tools/report_usage
       ${REPORT} '{"costUsd": 0.7, "outputTokens": 50}' $PULSE_TOOLS_URL/tools/report_usage
       sleep 600; ${COMPLETE}`,
      { budgetUsd: 1 },
    );
    expect(session).toMatchObject({
      status: 'blocked',
      stop_reason: 'budget_cost',
      total_tokens_used: 150,
      reserved_usd: 0,
      total_commits: 1,
    });
    expect(session.spent_usd).toBeCloseTo(1.1);
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations[0]).toMatchObject({
      outcome: 'blocked',
      signal: null,
      input_tokens: 100,
      output_tokens: 50,
    });
    expect(iterations[0]!.cost_usd).toBeCloseTo(1.1);
    await expect(scene.pulse.resume(session.id, PERSON)).rejects.toMatchObject({ code: 'limit_not_raised' });
    const usage = (await scene.events(session)).filter(({ type }) => type === 'agent.usage');
    expect(usage.map(({ data }) => data.costUsd)).toEqual([0.4, 0.7]);
  });

  it('too many tokens, or too much time, is stopped for that', async () => {
    const scene = await makeScene();
    const tokens = await scene.startAndRun(
      `${REPORT} '{"inputTokens": 1001}' $PULSE_TOOLS_URL/tools/report_usage; sleep 600`,
      { budgetTokens: 1000 },
    );
    expect(tokens).toMatchObject({
      status: 'blocked',
      stop_reason: 'budget_tokens',
      total_tokens_used: 1001,
    });
    const time = await scene.startAndRun('sleep 600', { timeLimitMs: 500 });
    expect(time).toMatchObject({ status: 'blocked', stop_reason: 'budget_time' });
    expect(time.running_ms).toBeGreaterThanOrEqual(500);
  });
});

/** What the abort test's agent started, wherever it went. */
function sleepers(): number[] {
  return processesIn('/').filter((pid) => /^sleep 63[1-4]$/.test(commandLine(pid)));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // it has ended
  }
}
