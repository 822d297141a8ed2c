/** Proofs as people and CI jobs meet them: the real program, in clones that know nothing of the installation. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createGit } from '../../src/git/exec.ts';
import { openProofKey } from '../../src/referee/proof/key.ts';
import type { ProofInput } from '../../src/referee/proof/statement.ts';
import { writeProof } from '../../src/referee/proof/store.ts';
import { spawnGit } from '../git/fixture.ts';
import { command, makeKey, proofInput } from '../referee/proof/material.ts';
import { OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

const scene = useScene();
const PROOFS = 'refs/attestations/commits';

/** The installation signs a proof of what the branch has now. */
async function prove(more: Partial<ProofInput> = {}, key?: ReturnType<typeof makeKey>): Promise<void> {
  const git = createGit({ exec: spawnGit });
  const subject = { commit: scene.git('rev-parse', 'HEAD'), tree: scene.git('rev-parse', 'HEAD^{tree}') };
  const signer = key ?? (await openProofKey(join(scene.home, 'key')));
  await writeProof(git, { root: scene.repository, input: proofInput(subject, more), key: signer });
}

/** The base believes the installation's key; a branch of Pulse has work on it. */
async function makeBranch(): Promise<void> {
  const { json } = await scene.pulse(['key', '--json']);
  const { publicKey } = json[0] as unknown as { publicKey: string };
  mkdirSync(join(scene.repository, '.pulse'));
  writeFileSync(join(scene.repository, '.pulse/config.yaml'), `proof:\n  keys: [${publicKey}]\n`);
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'believe');
  scene.git('switch', '-q', '-c', 'pulse/work');
  commitFile('b.txt', 'ses_1');
}

function commitFile(name: string, session?: string): string {
  writeFileSync(join(scene.repository, name), `${name}\n`);
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', name, ...(session ? ['-m', `Pulse-Session: ${session}`] : []));
  return scene.git('rev-parse', 'HEAD');
}

describe('pulse key', () => {
  it('makes a key once and shows its public half, without a store', async () => {
    const first = await scene.pulse(['key']);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^key {2}MCowBQYDK2VwAyEA\S+\nid {3}[0-9a-f]{64}\n$/),
    });
    const { json } = await scene.pulse(['key', '--json']);
    expect(first.stdout).toContain((json[0] as unknown as { id: string }).id);
    expect(readdirSync(scene.home)).toEqual(['key']);
    expect(statSync(join(scene.home, 'key/ed25519.pem')).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(json) + first.stdout + first.stderr).not.toContain('PRIVATE');
  });

  it('makes another on request, and still shows what the old one was', async () => {
    type Shown = { id: string; publicKey: string; earlier: { id: string; publicKey: string }[] };
    const show = async (...args: string[]) =>
      (await scene.pulse(['key', ...args, '--json'])).json[0] as unknown as Shown;
    const first = await show();
    const second = await show('rotate');
    expect(second.id).not.toBe(first.id);
    expect(second.earlier).toEqual([{ id: first.id, publicKey: first.publicKey }]);
    expect(await show('show')).toEqual(second);
    expect((await scene.pulse(['key', 'rotat'])).code).toBe(2);
  });

  it('writes it for openssl, and replaces nothing', async () => {
    const file = join(scene.directory, 'key.pem');
    expect((await scene.pulse(['key', '--export', file])).code).toBe(0);
    const der = execFileSync('openssl', ['pkey', '-pubin', '-in', file, '-outform', 'DER']).toString(
      'base64',
    );
    expect((await scene.pulse(['key'])).stdout).toContain(der);
    expect((await scene.pulse(['key', '--export', file])).code).toBe(0);
    writeFileSync(file, 'mine\n');
    expect((await scene.pulse(['key', '--export', file])).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('mine\n');
  });

  it('is for people, not for an agent in a run', async () => {
    const refused = await scene.pulse(['key', '--json'], { env: { PULSE_RUN_ID: 'run_1' } });
    expect(refused).toMatchObject({ code: 2, json: [{ error: { code: 'inside_run' } }] });
    expect(existsSync(scene.home)).toBe(false);
  });

  it('says what is wrong with a key that others can read', async () => {
    await scene.pulse(['key']);
    chmodSync(join(scene.home, 'key/ed25519.pem'), 0o644);
    const refused = await scene.pulse(['key']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') });
  });
});

