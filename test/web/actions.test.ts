/** What a person can do on the command line beside the loops' own decisions, done on the page. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { BROWSER, eventually, useWebScene } from './scene.ts';

const scene = useWebScene();
const DONE = 'cat > /dev/null; date +%N > made-$$; echo "<signal>COMPLETE</signal>"';

describe.skipIf(!BROWSER)('on the page, a person', () => {
  it('follows a session up, exports it, and discards it', async () => {
    const id = await scene.start({ goal: 'Make something', command: DONE });
    await scene.waitFor(id, 'complete');
    const page = await scene.open(`/s/${id}/evidence`);
    for (const [button, sign] of [
      ['Export as a page', '<h1>Make something</h1>'],
      ['As Markdown', '# '],
      ['As JSON', `"id":"${id}"`],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button }).click(),
      ]);
      expect(readFileSync(await download.path(), 'utf8')).toContain(sign);
    }
    await page.getByRole('button', { name: 'Follow up' }).click();
    await page.getByRole('textbox', { name: 'Goal' }).fill('Make more of it');
    await page.getByRole('button', { name: 'Start follow-up' }).click();
    await page.getByRole('heading', { level: 1, name: 'Make more of it' }).waitFor();
    const next = page.url().split('/').at(-1)!;
    await scene.waitFor(next, 'complete');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Discard session' }).click();
    await page.getByText(/^discarded by web:test/).waitFor();
    await page.close();
  });

  it('resumes with other checks and limits, having answered by a note', async () => {
    const id = await scene.start({
      goal: 'Go on otherwise',
      command: 'cat > /dev/null; date +%N > "o$PULSE_ITERATION"; echo "<signal>BLOCKED: how?</signal>"',
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('Like this.');
    await page.getByRole('checkbox', { name: /^It answers/ }).check();
    await page.getByRole('button', { name: 'Send note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' });
    await scene.waitFor(id, 'blocked');
    await page.getByText('Resume with other limits, checks or another agent').click();
    await page.getByLabel('Iterations in all').fill('7');
    await page.getByLabel('Verify', { exact: true }).fill('true');
    await page.getByLabel('Command, instead of an agent').fill(DONE);
    await page.getByRole('button', { name: 'Resume' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('complete', { exact: true }).waitFor();
    const { session } = await scene.ask('GET', `/api/pulse/${id}?view=head`);
    expect([session.max_iterations, session.verify, session.trust]).toEqual([7, ['true'], 'verified']);
    await page.close();
  });

  it('plans a start, sees what is wrong with it, and takes it back', async () => {
    const page = await scene.open('/new');
    await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('Begin at night');
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Branch', { exact: true }).fill('at-night');
    await page.getByLabel('When').fill('whenever');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('When').fill('0 22 * * mon-fri');
    await page.getByRole('button', { name: 'Plan it' }).click();
    const planned = page.getByRole('list', { name: 'Planned' });
    await planned.getByText('start Begin at night').waitFor();
    const { schedules } = await scene.ask('GET', '/api/schedules');
    expect(schedules[0]).toMatchObject({
      operation: 'start',
      actor: 'web:test',
      input: { branch: 'at-night' },
    });
    await planned.getByRole('button', { name: 'Take back start Begin at night' }).click();
    await page.getByText('Nothing starts by itself.').waitFor();
    await page.close();
  });

  it('makes beads, imports and exports them, sees which comes next, widens and closes one', async () => {
    // Its config has the checks of the repository, which fail: who starts after it names others, or none.
    scene.pulse('init');
    const page = await openProject('beads');
    await page.getByText('New bead', { exact: true }).click();
    await page.getByLabel('Title').fill('A small thing');
    await page.getByLabel('What is to be done').fill('Do it.');
    await page.getByLabel('Files', { exact: true }).fill('a.txt');
    await page.getByLabel('Verify', { exact: true }).fill('test -f a.txt');
    await page.getByRole('button', { name: 'Create bead' }).click();
    const beads = page.getByRole('list', { name: 'Beads' });
    await beads.getByRole('button', { name: 'A small thing' }).waitFor();
    await page.getByText('Import beads', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Beads', exact: true }).fill('- [ ] Taken from a list\n');
    await page.getByLabel('Format').selectOption('markdown');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await beads.getByRole('button', { name: /Taken from a list/ }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export beads' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toContain('A small thing');
    await page.getByRole('heading', { name: 'Next' }).waitFor();
    await beads.getByRole('button', { name: 'A small thing' }).click();
    await page.getByLabel('Add a file').fill('b.txt');
    await page.getByRole('button', { name: 'Widen scope' }).click();
    await page.getByRole('dialog').getByText('b.txt').waitFor();
    await page.getByLabel('Reason').fill('Not needed.');
    await page.getByRole('button', { name: 'Close bead' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await beads.getByRole('listitem').filter({ hasText: 'A small thing' }).getByText('closed').waitFor();
    await page.close();
  });

  it('has beads drafted for a goal', async () => {
    const page = await openProject('beads');
    await page.getByText('Draft beads for a goal').click();
    await page.getByRole('textbox', { name: 'Goal' }).fill('Beads for a goal');
    await page.getByLabel('Command, instead of an agent').fill('cat > /dev/null; exit 1');
    await page.getByRole('button', { name: 'Draft beads' }).click();
    await page.getByRole('heading', { level: 1, name: /Beads for a goal/ }).waitFor();
    await page.close();
  });

  it('registers, writes, acknowledges, and finds mail', async () => {
    const page = await openProject('mail');
    await page.getByText('Register a name').click();
    await page.getByLabel('Name', { exact: true }).fill('Ann');
    await page.getByRole('button', { name: 'Register', exact: true }).click();
    await eventually(() => page.getByLabel('You are').inputValue()).toBe('Ann');
    await page.getByText('Write as Ann').click();
    await page.getByLabel('To', { exact: true }).fill('Ann');
    await page.getByLabel('Subject').fill('To myself');
    await page.getByRole('textbox', { name: 'Message' }).fill('Remember the milk.');
    await page.getByLabel('Ask for an acknowledgement').check();
    await page.getByRole('button', { name: 'Send message' }).click();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText(/, acknowledged/).waitFor();
    await page.getByLabel('With the words').fill('butter');
    await page.getByText('No mail.').waitFor();
    await page.close();
  });

  it('reserves files, sees a conflict, and releases them', async () => {
    await scene.ask('POST', '/api/mail/agents', { project_key: scene.repository, name: 'Bob' });
    const page = await openProject('reservations');
    await page.getByText('Reserve files').click();
    const form = page.getByRole('form', { name: 'Reserve files' });
    for (const name of ['Ann', 'Bob']) {
      await form.getByLabel('For', { exact: true }).fill(name);
      await form.getByLabel('Paths').fill('src/index.js');
      await form.getByRole('button', { name: 'Reserve', exact: true }).click();
      await page.getByRole('table', { name: 'Reservations' }).getByText('Ann').waitFor();
    }
    await page.getByText(/is held by Ann: nothing was reserved/).waitFor();
    await page.getByText('Release files').click();
    await page.getByRole('form', { name: 'Release files' }).getByLabel('Of', { exact: true }).fill('Ann');
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByText('No file is reserved.').waitFor();
    await page.close();
  });

  it('reads the turns of a project, and looks for words in them and in the code', async () => {
    const id = await scene.start({ goal: 'Leave a turn', command: DONE, verify: [] });
    await scene.waitFor(id, 'complete');
    const page = await openProject('context');
    await page.getByRole('list', { name: 'Turns' }).getByRole('button').first().click();
    await page
      .getByRole('dialog')
      .getByText(/^Its slice/)
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Import transcripts').click();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText(/^\d+ turns of \d+ conversations are new$/).waitFor();
    await page.getByLabel('Find in turns and code').fill('slugify');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('list', { name: 'Found code' }).getByText('slugify').first().waitFor();
    await page.close();
  });

  it('stops a workflow at once, and denies an extension', async () => {
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'To be stopped',
        pulses: [{ id: 'one', title: 'Long', description: 'Write.' }],
        verify: [{ command: 'true', source: 'Test' }],
      },
      command: `cat > /dev/null; if mkdir ${scene.directory}/began; then echo here; sleep 600; fi; pulse tool request_extension '{"reason": "More.", "completed": ["a"], "remaining": ["b"]}'`,
      extensions: 'ask',
      approve: true,
    });
    const page = await scene.open(`/w/${id}?tab=transcript`);
    await page.getByRole('list', { name: 'Transcript' }).getByText('here').waitFor();
    await page.getByRole('button', { name: 'Stop now' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Deny' }).click();
    await status.getByText('failed', { exact: true }).waitFor();
    await page.close();
  });

  it('goes on with a review on another device, which has what was written on the first', async () => {
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'To be reviewed',
        pulses: [{ id: 'one', title: 'One', description: 'Write.' }],
        verify: [{ command: 'true', source: 'Test' }],
      },
      command: `cat > /dev/null; echo r > r.txt; pulse tool pulse_done '{"summary": "feat: r", "filesChanged": ["r.txt"]}'`,
      approve: true,
    });
    await scene.waitFor(id, 'blocked');
    const first = await scene.open(`/w/${id}/review`);
    await first.getByRole('textbox', { name: 'What is missing' }).fill('A second line.');
    await first.getByRole('checkbox', { name: 'Viewed' }).check();
    await eventually(
      async () => (await scene.ask('GET', `/api/workflows/${id}/draft`)).draft?.viewed.length,
    ).toBe(1);
    const phone = await scene.open(`/w/${id}/review`, { width: 390, theme: 'dark' });
    await eventually(() => phone.getByRole('textbox', { name: 'What is missing' }).inputValue()).toBe(
      'A second line.',
    );
    await phone.getByText('viewed 1/1').waitFor();
    await phone.getByRole('button', { name: 'Approve and merge' }).click();
    await phone
      .getByRole('status', { name: 'Session status' })
      .getByText('complete', { exact: true })
      .waitFor();
    expect((await scene.ask('GET', `/api/workflows/${id}/draft`)).draft).toBeNull();
    await first.close();
    await phone.close();
  });

  it('stops the workers of a swarm', async () => {
    // Workers need what it writes, and it may be done again.
    scene.pulse('init');
    const project_key = scene.repository;
    await scene.ask('POST', '/api/beads', { project_key, id: 'slow', title: 'A slow epic', type: 'epic' });
    await scene.ask('POST', '/api/beads', {
      ...{ project_key, epic: 'slow', title: 'A slow bead', body: 'Wait.' },
      ...{ files: ['slow.txt'], verify: ['true'] },
    });
    const page = await scene.open('/new?kind=swarm');
    await page.getByLabel('Epic').fill('slow');
    await page.getByRole('textbox', { name: 'Workers' }).fill('1');
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByLabel('Command, instead of an agent').fill('cat > /dev/null; sleep 600');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('tab', { name: 'Workers' }).click();
    await page.getByRole('table', { name: 'Workers' }).getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: 'Stop workers' }).click();
    await page.getByRole('status', { name: 'Session status' }).getByText('paused', { exact: true }).waitFor();
    await page.close();
  });

  it('lets somebody write from a chat, and cleans up what old sessions hold', async () => {
    const id = await scene.start({ goal: 'Hold something', command: DONE, verify: [] });
    await scene.waitFor(id, 'complete');
    const page = await scene.open('/settings');
    await page.getByLabel('Channel').selectOption('telegram');
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText(/^\/pair [0-9a-f]{10}$/).waitFor();
    await page.getByLabel('Older than').fill('1ms');
    await page.getByRole('list', { name: 'Kept work' }).getByRole('listitem').first().waitFor();
    await page.getByRole('button', { name: 'Clean…' }).click();
    await page.getByRole('button', { name: 'Clean up' }).click();
    await page.getByText(/sessions? cleaned/).waitFor();
    await page.close();
  });
});

async function openProject(tab: string): Promise<Page> {
  return scene.open(`/project?path=${encodeURIComponent(scene.repository)}&tab=${tab}`);
}
