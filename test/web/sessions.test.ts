/** A person and a session, through the page, by the names that people and programs find things by. */
import { describe, expect, it } from 'vitest';
import { DEMO_GOAL, DEMO_VERIFY } from '../../src/agents/demo/repository.ts';
import { BROWSER, eventually, useWebScene } from './scene.ts';

const scene = useWebScene();

describe.skipIf(!BROWSER)('the page', () => {
  it('answers a blocked session, from the login to its end', async () => {
    const id = await scene.start({ goal: DEMO_GOAL, agent: 'demo', verify: [...DEMO_VERIFY] });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open('/', { isSignedIn: false });
    await page.evaluate(() => localStorage.clear());
    expect(await page.title()).toBe('Pulse');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: DEMO_GOAL });
    await row.getByText('blocked').waitFor();
    await row.getByText('3/10').waitFor();
    await row.getByRole('link', { name: DEMO_GOAL, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: DEMO_GOAL }).waitFor();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('blocked', { exact: true }).waitFor();
    const timeline = page.getByRole('list', { name: 'Timeline' });
    expect(await timeline.getByRole('listitem').count()).toBe(3);
    expect(await timeline.getByRole('listitem').first().textContent()).toMatch(/^Iteration 3/);

    // Without the token an action leads to the login, and back with what was typed.
    await page.getByRole('textbox', { name: 'Answer' }).fill('ss');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Token' }).fill(scene.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await eventually(() => page.getByRole('textbox', { name: 'Answer' }).inputValue()).toBe('ss');
    await page.getByRole('button', { name: 'Resume' }).click();
    await status.getByText('complete', { exact: true }).waitFor();
    await eventually(() => timeline.getByRole('listitem').count()).toBeGreaterThan(3);

    await page.getByRole('tab', { name: 'Evidence' }).click();
    await page.getByText('node --test').first().waitFor();
    await page.getByRole('button', { name: 'Verify again' }).click();
    await page.getByText('FRESH').waitFor();
    await page.getByRole('button', { name: 'Approve and merge' }).click();
    await page.getByText(/^Merged into/).waitFor();
    expect(scene.git('log', '--format=%s', 'main').split('\n').length).toBeGreaterThan(1);
    await page.close();
  });

  it('shows what the agent printed, changed and was told', async () => {
    const id = await scene.start({
      goal: 'Leave traces',
      command:
        'cat > /dev/null; echo "I was **here**."; echo trace > trace.txt; echo "<signal>COMPLETE</signal>"',
    });
    await scene.waitFor(id, 'complete');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('tab', { name: 'Transcript' }).click();
    await page.getByRole('list', { name: 'Transcript' }).getByText('here', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Diff' }).click();
    await page.getByText('trace.txt').first().waitFor();
    await page.locator('.line-insert').getByText('trace', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Brief' }).click();
    await page.getByText(/^Iteration 1: \d+ tokens/).waitFor();
    await page.close();
  });

  it('says of a wrong token that it is wrong, and goes to / after the right one', async () => {
    const page = await scene.open('/login', { isSignedIn: false });
    await page.evaluate(() => localStorage.clear());
    await page.getByRole('textbox', { name: 'Token' }).fill(scene.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${scene.url}/`);
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.close();
  });

  it('forgets a key that is no longer one, and still reads', async () => {
    const page = await scene.open('/login', { isSignedIn: false });
    await page.evaluate(() => localStorage.setItem('pulse.key', 'pk_of_another_time'));
    await page.goto(scene.url);
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('pulse.key'))).toBeNull();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.close();
  });

  it('shows what happens as it happens, pauses, notes, resumes and aborts', async () => {
    const page = await scene.open('/');
    const command =
      'cat > /dev/null; sleep 0.4; date +%N > "f$PULSE_ITERATION"; echo "Step. <signal>CONTINUE</signal>"';
    const id = await scene.start({ goal: 'Step by step', command, maxIterations: 500 });
    await page.getByRole('link', { name: 'Step by step', exact: true }).click();
    const timeline = page.getByRole('list', { name: 'Timeline' });
    await timeline.getByText('Iteration 2').waitFor();
    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('Mind the gap.');
    await page.getByRole('button', { name: 'Send note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Pause' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('paused', { exact: true }).waitFor();
    const { events } = await scene.ask('GET', `/api/pulse/${id}/history?types=note.added`);
    expect(events).toHaveLength(1);
    await page.keyboard.press('r');
    await status.getByText('running', { exact: true }).waitFor();
    // What was asked of the run before is over.
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop now' }).click();
    await status.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('button', { name: 'Abort session' }).click();
    await status.getByText('aborted', { exact: true }).waitFor();
    await page.close();
  });

  it('has a heading, and the way to the others, where it has nothing to show', async () => {
    const goal = await scene.start({ goal: 'No workflow', command: 'true' });
    const page = await scene.open('/');
    for (const [address, heading] of [
      ['/s/ses_unknown', 'This session cannot be shown'],
      [`/w/${goal}/review`, 'This review cannot be shown'],
      ['/of/an/older/version', 'Nothing is here'],
    ] as const) {
      await page.goto(scene.url + address);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
    }
    await page.close();
  });

  it('shows the action that Enter would run, however far down it is', async () => {
    const page = await scene.open('/');
    await page.setViewportSize({ width: 600, height: 300 });
    await page.keyboard.press('Control+k');
    const list = page.getByRole('listbox', { name: 'Actions' });
    const options = list.getByRole('option');
    const last = (await options.count()) - 1;
    for (let step = 0; step < last; step += 1) await page.keyboard.press('ArrowDown');
    const chosen = list.getByRole('option', { selected: true });
    expect(await chosen.textContent()).toBe(await options.nth(last).textContent());
    const isSeen = () =>
      chosen.evaluate((option) => {
        const own = option.getBoundingClientRect();
        const list = option.parentElement!.getBoundingClientRect();
        return own.top >= list.top - 1 && own.bottom <= list.bottom + 1;
      });
    await eventually(isSeen).toBe(true);
    expect(
      await chosen.evaluate(({ parentElement }) => parentElement!.scrollHeight > parentElement!.clientHeight),
    ).toBe(true);
    await page.close();
  });

  it('raises a limit that was reached', async () => {
    const command = 'cat > /dev/null; date +%N > "g$PULSE_ITERATION"; echo "<signal>CONTINUE</signal>"';
    const id = await scene.start({ goal: 'Within a limit', command, maxIterations: 1 });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    expect(await page.getByLabel('Iterations').inputValue()).toBe('2');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('list', { name: 'Timeline' }).getByText('Iteration 2').waitFor();
    await page.close();
  });

  it('goes on after the server was away, and misses nothing', async () => {
    const page = await scene.open('/');
    await page.getByText('live', { exact: true }).waitFor();
    await scene.stop();
    await page.getByText(/^not live/).waitFor();
    await scene.restart();
    await page.getByText('live', { exact: true }).waitFor();
    await scene.start({
      goal: 'After the restart',
      command: 'cat > /dev/null; echo "<signal>COMPLETE</signal>"',
    });
    await page.getByRole('link', { name: 'After the restart', exact: true }).waitFor();
    await page.close();
  });

  it('serves seven tabs at once', async () => {
    const pages = await Promise.all(Array.from({ length: 7 }, () => scene.open('/')));
    await scene.start({
      goal: 'For seven tabs',
      command: 'cat > /dev/null; echo "<signal>COMPLETE</signal>"',
    });
    for (const page of pages) await page.getByRole('link', { name: 'For seven tabs', exact: true }).waitFor();
    for (const page of pages) await page.close();
  });
});
