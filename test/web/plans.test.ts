/** Plans on the page: rejected, edited as YAML, compared with what they were, taken along. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../web/api/types.ts';
import { diffLines, planDiff } from '../../web/workflow/plan-diff.ts';
import { pulseWord } from '../../web/workflow/pulses.tsx';
import { pulsesDone } from '../../web/workflow/workflow-part.tsx';
import { BROWSER, useWebScene } from './scene.ts';

const scene = useWebScene();

const PLAN = {
  title: 'Write by plan',
  pulses: [{ id: 'one', title: 'The first', description: 'Write a file.' }],
  verify: [{ command: 'true', source: 'Test' as const }],
};
const EDITED = `title: Write by plan
pulses:
  - id: one
    title: The first
    description: Write another file.
verify:
  - { command: 'true', source: Test }
`;

async function waiting(): Promise<string> {
  const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
    projectPath: scene.repository,
    plan: PLAN,
    command: `cat > /dev/null; echo x > "$PULSE_UNIT.txt"; pulse tool pulse_done '{"summary": "feat: x", "filesChanged": []}'`,
  });
  await scene.waitFor(id, 'blocked');
  return id;
}

describe.skipIf(!BROWSER)('a plan on the page', () => {
  it('is rejected, which ends the workflow', async () => {
    const id = await waiting();
    const page = await scene.open(`/w/${id}`);
    await page.getByRole('button', { name: 'Reject plan' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reject plan' });
    await dialog.getByRole('button', { name: 'Reject and end' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('aborted', { exact: true }).waitFor();
    await page.close();
  });

  it('is edited as YAML, shows what the edit has changed, and is taken along', async () => {
    const id = await waiting();
    const page = await scene.open(`/w/${id}`);
    await page.getByRole('button', { name: 'Edit plan' }).click();
    await page.getByRole('group', { name: 'Pulse 1' }).getByLabel('Title').fill('The only one');
    await page.getByText('What you change').click();
    await page.getByText('title: The only one').waitFor();
    await page.getByRole('button', { name: 'Edit all of it as text' }).click();
    const text = page.getByRole('textbox', { name: 'Plan, as YAML or JSON' });
    await text.fill('title: [');
    await page.getByRole('button', { name: 'Approve edited plan' }).click();
    await page.getByText('neither YAML nor JSON').first().waitFor();
    await text.fill(EDITED);
    await page.getByRole('button', { name: 'Approve edited plan' }).click();
    await page.getByRole('list', { name: 'Pulses' }).waitFor();
    await page.getByText('0 of 1 done').or(page.getByText('1 of 1 done')).first().waitFor();
    await page.getByRole('heading', { name: /^Plan v1, 1 pulse/ }).click();
    await page.getByText('Diff to the draft').click();
    await page.getByText('description: Write a file.').waitFor();
    await page.getByText('description: Write another file.').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download plan' }).click();
    const plan = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
    expect(plan.pulses[0].description).toBe('Write another file.');
    await page.close();
  });
});

describe('the diff of a plan', () => {
  it('has the lines that differ, and no others', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([' a', '-b', '+x', ' c', '+d']);
    const after: Plan = {
      ...PLAN,
      pulses: [...PLAN.pulses, { id: 'two', title: 'More', description: 'M\nN' }],
    };
    const { patch, added, removed } = planDiff(PLAN, after);
    expect([added, removed]).toEqual([4, 0]);
    expect(patch).toMatch(/^@@ -1,5 \+1,9 @@\n title: Write by plan\n/);
    expect(patch).toContain('+pulse two\n+  title: More\n+  description: M\n+    N\n');
  });
});

describe('the number of pulses', () => {
  it('is of those that are planned, each by its newest run', () => {
    const of = (plannedPulseId: string, status: 'succeeded' | 'failed' | 'proposed') => ({
      plannedPulseId,
      status,
    });
    const pulses = [of('a', 'failed'), of('b', 'succeeded'), of('a', 'succeeded'), of('c', 'proposed')];
    expect(pulsesDone(pulses)).toBe('2 of 3 done');
  });
});

describe('a pulse', () => {
  it('waits while its session does, and is called running by nobody', () => {
    expect(pulseWord({ status: 'running' }, { status: 'running' })).toBe('running');
    expect(pulseWord({ status: 'running' }, { status: 'blocked' })).toBe('waiting');
    expect(pulseWord({ status: 'running' }, { status: 'failed' })).toBe('waiting');
    expect(pulseWord({ status: 'succeeded' }, { status: 'failed' })).toBe('succeeded');
  });
});
