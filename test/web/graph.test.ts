/** The graph of beads: drawn once, with its arrows; a large one as waves, and a bead among its neighbours. */
import { describe, expect, it } from 'vitest';
import { BROWSER, useWebScene } from './scene.ts';

const scene = useWebScene();

async function chain(epic: string, count: number): Promise<string> {
  const project_key = scene.repository;
  const lines = Array.from({ length: count }, (_, at) => ({
    ...{ id: `${epic}-${at}`, title: `Step ${at}`, files: [`${at}.txt`], verify: ['true'] },
    dependencies: at === 0 ? [] : [`${epic}-${Math.floor((at - 1) / 2)}`],
  }));
  const content = JSON.stringify({ epic: { id: epic, title: 'Steps' }, beads: lines });
  await scene.ask('POST', '/api/beads/import', { project_key, content, format: 'draft' });
  return `/project?path=${encodeURIComponent(project_key)}&tab=graph&epic=${epic}`;
}

describe.skipIf(!BROWSER)('the graph of beads', () => {
  it('is drawn once, with arrows, and opens a bead by the keyboard', async () => {
    const page = await scene.open(await chain('few', 5));
    const drawing = page.getByRole('region', { name: 'Drawing of the graph' });
    await drawing.getByRole('button', { name: 'Step 4 open, few-4, needs few-1' }).waitFor();
    expect(await page.getByText('Step 4').count()).toBe(1);
    expect(await drawing.locator('line[marker-end]').count()).toBe(4);
    await drawing.getByRole('button', { name: /^Step 2 / }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Bead few-2' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('radio', { name: 'List' }).check();
    await page.getByRole('heading', { name: 'Wave 3' }).waitFor();
    expect(await drawing.count()).toBe(0);
    await page.close();
  });

  it('begins as a list on a phone', async () => {
    const page = await scene.open(await chain('narrow', 3), { width: 390 });
    await page.getByRole('heading', { name: 'Wave 2' }).waitFor();
    expect(await page.getByRole('region', { name: 'Drawing of the graph' }).count()).toBe(0);
    await page.close();
  });

  it('of more than 150 beads is waves, and the chosen one among its neighbours', async () => {
    const page = await scene.open(await chain('many', 160));
    await page.getByText('160 beads: choose one').waitFor();
    const drawing = page.getByRole('region', { name: 'Drawing of the graph' });
    expect(await drawing.count()).toBe(0);
    await page.getByRole('button', { name: /Step 10\b.*needs many-4$/ }).click();
    await drawing.getByRole('button', { name: /^Step 21 / }).waitFor();
    expect(await drawing.getByRole('button').count()).toBe(4);
    await drawing.getByRole('button', { name: /^Step 21 / }).click();
    await drawing.getByRole('button', { name: /^Step 43 / }).waitFor();
    await page.close();
  });
});
