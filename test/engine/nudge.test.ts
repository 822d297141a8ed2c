/** A run that forgot its signal is asked for it, in the agent's own session where it has one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeScene } from './scene.ts';

/** Speaks as claude does: `answer` is what it says when its session is resumed. */
function fakeClaude(folder: string, { says, answer }: { says: string; answer: string }): string {
  const line = (value: object) => `printf '%s\\n' '${JSON.stringify(value)}'`;
  const result = (text: string, cost: number, tokens: number) =>
    line({
      ...{ type: 'result', subtype: 'success', is_error: false, result: text, session_id: 'own-session' },
      total_cost_usd: cost,
      usage: { input_tokens: tokens, output_tokens: tokens },
    });
  const file = join(folder, 'claude');
  writeFileSync(
    file,
    `#!/bin/sh
cat > /dev/null
echo "$@" >> ${folder}/calls
${line({ type: 'system', subtype: 'init', session_id: 'own-session', model: 'x', tools: [] })}
case "$*" in
*--resume*)
  echo scribble > scribble; echo more >> work; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine
  ${result(answer, 0.02, 1)} ;;
*) echo done > work; ${result(says, 0.1, 10)} ;;
esac
`,
    { mode: 0o755 },
  );
  return file;
}

async function scene(words: { says: string; answer: string }) {
  const made = await makeScene();
  made.environment.PULSE_AGENT_CLAUDE_BIN = fakeClaude(made.folder, words);
  const session = await made.pulse.start({
    ...{ goal: 'the goal', path: made.root, createdBy: 'cli', agent: 'claude' },
  });
  const ended = await made.run(session.session);
  const calls = readFileSync(join(made.folder, 'calls'), 'utf8').trim().split('\n');
  return { ...made, ended, calls };
}

describe('a run without a signal', () => {
  it('is asked once in its own session; what it then changes is thrown away, what it costs counts', async () => {
    const { ended, calls, sh, root, events } = await scene({
      says: 'All tests pass.',
      answer: 'Done.\n<signal>COMPLETE</signal>',
    });
    expect(ended).toMatchObject({ status: 'complete', current_iteration: 1, total_commits: 1 });
    expect(ended.spent_usd).toBeCloseTo(0.12);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toContain('--resume own-session');
    expect(sh(root, 'ls-tree', '--name-only', '-r', ended.branch_name)).not.toContain('scribble');
    expect(sh(root, 'show', `${ended.branch_name}:work`).trim()).toBe('done');
    const types = (await events(ended)).map(({ type }) => type);
    expect(types.filter((type) => type === 'iteration.nudged')).toHaveLength(1);
    const signal = (await events(ended)).find(({ type }) => type === 'signal.received');
    expect(signal?.data).toMatchObject({ signal: 'COMPLETE', source: 'explicit' });
  });

  it('that still says nothing blocks, and quotes what it said last', async () => {
    const { ended, calls, pulse } = await scene({
      says: 'I looked around.\n\nShall I use the old port or a new one?',
      answer: 'Hm.',
    });
    expect(calls).toHaveLength(2);
    expect(ended).toMatchObject({ status: 'blocked', stop_reason: 'no_signal' });
    expect(ended.blocked_reason).toContain('Shall I use the old port or a new one?');
    const [iteration] = (await pulse.show(ended.id)).iterations;
    expect(iteration).toMatchObject({
      signal: 'BLOCKED',
      signal_source: 'default',
      signal_rule: 'no_signal',
    });
  });

  it('is not asked where it is a command', async () => {
    const made = await makeScene();
    const ended = await made.startAndRun(`echo ran >> ${made.folder}/ran; echo "Hm."`);
    expect(ended).toMatchObject({ status: 'blocked', stop_reason: 'no_signal' });
    expect(readFileSync(join(made.folder, 'ran'), 'utf8')).toBe('ran\n');
    expect((await made.events(ended)).map(({ type }) => type)).not.toContain('iteration.nudged');
  });
});
