/** A review through the page: its draft, on every device and until it is decided, and its lines under a finger. */
import { describe, expect, it } from 'vitest';
import { BROWSER, eventually, PATIENCE_MS, useWebScene } from './scene.ts';

const scene = useWebScene();
const PHONE = { width: 390 };

/** A workflow that waits for its review: a file of twelve lines, of which three are new. */
async function reviewed(name: string): Promise<string> {
  const file = `${name}.txt`;
  const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
    projectPath: scene.repository,
    plan: {
      title: `Write ${name}`,
      pulses: [{ id: 'one', title: 'The first', description: 'Write.' }],
      verify: [{ command: 'true', source: 'Test' }],
    },
    approve: true,
    command: `cat > /dev/null; n=$PULSE_ITERATION; seq 1 3 >> README.md; seq $n 12 > ${file}; pulse tool pulse_done "{\\"summary\\": \\"feat: write\\", \\"filesChanged\\": [\\"${file}\\", \\"README.md\\"]}"`,
  });
  await scene.waitFor(id, 'blocked');
  return id;
}

const draftOf = async (id: string) => (await scene.ask('GET', `/api/workflows/${id}/draft`)).draft;

describe.skipIf(!BROWSER)('a review on the page', () => {
  it('is kept for other devices, without a text and with one', async () => {
    const id = await reviewed('devices');
    const page = await scene.open(`/w/${id}/review`);
    await page.getByRole('checkbox', { name: 'Viewed' }).last().check();
    await eventually(async () => (await draftOf(id))?.viewed).toEqual(['devices.txt']);
    await page
      .getByRole('button', { name: /^Comment on README\.md line \d+$/ })
      .last()
      .click();
    await page.getByRole('textbox', { name: /^Comment on line/ }).fill('Why here?');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await eventually(async () => (await draftOf(id))?.comments.length).toBe(1);

    const phone = await scene.open(`/w/${id}/review`, PHONE);
    await phone.getByText('Why here?').waitFor();
    await phone.getByText('viewed 1/2').waitFor();
    await phone.getByRole('textbox', { name: 'What is missing' }).fill('A reason.');
    await eventually(async () => (await draftOf(id))?.text).toBe('A reason.');
    await eventually(() => page.getByRole('textbox', { name: 'What is missing' }).inputValue()).toBe(
      'A reason.',
    );
    await Promise.all([page.close(), phone.close()]);
  });

  it('sends its comments from the page of the workflow, too', async () => {
    const id = await reviewed('elsewhere');
    const page = await scene.open(`/w/${id}/review`);
    await page.getByRole('button', { name: 'Comment on elsewhere.txt line 3', exact: true }).click();
    await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('Why three?');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByRole('link', { name: 'Back to the workflow' }).click();
    await page.getByRole('list', { name: 'Comments on lines' }).getByText('Why three?').waitFor();
    await page.getByRole('textbox', { name: 'What is missing' }).fill('A reason.');
    await page.getByRole('button', { name: 'Reject with 1 comment' }).click();
    await eventually(async () => {
      const { pulses } = await scene.ask('GET', `/api/workflows/${id}`);
      return pulses[1]?.comments;
    }).toBe('A reason.\n\n- "elsewhere.txt", line 3: Why three?');
    await page.close();
  });

  it('begins anew after a decision, also after one that was made elsewhere', async () => {
    const id = await reviewed('anew');
    const page = await scene.open(`/w/${id}/review`);
    await page.getByRole('button', { name: 'Comment on anew.txt line 3', exact: true }).click();
    await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('Why three?');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await eventually(async () => (await draftOf(id))?.comments.length).toBe(1);
    await scene.ask('POST', `/api/workflows/${id}/review`, { reject: 'From another device.' });
    await eventually(async () => (await scene.ask('GET', `/api/workflows/${id}`)).pulses.length).toBe(2);
    await scene.waitFor(id, 'blocked');
    await page.getByRole('button', { name: 'Reject', exact: true }).waitFor();
    await page.goto(`${scene.url}/w/${id}/review`);
    await page.getByRole('button', { name: 'Reject', exact: true }).waitFor();
    await page.getByText('viewed 0/2').waitFor();
    expect(await page.getByText('Why three?').count()).toBe(0);
    expect(await draftOf(id)).toBeNull();
    await page.close();
  });

  it('says so when Pulse does not keep what was written, and keeps it here', async () => {
    const id = await reviewed('unkept');
    const page = await scene.open(`/w/${id}/review`);
    await page.route('**/draft', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 503, json: { error: { code: 'disk_full', message: 'The disk is full.' } } })
        : route.continue(),
    );
    await page.getByRole('textbox', { name: 'What is missing' }).fill('A reason.');
    await page.getByText('in this browser alone').waitFor();
    await page.getByText('The disk is full.').waitFor();
    await page.unroute('**/draft');
    await page.reload();
    await eventually(async () => (await draftOf(id))?.text).toBe('A reason.');
    await page.close();
  });

  it('has a button for each line that a finger hits, and marks only what was added', async () => {
    const id = await reviewed('finger');
    const page = await scene.open(`/w/${id}/review`, PHONE);
    const lines = page.locator('.line');
    await lines.first().waitFor({ timeout: PATIENCE_MS });
    const all = await lines.evaluateAll((rows) =>
      rows.map((row) => {
        const { width, height } = row.querySelector('button')!.getBoundingClientRect();
        return {
          isPlain: row.classList.contains('line-normal'),
          isMarked: row.textContent.includes('+'),
          isLarge: width >= 24 && height >= 24,
        };
      }),
    );
    expect(all.length).toBeGreaterThan(12);
    expect(all.some(({ isPlain }) => isPlain)).toBe(true);
    expect(all.every(({ isPlain, isMarked }) => isPlain !== isMarked)).toBe(true);
    expect(all.filter(({ isLarge }) => !isLarge)).toEqual([]);
    await page.close();
  });
});
