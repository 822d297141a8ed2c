/** Research on the page: a plot that can be read, rows of one line, and as many of them as there are. */
import { describe, expect, it } from 'vitest';
import { BROWSER, settled, useWebScene } from './scene.ts';

const scene = useWebScene();

/** One experiment helps, one is absurd, one breaks what measures it. */
async function researched(): Promise<string> {
  const { sessionId: id } = await scene.ask('POST', '/api/research', {
    projectPath: scene.repository,
    research: {
      goal: 'A shorter README',
      metric: {
        name: 'bytes',
        direction: 'lower',
        verifyCommand: 'if test -e broken; then seq 1 60 >&2; exit 1; fi; wc -c < README.md',
      },
      scope: { inScope: ['README.md', 'broken'] },
    },
    iterations: 7,
    command:
      'cat > /dev/null; case $PULSE_ITERATION in 3) seq 1 90000 >> README.md;; 4) touch broken;; *) head -c -3 README.md > x; cat x > README.md; rm x;; esac; echo "Try $PULSE_ITERATION."',
  });
  await scene.waitFor(id, 'complete');
  return id;
}

describe.skipIf(!BROWSER)('research on the page', () => {
  it('puts an absurd reading at the edge of the plot, folds failures, and fits a phone', async () => {
    const id = await researched();
    const page = await scene.open(`/r/${id}`, { width: 390 });
    await settled(page);
    await page.getByText('beyond the plot:').waitFor();
    await page.getByText('7 of 7 experiments').waitFor();
    const table = page.getByRole('table', { name: 'Experiments' });
    const height = (await table.getByRole('row').filter({ hasText: 'crash' }).first().boundingBox())!.height;
    expect(height).toBeLessThan(120);
    const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    expect(isWide).toBe(false);
    const region = page.getByRole('region', { name: 'All experiments' });
    expect(await region.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true);
    await page.getByText('The plot as a table').click();
    const points = page.getByRole('table', { name: 'bytes over the experiments' }).getByRole('row');
    await points.first().waitFor();
    expect(await points.count()).toBe(9);
    await page.close();
  });

  it('shows ten thousand experiments by pages', async () => {
    const id = await researched();
    const page = await scene.open('/');
    await page.route(`**/api/research/${id}`, async (route) => {
      const view = await (await route.fetch()).json();
      const [one] = view.experiments;
      const experiments = Array.from({ length: 10_000 }, (_, index) => ({ ...one, number: index + 1 }));
      await route.fulfill({ json: { ...view, experiments } });
    });
    await page.goto(`${scene.url}/r/${id}`);
    const table = page.getByRole('table', { name: 'Experiments' });
    await table.getByRole('cell', { name: '10000', exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBe(101);
    expect(await table.getAttribute('aria-rowcount')).toBe('10001');
    await page.getByRole('button', { name: 'Older' }).click();
    await table.getByRole('cell', { name: '9900', exact: true }).waitFor();
    await page.close();
  });
});
