/** What a pulse's run is told: its scope, the plan, the rules, the run before it (docs/protocol/workflow.md, Kickoff). */
import { describe, expect, it } from 'vitest';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

/** The briefs of a unit's runs, in order. */
async function briefsOf({ pulse }: WorkflowScene, id: string, unit: string): Promise<string[]> {
  const { iterations } = await pulse.show(id);
  const numbers = iterations.filter((each) => each.unit === unit).map((each) => each.iteration_number);
  const briefs: string[] = [];
  for (const number of numbers.sort((a, b) => a - b))
    briefs.push((await pulse.showIteration(id, { number: number })).iteration.task_content ?? '');
  return briefs;
}

describe('a kickoff', () => {
  it('has the scope, the plan, a line for each other pulse and the rules, and nothing of their messages', async () => {
    await using scene = await createWorkflowScene();
    const { pulses } = plan('one', 'two');
    const id = await scene.start(
      {
        title: 'Greet people',
        approach: 'Plain files only.',
        pulses: pulses.map((each) => ({ ...each, expectedChanges: [`${each.id}.txt`] })),
        verify: [{ command: 'true', source: 'Build' }],
      },
      {
        scripts: {
          one: `echo 'a long talk of one'; echo 1 > one.txt\n${done('feat: the first', ['one.txt'])}`,
          two: `echo 2 > two.txt\n${done('feat: the second', ['two.txt'])}`,
        },
      },
    );
    await scene.drive(id);
    const [first] = await briefsOf(scene, id, 'one');
    const [second] = await briefsOf(scene, id, 'two');
    expect(second).toMatch(/^# Pulse two: Pulse two\n/);
    for (const part of [
      ...['Do two.', 'Plain files only.', '- two.txt', 'Greet people', 'run 1 of this pulse'],
      '- one (succeeded) Pulse one: feat: the first\n',
      // What to do, what not to do, and the quality that is expected.
      ...['only the changes that this pulse asks for', 'Read a file before you edit it', 'extension early'],
      ...['beyond the scope', 'TODOs or placeholders', 'name file and line', 'guess what a file holds'],
      ...['A pulse is a promise', 'correct, complete and boring to review'],
      ...['pulse_done', 'request_extension', '```sh\ntrue\n```'],
    ])
      expect(second).toContain(part);
    expect(first).toContain('- two (proposed) Pulse two\n');
    for (const part of ['a long talk of one', 'Do one.', 'Before this run', 'unresolvedIssues'])
      expect(second).not.toContain(part);
  });

  it.each(['auto', 'ask'] as const)(
    'of a run after an extension (%s) tells what it said',
    async (extensions) => {
      await using scene = await createWorkflowScene();
      const asked = JSON.stringify({
        reason: 'it is long',
        completed: ['the half'],
        remaining: ['the rest'],
      });
      const script = `if [ -f half ]; then echo r > rest; ${done('feat: all', ['half', 'rest'])}; else echo h > half; pulse tool request_extension '${asked}'; fi`;
      const id = await scene.start(plan('one'), { scripts: { one: script }, extensions });
      await scene.drive(id);
      if (extensions === 'ask') {
        await scene.pulse.workflow.decideExtension(id, { approve: true, actor: ACTOR });
        await scene.drive(id);
      }
      const [, second] = await briefsOf(scene, id, 'one');
      expect(second).toContain('run 2 of this pulse');
      expect(second).toContain('it is long\n\nCompleted:\n- the half\n\nRemaining:\n- the rest\n');
      expect(second).not.toMatch(/ended without pulse_done|answer stands above/);
    },
  );

  it('of a run after one that ended without a word tells that', async () => {
    await using scene = await createWorkflowScene();
    const script = `if [ -f half ]; then ${done('feat: half', ['half'])}; else echo h > half; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    await scene.drive(id);
    const [, second] = await briefsOf(scene, id, 'one');
    expect(second).toContain('ended without pulse_done or request_extension');
  });

  it('of a run after a question has the answer, and says of none that there is one', async () => {
    await using scene = await createWorkflowScene();
    const { path } = scene.scratch;
    const script = `echo x >> tries; if [ "$(wc -l < tries)" = 3 ]; then ${done('feat: tries', ['tries'])}; else echo '<signal>BLOCKED: which?</signal>'; touch ${path}/asked; fi`;
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    await scene.drive(id);
    await scene.pulse.resume(id, { actor: ACTOR });
    await scene.drive(id);
    await scene.pulse.resume(id, { actor: ACTOR, answer: 'The blue one.' });
    await scene.drive(id);
    const [, second, third] = await briefsOf(scene, id, 'one');
    expect(second).toContain('ended before it was done. Its work');
    expect(third).toContain('The blue one.');
    expect(third).toContain('the answer is above');
  });
});
