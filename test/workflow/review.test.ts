/** Reviews that meet each other, or what an interrupted one left (docs/protocol/workflow.md, Review). */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { ACTOR, createWorkflowScene, done, plan } from './scene.ts';

const ONE = { one: `echo hello > hello.txt\n${done('feat: say hello', ['hello.txt'])}` };

it('nobody rejects what somebody else is merging', async () => {
  await using scene = await createWorkflowScene();
  const id = await scene.start(plan('one'), { scripts: ONE });
  await scene.drive(id);
  const rejects = Promise.withResolvers<unknown>();
  await using merger = await createPulse({
    environment: scene.scratch.environment,
    // The base is moved, and the row does not say so yet: whoever is let in now would go on with the work.
    trace: async (point) => {
      if (point !== 'merge:after') return;
      const rejected = scene.pulse.workflow.review(id, { reject: 'Wait!', actor: 'other' });
      rejected.then(rejects.resolve, rejects.resolve);
      await Promise.race([rejects.promise, delay(1_000)]);
    },
  });
  await merger.workflow.review(id, { approve: true, merge: 'ff', actor: ACTOR });
  expect(await rejects.promise).toMatchObject({ code: 'invalid_transition' });
  const { session, pulses } = await scene.drive(id);
  expect(session).toMatchObject({ status: 'complete' });
  expect(pulses).toHaveLength(1);
});

it('a pull request that is open already is told, not opened twice', async () => {
  await using scene = await createWorkflowScene();
  const { scratch } = scene;
  const id = await scene.start(plan('one'), { scripts: ONE });
  await scene.drive(id);
  scratch.git('init', '-q', '--bare', `${scratch.path}/remote.git`);
  scratch.git('remote', 'add', 'origin', `${scratch.path}/remote.git`);
  const bin = join(scratch.path, 'bin');
  mkdirSync(bin);
  const said =
    'a pull request for branch "x" into branch "main" already exists:\\nhttps://example.org/pull/7';
  writeFileSync(join(bin, 'gh'), `#!/bin/sh\nprintf '${said}\\n' >&2\nexit 1\n`);
  chmodSync(join(bin, 'gh'), 0o755);
  const environment = { ...scratch.environment, PATH: `${bin}:${process.env.PATH}` };
  await using pulse = await createPulse({ environment });
  const { merged } = await pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR });
  expect(merged?.said).toMatch(/its pull request is https:\/\/example\.org\/pull\/7$/);
});

it('a branch is pushed for a pull request as the person would: with their hooks', async () => {
  await using scene = await createWorkflowScene();
  const { scratch } = scene;
  const id = await scene.start(plan('one'), { scripts: ONE });
  const { session } = await scene.drive(id);
  scratch.git('init', '-q', '--bare', `${scratch.path}/remote.git`);
  scratch.git('remote', 'add', 'origin', `${scratch.path}/remote.git`);
  const hook = join(scratch.repository, '.git/hooks/pre-push');
  writeFileSync(hook, '#!/bin/sh\necho the files are missing >&2\nexit 1\n', { mode: 0o755 });
  const environment = { ...scratch.environment, PATH: '/usr/bin:/bin', GIT_DIR: scratch.path };
  await using pulse = await createPulse({ environment });
  const approve = () => pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR });
  await expect(approve()).rejects.toMatchObject({
    code: 'git_failed',
    hint: expect.stringContaining('the files are missing'),
  });
  expect(scratch.git('ls-remote', 'origin')).toBe('');
  writeFileSync(hook, `#!/bin/sh\necho "$1" > ${scratch.path}/hooked\n`);
  expect((await approve()).merged?.said).toContain('is pushed to origin');
  expect(readFileSync(join(scratch.path, 'hooked'), 'utf8')).toBe('origin\n');
  expect(scratch.git('ls-remote', 'origin')).toContain(`refs/heads/${session.branch_name}`);
});

it('the proofs go with the branch of a pull request; where they cannot, it is said', async () => {
  await using scene = await createWorkflowScene();
  const { scratch } = scene;
  const id = await scene.start(plan('one'), { scripts: ONE });
  await scene.drive(id);
  scratch.git('init', '-q', '--bare', `${scratch.path}/remote.git`);
  scratch.git('remote', 'add', 'origin', `${scratch.path}/remote.git`);
  const proofs = 'refs/attestations/commits';
  scratch.git('update-ref', proofs, scratch.git('rev-parse', 'HEAD'));
  writeFileSync(
    join(scratch.path, 'remote.git/hooks/update'),
    `#!/bin/sh\ncase "$1" in ${proofs}) exit 1;; esac\n`,
    { mode: 0o755 },
  );
  const environment = { ...scratch.environment, PATH: '/usr/bin:/bin' };
  await using pulse = await createPulse({ environment });
  const { merged } = await pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR });
  expect(merged?.said).toMatch(/is pushed to origin[\s\S]*Its proofs could not be pushed/);
  expect(scratch.git('ls-remote', 'origin', proofs)).toBe('');
});

it('the proofs are at the remote when the pull request is opened', async () => {
  await using scene = await createWorkflowScene();
  const { scratch } = scene;
  const id = await scene.start(plan('one'), { scripts: ONE });
  await scene.drive(id);
  scratch.git('init', '-q', '--bare', `${scratch.path}/remote.git`);
  scratch.git('remote', 'add', 'origin', `${scratch.path}/remote.git`);
  const proofs = 'refs/attestations/commits';
  scratch.git('update-ref', proofs, scratch.git('rev-parse', 'HEAD'));
  const bin = join(scratch.path, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), `#!/bin/sh\ngit ls-remote origin ${proofs}\n`, { mode: 0o755 });
  const environment = { ...scratch.environment, PATH: `${bin}:${process.env.PATH}` };
  await using pulse = await createPulse({ environment });
  const { merged } = await pulse.workflow.review(id, { approve: true, merge: 'pr', actor: ACTOR });
  expect(merged?.said).toContain(proofs);
});

it('what no check has seen is merged as unverified, and the merge says so', async () => {
  await using scene = await createWorkflowScene();
  const id = await scene.start({ ...plan('one'), verify: [] }, { scripts: ONE });
  const { session: waiting } = await scene.drive(id);
  expect(waiting.trust).toBeNull();
  expect((await scene.pulse.workflow.show(id)).trust).toBe('unverified');
  await scene.pulse.workflow.review(id, { approve: true, merge: 'squash', actor: ACTOR });
  const { session } = await scene.drive(id);
  expect(session).toMatchObject({ status: 'complete', trust: 'unverified' });
  expect(scene.scratch.git('log', '-1', '--format=%B', 'main')).toContain('Pulse says: unverified.');
  const { events } = await scene.pulse.export(id);
  expect(events.findLast(({ type }) => type === 'session.ended')?.data).toMatchObject({
    trust: 'unverified',
  });
});

it('what its checks have accepted is merged as verified, without a word in the merge', async () => {
  await using scene = await createWorkflowScene();
  const verify = [{ command: 'test -f hello.txt', source: 'Test' }];
  const id = await scene.start({ ...plan('one'), verify }, { scripts: ONE });
  await scene.drive(id);
  expect((await scene.pulse.workflow.show(id)).trust).toBe('verified');
  await scene.pulse.workflow.review(id, { approve: true, merge: 'squash', actor: ACTOR });
  expect((await scene.drive(id)).session).toMatchObject({ status: 'complete', trust: 'verified' });
  expect(scene.scratch.git('log', '-1', '--format=%B', 'main')).not.toContain('Pulse says');
});
