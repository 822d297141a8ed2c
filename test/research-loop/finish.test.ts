/** What becomes of findings: the session's file at the end, the report, and the three forms of finish. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { type SessionFile, sessionFileSchema } from '../../src/loops/research/report/session-file.ts';
import { createPulse } from '../../src/pulse.ts';
import { runner } from '../crash/kill-suite.ts';
import { useScene } from '../e2e/scene.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { idea, prepareLab, research, startResearch, tell } from './lab.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const PERSON = { actor: 'cli:ann' };
const CONTENT = { strategy: ['make it cheaper', 'use a cache'], guard: 'true' };
const IDEAS = { 'exp-1': idea('make it cheaper', 90), 'exp-2': idea('dearer', 95) };

const own = (scratch: Scratch, id: string, extension: string): string =>
  join(scratch.repository, '.context/research-sessions', `${id}.${extension}`);

/** Strict: no field more, none less. */
function sessionFile(scratch: Scratch, id: string): SessionFile {
  const content = JSON.parse(readFileSync(own(scratch, id, 'json'), 'utf8')) as SessionFile;
  const file = sessionFileSchema.strict().parse(content);
  expect(file).toEqual(content);
  return file;
}

describe('a session that has ended', () => {
  it('has every field of its file, the findings and the next steps among them, and its report beside it', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, { iterations: 2, content: CONTENT, scripts: IDEAS });
    expect(sessionFile(scratch, session.id)).toMatchObject({
      id: session.id,
      status: 'researching',
      goal: 'Lower the cost',
      metric: {
        name: 'cost',
        direction: 'lower',
        verifyCommand: './measure.sh',
        baseline: 100,
        final: 90,
        target: null,
      },
      scope: { inScope: ['src/**'], readOnly: [], outOfScope: [] },
      plan: '.context/autoresearch-plan.md',
      findings: expect.stringContaining('cost: 100 → 90 (-10) in 2 experiments.'),
      nextSteps: ['Make ready to merge: make it cheaper', 'Try what the plan named: use a cache'],
      implementation: null,
      createdAt: session.created_at,
      workingDirectory: scratch.repository,
      tags: ['autoresearch', 'cost'],
    });
    const html = readFileSync(own(scratch, session.id, 'html'), 'utf8');
    expect(html).toContain('<title>Autoresearch Complete: Lower the cost</title>');
    expect(html).toContain('make it cheaper');
    expect(scratch.git('status', '--porcelain')).toBe('');
  }, 60_000);
});

describe('show_report', () => {
  it('writes the report so far from inside a run, in the agent’s own words, and the loop goes on', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const words = JSON.stringify({ title: 'Half <way>', summary: '## Results & more' });
    const { session, experiments } = await research(pulse, scratch, {
      scripts: {
        'exp-1': idea('cheaper', 90),
        'exp-2': `${tell('blocked')}\npulse tool show_report '${words}' > "${scratch.path}/answer"\necho "<signal>BLOCKED: enough?</signal>"`,
      },
    });
    expect(session.status).toBe('blocked');
    expect(experiments).toHaveLength(2);
    const path = own(scratch, session.id, 'html');
    expect(JSON.parse(readFileSync(join(scratch.path, 'answer'), 'utf8'))).toMatchObject({
      ok: true,
      output: `The report is in ${path}`,
    });
    const html = readFileSync(path, 'utf8');
    expect(html).toContain('<title>Half &lt;way&gt;</title>');
    expect(html).toContain('<pre>## Results &amp; more</pre>');
  }, 60_000);

  it('is not there before the baseline', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const id = await startResearch(pulse, scratch, { scripts: {} });
    const early = { code: 'invalid_transition', message: expect.stringContaining('nothing to report yet') };
    await expect(pulse.research.report(id)).rejects.toMatchObject(early);
    await expect(pulse.research.writeReport(id)).rejects.toMatchObject(early);
    expect(existsSync(own(scratch, id, 'html'))).toBe(false);
  });
});

