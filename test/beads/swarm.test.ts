/** Several workers at once: nothing is taken twice, every bead arrives once, conflicts go back. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { handoffPayload } from '../../src/loops/beads/files/handoff-payload.ts';
import { writeHandoff } from '../../src/loops/beads/files/handoffs.ts';
import { beadDone, createSwarmScene } from './swarm-scene.ts';

const WRITE = 'echo "$PULSE_UNIT" > $PULSE_UNIT.txt';

describe('a swarm', () => {
  it('brings every bead onto the branch once, each as one commit on the one before', async () => {
    await using scene = await createSwarmScene();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await scene.bead(id);
    const id = await scene.start(`sleep 0.3; ${WRITE}; ${beadDone()}`, { workers: 3 });
    const { session, beads, workers } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      status: 'complete',
      total_commits: 6,
      trust: 'verified',
    });
    const { events } = await scene.pulse.export(id);
    expect(events.filter(({ type }) => type === 'bead.closed')).toHaveLength(6);
    expect(workers).toHaveLength(3);
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
    const { branch_name: branch, base_sha: base } = session;
    expect((await scene.subjects(id)).toSorted()).toEqual(ids.map((one) => `feat(${one}): write it`));
    expect(scene.scratch.git('rev-list', '--merges', '--count', `${base}..${branch}`)).toBe('0');
    for (const { id: bead, commit } of beads)
      expect(scene.scratch.git('log', '-1', '--format=%s', commit!)).toContain(`(${bead})`);
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator' });
    const subjects = messages.map(({ subject }) => subject);
    expect(subjects.filter((one) => one.startsWith('[ONLINE]'))).toHaveLength(3);
    expect(subjects.filter((one) => one.startsWith('Completed '))).toHaveLength(6);
    const { reservations } = await scene.pulse.reservations.list({});
    expect(reservations).toEqual([]);
    expect(scene.scratch.git('for-each-ref', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe('');
    expect(scene.scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('replaces a worker whose context is nearly full by one of the same name', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    await scene.bead('b', { dependencies: ['a'] });
    const full = `[ $PULSE_UNIT = a ] && pulse tool report_usage '{"contextTokens":90,"contextWindow":100}'`;
    const id = await scene.start(`${full}; ${WRITE}; ${beadDone()}`, { workers: 1 });
    const { session, workers } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(workers.map(({ mailName, leftFor }) => [mailName, leftFor])).toEqual([
      ['worker-1', 'context_critical'],
      ['worker-1', null],
    ]);
    const read = (name: string) => JSON.parse(scene.scratch.read(`.pulse/handoffs/${name}`));
    expect(read('worker-worker-1.json')).toMatchObject({
      schema_version: '2.0',
      status: 'consumed',
      payload: { context_snapshot: { last_bead_closed: 'a' } },
    });
    expect(read('manifest.json').active).toEqual([]);
  });

  it('leaves nothing to be resumed where the others have closed what was left', async () => {
    await using scene = await createSwarmScene();
    for (const id of ['a', 'b']) await scene.bead(id);
    const full = `pulse tool report_usage '{"contextTokens":90,"contextWindow":100}' > /dev/null`;
    const handedOver = 'until grep -q worker-2 .pulse/handoffs/manifest.json; do sleep 0.02; done';
    const wait = `cd '${scene.scratch.repository}'; ${handedOver}; cd -`;
    const script = `if [ $PULSE_NICKNAME = worker-2 ]; then ${full}; else ${wait}; fi; ${WRITE}; ${beadDone()}`;
    const id = await scene.start(script, { workers: 2 });
    const { session, workers } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(workers.filter(({ leftFor }) => leftFor !== null)).toMatchObject([{ mailName: 'worker-2' }]);
    expect((await scene.pulse.swarm.handoffs(id)).handoffs).toEqual([]);
    expect(JSON.parse(scene.scratch.read('.pulse/handoffs/manifest.json')).active).toEqual([]);
  }, 60_000);

  it('leaves the handoff of one that works alone to that one', async () => {
    await using scene = await createSwarmScene();
    const left = handoffPayload({
      ...{ mode: 'standalone', feature: 'other', pausedAt: '2026-02-03T04:05:06.000Z', contextUsed: 0.7 },
      ...{ closedBeads: [], nextHint: null },
    });
    await writeHandoff(scene.scratch.repository, left);
    for (const id of ['a', 'b']) await scene.bead(id);
    const id = await scene.start(`${WRITE}; ${beadDone()}`, { workers: 2 });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(JSON.parse(scene.scratch.read('.pulse/handoffs/single-worker.json'))).toEqual(left);
  });

  it('continues each that handed over once, in whatever order they do', async () => {
    await using scene = await createSwarmScene();
    for (const id of ['a', 'b', 'c', 'd']) await scene.bead(id);
    const full = `pulse tool report_usage '{"contextTokens":90,"contextWindow":100}' > /dev/null`;
    const wait = (file: string) => `until [ -f "$OUT/${file}" ]; do sleep 0.02; done`;
    // The second worker hands over first; its successor is at work until that of the first is, too.
    const script = `run=$PULSE_NICKNAME-$(ls "$OUT" | grep -c "^$PULSE_NICKNAME-")
touch "$OUT/$run"
case $run in
  worker-2-0) ${full} ;;
  worker-2-1) ${wait('worker-1-1')} ;;
  worker-1-0) ${wait('worker-2-1')}; ${full} ;;
esac
${WRITE}; ${beadDone()}`;
    const id = await scene.start(script, { workers: 2 });
    const { session, workers } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(workers.map(({ mailName, leftFor }) => `${mailName} ${leftFor}`).toSorted()).toEqual([
      ...['worker-1 context_critical', 'worker-1 null'],
      ...['worker-2 context_critical', 'worker-2 null'],
    ]);
    expect(JSON.parse(scene.scratch.read('.pulse/handoffs/manifest.json')).active).toEqual([]);
  }, 60_000);

  it('gives an agent mail and reservations in its own name, and sends the conflict itself', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    await scene.bead('b');
    const meet = `touch "$OUT/$PULSE_UNIT.at"; for i in $(seq 300); do [ -f "$OUT/a.at" ] && [ -f "$OUT/b.at" ] && break; sleep 0.05; done`;
    const grab = `[ $PULSE_UNIT = a ] && pulse tool file_reservation_paths '{"paths":["b.txt"]}' > "$OUT/grab.json"`;
    const mail = `[ $PULSE_UNIT = b ] && pulse tool send_message '{"to":["coordinator"],"subject":"Hello","body_md":"from b"}' > "$OUT/mail.json"`;
    const id = await scene.start(`${meet}; ${grab}; ${mail}; sleep 0.5; ${WRITE}; ${beadDone()}`, {
      workers: 2,
    });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(scene.reply('grab.json')).toMatchObject({
      ok: false,
      output: { granted: [], conflicts: [{ path: 'b.txt' }] },
    });
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator' });
    const subjects = messages.map(({ subject }) => subject);
    expect(subjects).toContain('Hello');
    expect(subjects).toContain('File conflict on a');
  });

  it('does not start where pulse init has not been', async () => {
    await using scene = await createSwarmScene();
    const { rmSync } = await import('node:fs');
    rmSync(`${scene.scratch.repository}/.pulse/onboarding.json`);
    await expect(scene.start('true')).rejects.toMatchObject({
      code: 'invalid_config',
      hint: expect.stringContaining('pulse init'),
    });
  });

  it('gives the bead of a worker that died to another, and gives up after a few', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    const dies = `n=$(cat "$OUT/n" 2>/dev/null || echo 0); echo $((n+1)) > "$OUT/n"; [ $n -lt "$(cat "$OUT/deaths")" ] && exit 1`;
    scene.scratch.file('deaths', '3');
    const first = await scene.drive(await scene.start(`${dies}; ${WRITE}; ${beadDone()}`, { workers: 1 }));
    expect(first.session, first.session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(first.workers.map(({ nickname, status }) => [nickname, status])).toEqual([
      ['worker-1', 'aborted'],
      ['worker-2', 'complete'],
    ]);
    await scene.bead('b');
    scene.scratch.file('deaths', '1000');
    const second = await scene.drive(await scene.start(`${dies}; ${WRITE}`, { workers: 1 }));
    expect(second.session).toMatchObject({ status: 'failed', stop_reason: 'agent_error' });
    expect(second.workers.length).toBe(4);
    expect(second.beads.find(({ id }) => id === 'b')).toMatchObject({ status: 'open', worker: null });
  }, 120_000);

  it('leaves a bead alone that a person has closed meanwhile', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    await scene.bead('b');
    const meet = `[ $PULSE_UNIT = a ] && { touch "$OUT/a.at"; for i in $(seq 600); do [ -f "$OUT/go" ] && break; sleep 0.05; done; exit 0; }`;
    const id = await scene.start(`${meet}; ${WRITE}; ${beadDone()}`, { workers: 2 });
    const running = scene.drive(id);
    const { until } = await import('../engine/scene.ts');
    await until(() => existsSync(`${scene.scratch.path}/a.at`));
    const project_key = scene.scratch.repository;
    await scene.pulse.bead.close('a', { project_key, reason: 'Not needed' });
    scene.scratch.file('go', '');
    const { session, beads } = await running;
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
    expect(beads.map(({ status }) => status)).toEqual(['closed', 'closed']);
    expect(await scene.subjects(id)).toEqual(['feat(b): write it']);
    const { reservations } = await scene.pulse.reservations.list({});
    expect(reservations).toEqual([]);
  });

  it('continues with what a person has opened again, by workers in the place of those that had rested', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    await scene.bead('b');
    const ask = `[ $PULSE_UNIT = a ] && [ ! -f "$OUT/go" ] && { pulse tool pulse_signal '{"signal":"BLOCKED","reason":"Which?"}'; exit 0; }`;
    const id = await scene.start(`${ask}; ${WRITE}; ${beadDone()}`, { workers: 2 });
    const { session, beads } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues' });
    expect(beads.map(({ status }) => status)).toEqual(['blocked', 'closed']);
    scene.scratch.file('go', '');
    await scene.pulse.bead.update('a', { project_key: scene.scratch.repository, status: 'open' });
    await scene.pulse.resume(id, { actor: 'someone', createdBy: 'cli' });
    const after = await scene.drive(id);
    expect(after.session, after.session.blocked_reason ?? '').toMatchObject({
      status: 'complete',
      total_commits: 2,
    });
  });

  it('merges those that wait together, and finds the one that makes it red', async () => {
    await using scene = await createSwarmScene();
    const ids = ['a', 'b', 'c', 'd'];
    // Only the second of two that say so is red: together with the first.
    const verify = (id: string) => [
      { command: `test -s ${id}.txt && test "$(cat ?.txt | grep -c one)" -le 1` },
    ];
    for (const id of ids) await scene.bead(id, { verify: verify(id) });
    const meet = ids.map((id) => `[ -f "$OUT/${id}.at" ]`).join(' && ');
    const wait = `touch "$OUT/$PULSE_UNIT.at"; for i in $(seq 600); do ${meet} && break; sleep 0.05; done`;
    const word = `case $PULSE_UNIT in b|c) one=one ;; esac; [ -f "$OUT/$PULSE_UNIT.again" ] && one=two; touch "$OUT/$PULSE_UNIT.again"`;
    const id = await scene.start(
      `${wait}; ${word}; echo \${one:-$PULSE_UNIT} > $PULSE_UNIT.txt; ${beadDone()}`,
      { workers: 4 },
    );
    const { session, beads } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 4 });
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
    const { events } = await scene.pulse.export(id);
    const returned = events.filter(({ type }) => type === 'bead.returned').map(({ data }) => data.bead);
    expect(returned).toHaveLength(1);
    expect(['b', 'c']).toContain(returned[0]);
    const { branch_name: branch } = session;
    const texts = ['b', 'c'].map((bead) => scene.scratch.git('show', `${branch}:${bead}.txt`));
    expect(texts.toSorted()).toEqual(['one', 'two']);
  });

  it('stops at once, with its reservations released, and continues where it was', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    await scene.bead('b');
    const slow = `[ -f "$OUT/go" ] || { touch "$OUT/$PULSE_UNIT.at"; sleep 30; }`;
    const id = await scene.start(`${slow}; ${WRITE}; ${beadDone()}`, { workers: 2 });
    const running = scene.drive(id);
    const { writeFileSync } = await import('node:fs');
    const { until } = await import('../engine/scene.ts');
    await until(() => ['a', 'b'].every((bead) => existsSync(`${scene.scratch.path}/${bead}.at`)));
    await scene.pulse.swarm.stop(id);
    expect((await running).session).toMatchObject({ status: 'paused' });
    const { reservations } = await scene.pulse.reservations.list({});
    expect(reservations).toEqual([]);
    writeFileSync(`${scene.scratch.path}/go`, '');
    await scene.pulse.resume(id, {});
    const { session, beads } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
  });
});

it('beads that write their evidence to one place are worked on one after the other, and none over another’s own', async () => {
  await using scene = await createSwarmScene();
  for (const id of ['a', 'b', 'c']) await scene.bead(id, { verification_evidence: 'docs/log.md' });
  const theirs = 'history/app/verification/a.md';
  await scene.bead('d', { verification_evidence: theirs, dependencies: ['a'] });
  const id = await scene.start(`echo x > $PULSE_UNIT.txt; ${beadDone()}`, { workers: 3 });
  const { session, beads } = await scene.drive(id);
  expect(beads.map(({ id: bead, status }) => [bead, status])).toEqual([
    ...[
      ['a', 'closed'],
      ['b', 'closed'],
      ['c', 'closed'],
    ],
    ['d', 'blocked'],
  ]);
  expect(beads[3]!.reason).toBe(
    `Its verification_evidence names ${theirs}, where something else lies: Pulse writes only over earlier evidence.`,
  );
  const { events } = await scene.pulse.export(id);
  const taken = events.filter(({ type }) => /^bead\.(?:taken|closed|returned)$/.test(type));
  const order = taken.filter(({ data }) => data.bead !== 'd').map(({ type }) => type);
  expect(order).toEqual(['a', 'b', 'c'].flatMap(() => ['bead.taken', 'bead.closed']));
  const last = events.findLast(({ type }) => type === 'bead.closed')!.data.bead as string;
  const show = (path: string) => scene.scratch.git('show', `${session.branch_name}:${path}`);
  expect(show('docs/log.md')).toBe(show(`history/app/verification/${last}.md`));
  expect(show(theirs)).toMatch(/^# Verification of a\n/);
});

it('a swarm stopped in the middle of a merge continues with the merge', async () => {
  await using scene = await createSwarmScene();
  const { pulse } = scene;
  for (const id of ['a', 'b', 'c'])
    await scene.bead(id, { verify: [{ command: `test -s ${id}.txt && sleep 1` }] });
  const meet = `touch "$OUT/at-$PULSE_UNIT"; until [ -f "$OUT/at-a" ] && [ -f "$OUT/at-b" ] && [ -f "$OUT/at-c" ]; do sleep 0.02; done`;
  const id = await scene.start(`${meet}; echo x > $PULSE_UNIT.txt; ${beadDone()}`, { workers: 3 });
  const running = scene.drive(id);
  await scene.told(id, 'bead.merging', 1);
  await pulse.swarm.stop(id);
  const stopped = await running;
  expect(stopped.session.status).toBe('paused');
  expect((await pulse.reservations.list({})).reservations).toEqual([]);
  await pulse.resume(id);
  const { session, beads } = await scene.drive(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  expect(beads.map(({ status }) => status)).toEqual(['closed', 'closed', 'closed']);
  expect((await scene.subjects(id)).toSorted()).toEqual(
    ['a', 'b', 'c'].map((one) => `feat(${one}): write it`),
  );
  expect((await pulse.reservations.list({})).reservations).toEqual([]);
});
