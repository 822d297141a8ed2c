/** Why a result can be believed, as a person reads it: claims beside facts, and the words of people. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { BROWSER, useWebScene } from './scene.ts';

const scene = useWebScene();
/** Claims too early, asks, and is done after an answer. */
const CLAIMS =
  'cat > /dev/null; case "$PULSE_ITERATION" in ' +
  '1) echo no > done.txt; echo "All tests pass! <signal>COMPLETE</signal>";; ' +
  '2) echo x > asked.txt; echo "<signal>BLOCKED: yes or no?</signal>";; ' +
  '*) echo yes > done.txt; echo "<signal>COMPLETE</signal>";; esac';

async function openClaims(goal: string, path: string): Promise<Page> {
  const id = await scene.start({ goal, command: CLAIMS, verify: ['grep yes done.txt'] });
  await scene.waitFor(id, 'blocked');
  await scene.ask('POST', `/api/pulse/${id}/resume`, { answer: 'It is yes.' });
  await scene.waitFor(id, 'complete');
  return scene.open(`/s/${id}${path}`);
}

describe.skipIf(!BROWSER)('of a session the page', () => {
  it('shows each claim beside the facts, who answered, and since when nothing was checked again', async () => {
    const page = await openClaims('To be believed', '/evidence');
    const first = page.getByRole('table', { name: 'Claim of iteration 1' });
    await first.getByRole('row').filter({ hasText: 'COMPLETE at 1' }).getByText('FALSE').waitFor();
    await first.getByRole('row').filter({ hasText: 'grep yes done.txt → exit 1' }).waitFor();
    const last = page.getByRole('table', { name: 'Claim of iteration 3' });
    await last.getByRole('row').filter({ hasText: 'git says 1: done.txt' }).waitFor();
    await last.getByRole('row').filter({ hasText: 'COMPLETE at 3' }).getByText('ok').waitFor();
    await page.getByRole('list', { name: 'What people said' }).getByText('It is yes.').waitFor();
    await page.getByText(/^not checked again since/).waitFor();
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText('FRESH').waitFor();
    expect(await page.getByText(/^not checked again since/).count()).toBe(0);
    await page.close();
  });

  it('says no longer that it is fresh when the session has gone on since', async () => {
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'To be checked, and gone on with',
        pulses: [{ id: 'one', title: 'One', description: 'Write.' }],
        verify: [{ command: 'true', source: 'Test' }],
      },
      command: `cat > /dev/null; f="f-$PULSE_UNIT-$(date +%N)"; echo x > "$f"; pulse tool pulse_done "{\\"summary\\": \\"feat: $f\\", \\"filesChanged\\": [\\"$f\\"]}"`,
      approve: true,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/w/${id}/evidence`);
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText('FRESH').waitFor();
    await page.getByRole('textbox', { name: 'What is missing' }).fill('More.');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('FRESH').waitFor({ state: 'detached' });
    await page.close();
  });

  it('shows what rejected a claim in the timeline, not what the agent said of it', async () => {
    const page = await openClaims('To be rejected', '');
    const row = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').filter({
      hasText: 'Iteration 1',
    });
    await row.getByText('grep yes done.txt').waitFor();
    await row.getByText('exit 1').waitFor();
    expect(await row.textContent()).not.toContain('All tests pass!');
    await page.close();
  });
});