describe('finish --implement', () => {
  it.each([
    ['SQLite', null],
    ['PostgreSQL', null],
    ['SQLite', 'end:after'],
    ['SQLite', 'write_files:before'],
  ])(
    'makes beads and a swarm on what was kept; its end completes the file (%s, killed at %s)',
    async (store, where) => {
      using scratch = createScratch();
      if (store === 'PostgreSQL') scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
      prepareLab(scratch);
      await using pulse = await createPulse({ environment: scratch.environment });
      const done = `pulse tool bead_done '{"summary":"make it ready"}' > /dev/null`;
      const scripts = { ...IDEAS, 'research-*': `echo "# $PULSE_UNIT" >> src/cost; ${done}` };
      const { session } = await research(pulse, scratch, { iterations: 2, content: CONTENT, scripts });
      const implement = { how: 'implement' as const, ...PERSON };
      // Workers need what `pulse init` writes; until then nothing is made.
      await expect(pulse.research.finish(session.id, implement)).rejects.toMatchObject({
        code: 'invalid_config',
        hint: expect.stringContaining('pulse init'),
      });
      const project_key = scratch.repository;
      expect((await pulse.bead.list({ project_key })).beads).toEqual([]);
      const found = { git: '2', worktrees: true, agents: [], sandbox: false };
      await writeOnboarding(project_key, { at: '2026-01-01T00:00:00.000Z', found });

      const finished = await pulse.research.finish(session.id, implement);
      const { epic, beads, swarm } = finished.implementation!;
      expect([beads, finished.started?.id]).toEqual([2, swarm]);
      expect(finished.research).toMatchObject({ phase: 'implementing', finished_by: 'cli:ann' });
      expect((await pulse.show(session.id)).session).toEqual(session);
      expect(sessionFile(scratch, session.id)).toMatchObject({
        status: 'implementing',
        implementation: `2 beads of the epic ${epic}, by the swarm ${swarm}`,
      });
      await expect(pulse.research.finish(session.id, implement)).rejects.toMatchObject({
        code: 'invalid_transition',
        message: expect.stringContaining(swarm),
      });

      if (where !== null) {
        expect(await runner(scratch, swarm, { where, count: where === 'end:after' ? 2 : 1 })).toBe('SIGKILL');
        expect(await runner(scratch, swarm)).toBe(0);
      } else await pulse.run(swarm, new AbortController().signal);
      const { session: built, beads: closed } = await pulse.swarm.show(swarm);
      expect(built, built.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 2 });
      expect(closed.map(({ status }) => status)).toEqual(['closed', 'closed']);
      expect(scratch.git('show', `${built.branch_name}:src/cost`)).toContain('echo 90');
      expect(sessionFile(scratch, session.id)).toMatchObject({
        status: 'complete',
        implementation: `2 commits on ${built.branch_name}, by the swarm ${swarm}`,
      });
      expect((await pulse.show(session.id)).session).toEqual(session);
    },
    120_000,
  );

  it('is refused where nothing was found, and while the session is still at it', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const pending = await startResearch(pulse, scratch, { scripts: {} });
    const implement = { how: 'implement' as const, ...PERSON };
    await expect(pulse.research.finish(pending, implement)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: expect.stringContaining('still at it'),
    });
    const { session } = await research(pulse, scratch, {
      iterations: 1,
      scripts: { 'exp-1': idea('dearer', 120) },
    });
    await expect(pulse.research.finish(session.id, implement)).rejects.toMatchObject({
      code: 'invalid_transition',
      message: expect.stringContaining('nothing to implement'),
      hint: expect.stringContaining('--done'),
    });
    expect(sessionFile(scratch, session.id)).toMatchObject({ status: 'researching', implementation: null });
  }, 60_000);

  it('is taken back by going on: the session researches again', async () => {
    using scratch = createScratch();
    prepareLab(scratch);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await research(pulse, scratch, {
      iterations: 2,
      scripts: {
        'exp-1': idea('cheaper', 90),
        'exp-2': `if [ -e "${scratch.path}/answered" ]; then\n${idea('cheaper still', 80)}\nelse\necho "<signal>BLOCKED: which?</signal>"\nfi`,
      },
    });
    await pulse.research.finish(session.id, { how: 'pause', ...PERSON });
    expect(sessionFile(scratch, session.id).status).toBe('paused');
    scratch.file('answered', '');
    await pulse.resume(session.id, { ...PERSON, answer: 'that one' });
    await pulse.run(session.id, new AbortController().signal);
    expect(sessionFile(scratch, session.id)).toMatchObject({ status: 'researching', metric: { final: 80 } });
  }, 60_000);
});

describe('pulse research finish', () => {
  const scene = useScene();

  it.each([[[]], [['--done', '--pause']], [['--implement', '--done']]])(
    'needs exactly one of its flags, not %j',
    async (flags) => {
      const { code, stderr } = await scene.pulse(['research', 'finish', 'ses_0', ...flags]);
      expect(code).toBe(2);
      expect(stderr).toContain('needs one of --implement, --pause, --done');
    },
  );

  it('is not for an agent inside a run', async () => {
    const { code, stderr } = await scene.pulse(['research', 'finish', 'ses_0', '--done'], {
      env: { PULSE_RUN_ID: 'run_1' },
    });
    expect(code).toBe(2);
    expect(stderr).toContain('is for people');
  });

  it('comes after a status every five experiments and the closing words, and prints how to go on', async () => {
    const file = {
      goal: 'Lower the cost',
      metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat a.txt | wc -c' },
      scope: { inScope: ['a.txt'] },
    };
    writeFileSync(join(scene.directory, 'research.yaml'), JSON.stringify(file));
    const agent = scene.agent(
      'echo "Idea $PULSE_UNIT"; [ "$PULSE_UNIT" = exp-2 ] && : > a.txt || echo "$PULSE_UNIT" >> a.txt',
    );
    const start = [
      'research',
      'start',
      join(scene.directory, 'research.yaml'),
      '--iterations',
      '6',
      '--command',
      agent,
    ];
    const { code, stdout, stderr } = await scene.pulse(start);
    expect(code, stderr).toBe(0);
    expect(stderr.match(/^Iteration \d+: metric.*$/gm)).toEqual([
      'Iteration 5: metric at 0, 1 keeps / 4 discards',
    ]);
    expect(stdout).toContain(
      '=== Autoresearch Complete (6/6 iterations) ===\nBaseline: 2 -> Final: 0 (-2)\nKeeps: 1 | Discards: 5 | Crashes: 0\nBest iteration: #2 — Idea exp-2\n',
    );
    const [session] = (await scene.pulse(['list', '--json'])).json[0]!.sessions as unknown as {
      id: string;
    }[];
    const log = await scene.pulse(['log', session!.id]);
    expect(log.stdout).toContain('Iteration 5: metric at 0, 1 keeps / 4 discards');
    const finish = ['research', 'finish', session!.id, '--implement'];
    const early = await scene.pulse(finish);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('pulse init')]);
    await scene.pulse(['init']);
    const finished = await scene.pulse(finish);
    expect(finished.code, finished.stderr).toBe(0);
    const [, swarm] = new RegExp(`^${session!.id}: implementing\npulse watch (ses_\\S+)\n$`).exec(
      finished.stdout,
    )!;
    // Its runner is there already, and takes the first bead.
    await scene.pulse(['swarm', 'stop', swarm!]);
    expect((await scene.pulse(['watch', swarm!])).code).toBe(4);
  }, 90_000);
});
