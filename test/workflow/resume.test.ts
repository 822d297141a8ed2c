/** Which session of its own an agent goes on with when a pulse's run is tried again, and what it is charged for. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

const EXTENSION = JSON.stringify({ reason: 'long', completed: ['half'], remaining: ['rest'] });
const EXTEND = `echo x >> work; pulse tool request_extension '${EXTENSION}' > /dev/null`;
const FINISH = `echo x >> work; ${done('feat: work', ['work'])}`;

/** Ends a turn of codex, which counts from its thread's beginning. */
const completed = (tokens: number) =>
  `echo '{"type":"turn.completed","usage":{"input_tokens":${tokens},"cached_input_tokens":0,"output_tokens":0}}'`;
const failed = (message: string) => {
  const line = JSON.stringify({ type: 'turn.failed', error: { message } });
  return `echo '${line.replaceAll("'", "'\\''")}'; exit 1`;
};

/** A codex of the shell: each start says how it was started and plays the next script. Its thread is told first. */
function codex({ scratch }: WorkflowScene, runs: readonly string[]): string {
  const cases = runs.map((script, index) => `${index + 1})\n${script}\n;;`);
  return scratch.file(
    'codex',
    `#!/bin/sh
cat > /dev/null
OUT='${scratch.path}'
thread=$(echo "$*" | sed -n 's/.* resume \\([^ ]*\\) -$/\\1/p')
echo "codex \${thread:-new}" >> "$OUT/starts"
count=$(grep -c codex "$OUT/starts")
echo '{"type":"thread.started","thread_id":"'\${thread:-thread-$count}'"}'
case $count in
${cases.join('\n')}
esac
`,
  );
}

/** A claude of the shell with one script; what it spent is told at its end. */
function claude({ scratch }: WorkflowScene, script: string, tokens: number): string {
  const result = `{"type":"result","subtype":"success","is_error":false,"result":"So far.","usage":{"input_tokens":${tokens},"output_tokens":0}}`;
  return scratch.file(
    'claude',
    `#!/bin/sh
cat > /dev/null
case "$*" in *--resume*) echo 'claude resumed' ;; *) echo 'claude new' ;; esac >> '${scratch.path}/starts'
echo '{"type":"system","subtype":"init","session_id":"of-claude","model":"m"}'
${script}
echo '${result}'
`,
  );
}

async function start({ pulse, scratch }: WorkflowScene): Promise<string> {
  const { session } = await pulse.workflow.start({
    plan: plan('one'),
    path: scratch.repository,
    agent: 'codex',
    createdBy: 'cli',
    actor: ACTOR,
    isApproved: true,
  });
  return session.id;
}

async function drive(scene: WorkflowScene, id: string) {
  const view = await scene.drive(id);
  const starts = readFileSync(join(scene.scratch.path, 'starts'), 'utf8').trim().split('\n');
  return { ...view, starts };
}

describe('a run that goes on with the agent’s own session, and fails', () => {
  it.each([
    ['because the context is too long', failed("Codex ran out of room in the model's context window.")],
    ['because that session is gone', 'exit 1'],
  ])('%s, is tried again with a new one', async (_, fails) => {
    await using scene = await createWorkflowScene();
    scene.environment.PULSE_AGENT_CODEX_BIN = codex(scene, [
      `${EXTEND}; ${completed(100)}`,
      fails,
      `${FINISH}; ${completed(40)}`,
    ]);
    const { starts, pulses, session } = await drive(scene, await start(scene));
    expect(starts).toEqual(['codex new', 'codex thread-1', 'codex new']);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 2 }]);
    expect(session.total_tokens_used).toBe(140);
  });

  it('because its service does, is tried again with the same one, and nothing is charged twice', async () => {
    await using scene = await createWorkflowScene();
    scene.environment.PULSE_AGENT_CODEX_BIN = codex(scene, [
      `${EXTEND}; ${completed(100)}`,
      `${completed(300)}; ${failed('unexpected status 429')}`,
      `${EXTEND}; ${completed(350)}`,
      `${FINISH}; ${completed(360)}`,
    ]);
    const { starts, pulses, session } = await drive(scene, await start(scene));
    expect(starts).toEqual(['codex new', 'codex thread-1', 'codex thread-1', 'codex thread-1']);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 3 }]);
    expect(session.total_tokens_used).toBe(360);
  });
});

it('a run that was interrupted is done again with a new session: what that one spent is not known', async () => {
  await using scene = await createWorkflowScene();
  const { scratch, pulse, environment } = scene;
  environment.PULSE_AGENT_CODEX_BIN = codex(scene, [
    `${EXTEND}; ${completed(100)}`,
    'touch "$OUT/at-work"; exec sleep 60',
    `${FINISH}; ${completed(40)}`,
  ]);
  const id = await start(scene);
  const stop = new AbortController();
  const running = pulse.run(id, stop.signal);
  await until(() => existsSync(join(scratch.path, 'at-work')));
  stop.abort();
  await running;
  const { starts, pulses, session } = await drive(scene, id);
  expect(starts).toEqual(['codex new', 'codex thread-1', 'codex new']);
  expect(pulses).toMatchObject([{ status: 'succeeded', runs: 2 }]);
  expect(session.total_tokens_used).toBe(140);
});

describe('after another agent took over', () => {
  async function prepare(scene: WorkflowScene): Promise<void> {
    const { scratch, environment } = scene;
    environment.PULSE_AGENT_CODEX_BIN = codex(scene, [
      `${EXTEND}; ${completed(100)}`,
      failed('You’ve hit your usage limit.'),
      `${FINISH}; ${completed(40)}`,
    ]);
    environment.PULSE_AGENT_CLAUDE_BIN = claude(scene, EXTEND, 500);
    await writeTrustedConfig(scratch.repository, { text: 'fallbackAgent: claude\n', environment });
  }

  it('the next run goes on with nobody’s session, and all is charged', async () => {
    await using scene = await createWorkflowScene();
    await prepare(scene);
    const { starts, pulses, session } = await drive(scene, await start(scene));
    expect(starts).toEqual(['codex new', 'codex thread-1', 'claude new', 'codex new']);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 3 }]);
    expect(session.total_tokens_used).toBe(640);
  });

  it('and Pulse ended before that run was settled, it is still the other agent’s', async () => {
    const stop = new AbortController();
    let recorded = 0;
    await using scene = await createWorkflowScene({
      trace: (point) => {
        if (point === 'record_run:after' && ++recorded === 3) stop.abort();
      },
    });
    await prepare(scene);
    const id = await start(scene);
    await scene.pulse.run(id, stop.signal);
    expect((await scene.pulse.workflow.rows(id)).pulses).toMatchObject([{ agent_session_id: 'thread-1' }]);
    const { starts, pulses } = await drive(scene, id);
    expect(starts).toEqual(['codex new', 'codex thread-1', 'claude new', 'codex new']);
    expect(pulses).toMatchObject([{ status: 'succeeded', runs: 3 }]);
  });
});
