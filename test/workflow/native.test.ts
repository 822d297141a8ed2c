/** The native agent's tools are Pulse's own, so its calls are counted where they are made. */
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScene } from '../engine/scene.ts';
import { type ModelServer, type Step, startModelServer } from '../fakes/model-server/index.ts';
import {
  badModule,
  FAULTY_CHECKS,
  FAULTY_FILES,
  goodModule,
  PROGRAMS,
  TYPE_CHECK,
} from '../fakes/old-faults.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const call = (tool: string, input: Record<string, unknown>): Step => ({ calls: [{ tool, input }] });
const over: Step = { text: 'That is all.' };
const unresolvedIssues = [{ issue: 'leave has the wrong type', reason: 'a person must choose one' }];
const leave = { summary: 'feat: leave', filesChanged: ['src/leave.ts'] };

const SCRIPTS: Step[][] = [
  [
    call('write_file', { path: 'src/greet.ts', content: badModule('greet') }),
    // Not read before: a failed call that is not repeated with success.
    call('edit_file', { path: 'tsconfig.json', oldString: 'strict', newString: 'loose' }),
    call('pulse_done', { summary: 'Greets', filesChanged: [] }),
    call('write_file', { path: 'src/greet.ts', content: goodModule('greet') }),
    // It fails, and shows only what the baseline knows. Longer than a line, so its key is not all of it.
    call('shell', { command: `${TYPE_CHECK} # ${'x'.repeat(300)}` }),
    call('read_file', { path: 'tsconfig.json' }),
    call('edit_file', {
      path: 'tsconfig.json',
      oldString: '"strict"',
      newString: '"noImplicitAny": true, "strict"',
    }),
    call('pulse_done', { summary: 'feat: greet', filesChanged: ['src/greet.ts', 'tsconfig.json'] }),
    over,
  ],
  [
    call('write_file', { path: 'src/leave.ts', content: badModule('leave') }),
    call('pulse_done', leave),
    call('pulse_done', leave),
    call('pulse_done', { ...leave, unresolvedIssues }),
    over,
  ],
];

it('finishes a workflow with its own tools, refused with every reason on the way', async () => {
  let run = 0;
  const url = server.script('native-workflow', []);
  const scene = await makeScene({
    repo: { files: FAULTY_FILES },
    environment: { ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: url },
    trace: (point) => {
      if (point === 'run_agent:before') server.script('native-workflow', SCRIPTS[run++]!);
    },
  });
  scene.environment.PATH = `${dirname(process.execPath)}:${PROGRAMS}:${scene.environment.PATH}`;
  const { session } = await scene.pulse.workflow.start({
    plan: {
      title: 'Greet and leave',
      pulses: ['greet', 'leave'].map((id) => ({ id, title: id, description: `Do ${id}.` })),
      verify: FAULTY_CHECKS,
      preflight: [],
    },
    path: scene.root,
    agent: 'native',
    model: 'anthropic/a-model',
    createdBy: 'cli',
    actor: 'test',
    isApproved: true,
  });
  const halted = await scene.run(session);
  expect(halted, halted.blocked_reason ?? '').toMatchObject({ stop_reason: 'unresolved_issues' });
  const { pulses } = await scene.pulse.workflow.rows(session.id);
  expect(pulses).toMatchObject([
    { status: 'succeeded', rejections: 1 },
    { status: 'succeeded', rejections: 2, has_unresolved_issues: 1 },
  ]);
  const rejected = (await scene.events(session)).filter(({ type }) => type === 'pulse.rejected');
  expect(rejected[0]!.data.reasons).toEqual([
    expect.stringContaining('Conventional Commit'),
    expect.stringContaining('missing: src/greet.ts'),
    expect.stringContaining('TS2322'),
    expect.stringContaining('edit_file tsconfig.json'),
  ]);
  await scene.pulse.resume(session.id, { actor: 'test' });
  expect(await scene.run(session)).toMatchObject({ stop_reason: 'approval_required' });
  await scene.pulse.workflow.review(session.id, { approve: true, merge: 'ff', actor: 'test' });
  expect(await scene.run(session)).toMatchObject({ status: 'complete' });
  expect(scene.sh(scene.root, 'log', '--format=%s', '-2', 'main').split('\n')).toEqual([
    'feat: leave',
    'feat: greet',
  ]);
}, 120_000);