describe('pulse verify of a commit', () => {
  it('holds in a clone that has the refs, without a store or a state directory', async () => {
    await makeBranch();
    await prove({ commands: [command('test -f b.txt')] });
    const clone = join(scene.directory, 'clone');
    scene.git('clone', '-q', '--branch', 'pulse/work', scene.repository, clone);
    const call = { cwd: clone, env: { PULSE_HOME: join(scene.directory, 'nowhere') } };
    const without = await scene.pulse(['verify', 'HEAD'], call);
    expect(without).toMatchObject({ code: 1, stdout: expect.stringContaining('it has no proof') });
    execFileSync('git', ['fetch', '-q', 'origin', `${PROOFS}:${PROOFS}`], { cwd: clone });
    // A clone's origin/HEAD is the branch that its origin has checked out: here it has to be named.
    const fresh = await scene.pulse(['verify', 'HEAD', '--base', 'origin/main'], call);
    expect(fresh.stdout).toContain('fresh: a known key has signed it');
    expect(fresh.code).toBe(0);
    expect(
      (await scene.pulse(['verify', 'pulse/work', '--base', 'origin/main', '--json'], call)).json[0],
    ).toMatchObject({
      verdict: 'fresh',
      commits: [{ checks: [{ command: 'test -f b.txt', verdict: 'fresh', again: { exit: 0 } }] }],
    });
    expect(existsSync(join(scene.directory, 'nowhere'))).toBe(false);
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: clone }).toString()).toBe('');
  });

  it('leaves sessions to those who have one, and finds commits beside them', async () => {
    await makeBranch();
    await prove();
    const agent = scene.agent('echo x > x; echo "<signal>COMPLETE</signal>"');
    const started = await scene.pulse([
      'start',
      'Ship',
      '--command',
      agent,
      '--verify',
      'test -f x',
      '--json',
    ]);
    const { id } = (started.json.at(-1) as unknown as { session: { id: string } }).session;
    const session = await scene.pulse(['verify', id, '--json']);
    expect(session.json[0]).toMatchObject({ verdict: 'fresh', session: { id } });
    expect((await scene.pulse(['verify', 'last'])).code).toBe(0);
    expect((await scene.pulse(['verify', 'pulse/work', '--json'])).json[0]).toMatchObject({
      verdict: 'fresh',
      what: 'pulse/work',
    });
    expect(await scene.pulse(['verify', 'abcd', '--json'])).toMatchObject({
      code: 2,
      json: [{ error: { code: 'not_found' } }],
    });
  });

  it('is exit 1 for what is false, stale, or signed by somebody unknown, and a key can be given', async () => {
    await makeBranch();
    await prove({ commands: [command('test -f never')] });
    const wrong = await scene.pulse(['verify', 'HEAD']);
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('exit 1, was exit 0') });
    commitFile('c.txt');
    expect(await scene.pulse(['verify', 'HEAD'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('stale: '),
    });
    const stranger = makeKey();
    const marker = join(scene.directory, 'ran');
    await prove({ commands: [command(`touch ${marker}`)], session: 'ses_\u001b[2J' }, stranger);
    const unknown = await scene.pulse(['verify', 'HEAD']);
    expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining('it is not run') });
    expect(unknown.stdout).not.toContain('\u001b');
    expect(existsSync(marker)).toBe(false);
    const file = join(scene.directory, 'stranger');
    writeFileSync(file, `${stranger.line}\n`);
    expect((await scene.pulse(['verify', 'HEAD', '--key', file, '--no-run'])).code).toBe(0);
    expect(existsSync(marker)).toBe(false);
    expect((await scene.pulse(['verify', 'HEAD', '--key', file])).code).toBe(0);
    expect(existsSync(marker)).toBe(true);
    expect((await scene.pulse(['verify', 'HEAD', '--key', join(scene.directory, 'none')])).code).toBe(2);
  });

  it('that is interrupted leaves nothing behind', async () => {
    await makeBranch();
    const marker = join(scene.directory, 'began');
    await prove({ commands: [command(`touch ${marker}; sleep 60`)] });
    const temporary = join(scene.directory, 'tmp');
    mkdirSync(temporary);
    const running = scene.start(['verify', 'HEAD'], { env: { TMPDIR: temporary } });
    await until('the command runs', () => existsSync(marker));
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(scene.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe('docs/proof.md', () => {
  it('says how a proof is checked by hand', async () => {
    await makeBranch();
    await prove();
    const clone = join(scene.directory, 'clone');
    scene.git('clone', '-q', scene.repository, clone);
    execFileSync('git', ['fetch', '-q', 'origin', `${PROOFS}:${PROOFS}`], { cwd: clone });
    await scene.pulse(['key', '--export', join(clone, 'pulse-key.pem')]);
    const page = readFileSync(join(import.meta.dirname, '../../docs/proof.md'), 'utf8');
    const [, script = ''] = /## By hand[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
    const said = execFileSync('bash', ['-ec', script], { cwd: clone, encoding: 'utf8' });
    expect(said).toContain('Signature Verified Successfully');
    const [, subject, commit, tree] = said.trim().split('\n').slice(-4);
    expect(JSON.parse(subject!)).toMatchObject([
      { digest: { gitCommit: commit } },
      { digest: { gitTree: tree } },
    ]);
    writeFileSync(join(clone, 'pulse-key.pem'), makeKey().publicKey.export({ type: 'spki', format: 'pem' }));
    expect(spawnSync('bash', ['-ec', script], { cwd: clone }).status).not.toBe(0);
  });
});

describe('examples/ci/pulse-proof.yml', () => {
  interface Job {
    env: Record<string, string>;
    steps: { name?: string; uses?: string; with?: Record<string, unknown>; run?: string }[];
  }
  const { jobs, permissions } = parse(
    readFileSync(join(import.meta.dirname, '../../examples/ci/pulse-proof.yml'), 'utf8'),
  ) as { jobs: { proof: Job }; permissions: Record<string, string> };

  /** The job for the branch as it is pushed now. The steps of others do what they say: check out, install. */
  function runJob(upstream: string): { code: number | null; output: string } {
    const head = scene.git('rev-parse', 'pulse/work');
    const known: Record<string, string> = {
      'github.base_ref': 'main',
      'github.event.pull_request.head.sha': head,
      'github.event.pull_request.head.repo.clone_url': upstream,
    };
    const clone = join(scene.directory, `job-${Math.random()}`);
    execFileSync('git', ['clone', '-q', upstream, clone]);
    execFileSync('git', ['checkout', '-q', '--detach', head], { cwd: clone });
    const bin = join(scene.directory, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'pulse'), `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
    const given = Object.entries(jobs.proof.env).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ (\S+) \}\}/g, (_, key: string) => known[key]!),
    ]);
    const env = {
      ...{ PATH: `${bin}:${process.env.PATH}`, HOME: join(scene.directory, 'runner') },
      ...Object.fromEntries(given),
    };
    let output = '';
    for (const { name, run } of jobs.proof.steps) {
      if (run === undefined || name === 'Install Pulse') continue;
      const step = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
        cwd: clone,
        env,
        encoding: 'utf8',
      });
      output += step.stdout + step.stderr;
      if (step.status !== 0) return { code: step.status, output };
    }
    return { code: 0, output };
  }

  async function publish(): Promise<string> {
    const upstream = join(scene.directory, 'upstream.git');
    if (!existsSync(upstream)) {
      scene.git('init', '-q', '--bare', '-b', 'main', upstream);
      scene.git('remote', 'add', 'origin', upstream);
    }
    scene.git('push', '-q', '--force', 'origin', 'main', 'pulse/work', `+${PROOFS}:${PROOFS}`);
    return upstream;
  }

  it('takes a pull request whose proof holds, and refuses it when work is added or another signs', async () => {
    await makeBranch();
    await prove({ commands: [command('test -f b.txt')] });
    expect(runJob(await publish())).toMatchObject({ code: 0, output: expect.stringContaining('fresh: ') });

    commitFile('by-hand.txt');
    expect(runJob(await publish())).toMatchObject({ code: 1, output: expect.stringContaining('stale: ') });

    const stranger = makeKey();
    writeFileSync(join(scene.repository, '.pulse/config.yaml'), `proof:\n  keys: [${stranger.line}]\n`);
    commitFile('c.txt', 'ses_1');
    await prove({ commands: [command('true')] }, stranger);
    expect(runJob(await publish())).toMatchObject({
      code: 1,
      output: expect.stringContaining('unknown key'),
    });
  });

  it('refuses a pull request without any proof, and one whose commands fail there', async () => {
    await makeBranch();
    await prove({ commands: [command('test -f never')] });
    const upstream = await publish();
    expect(runJob(upstream)).toMatchObject({ code: 1, output: expect.stringContaining('false: ') });
    execFileSync('git', ['update-ref', '-d', PROOFS], { cwd: upstream });
    expect(runJob(upstream).code).not.toBe(0);
  });

  it('has the whole history, few permissions, and no name of a branch in a script', () => {
    const { steps } = jobs.proof;
    expect(permissions).toEqual({ contents: 'read' });
    expect(steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))?.with).toMatchObject({
      'fetch-depth': 0,
    });
    expect(steps.find(({ name }) => name === 'Install Pulse')?.run).toBe('npm install --global pulse-loops');
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });
});
