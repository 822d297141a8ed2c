/** Beads on the page: a draft that is read and imported, a bead that is changed, and what a search leads to. */
import { describe, expect, it } from 'vitest';
import { BROWSER, useWebScene } from './scene.ts';

const scene = useWebScene();

describe.skipIf(!BROWSER)('beads on the page', () => {
  it('imports what an agent has drafted, once its commands were shown', async () => {
    const draft = {
      epic: { id: 'dates', title: 'Dates' },
      beads: [
        { id: 'dates-1', title: 'Parse', body: 'Do it.', files: ['src/a.ts'], verify: ['npm test'] },
        { id: 'dates-2', title: 'Show', files: ['src/b.ts'], verify: ['make'], dependencies: ['dates-1'] },
      ],
    };
    const { sessionId: id } = await scene.ask('POST', '/api/beads/plan', {
      projectPath: scene.repository,
      goal: 'Dates in words',
      command: `cat > /dev/null; pulse tool propose_beads '${JSON.stringify({ draft })}'`,
    });
    await scene.waitFor(id, 'complete');
    const page = await scene.open(`/s/${id}`);
    const card = page.getByRole('form', { name: 'Bead draft' });
    const commands = card.getByRole('list', { name: 'Commands' }).getByRole('listitem');
    await commands.first().waitFor();
    expect(await commands.allTextContents()).toEqual(['npm test (dates-1)', 'make (dates-2)']);
    const beads = page.getByRole('list', { name: 'Drafted beads' });
    await beads.getByText('src/b.ts').waitFor();
    await card.getByRole('button', { name: 'Edit draft' }).click();
    const text = card.getByRole('textbox', { name: 'Draft' });
    await text.fill((await text.inputValue()).replace('title: Show', 'title: Show them'));
    await card.getByRole('button', { name: 'Import edited draft' }).click();
    await page.getByRole('link', { name: 'Their graph' }).click();
    await page.getByRole('button', { name: 'Show them open, dates-2, needs dates-1' }).waitFor();
    const { beads: made } = await scene.ask(
      'GET',
      `/api/beads?epic=dates&project_key=${encodeURIComponent(scene.repository)}`,
    );
    expect(made.map((bead: { id: string }) => bead.id)).toEqual(['dates-1', 'dates-2']);
    await page.close();
  });

  it('changes a bead, and leaves what was not changed', async () => {
    const project_key = scene.repository;
    const verify = [{ command: 'node a.js', expect: 'exit 0' }, { command: 'true' }];
    await scene.ask('POST', '/api/beads', {
      ...{ project_key, id: 'chg', title: 'As it was', body: 'Do it.', files: ['a.js', 'b.js'], verify },
    });
    const page = await scene.open(`/project?path=${encodeURIComponent(project_key)}&bead=chg`);
    const dialog = page.getByRole('dialog', { name: 'Bead chg' });
    await dialog.getByRole('button', { name: 'Edit bead' }).click();
    const form = dialog.getByRole('form', { name: 'Edit bead' });
    expect(await form.getByRole('button', { name: 'Save bead' }).isDisabled()).toBe(true);
    await form.getByLabel('Title').fill('As it is');
    await form.getByLabel('Files').fill('a.js');
    await form.getByLabel('Verify').fill('node a.js\nnode c.js');
    await form.getByRole('button', { name: 'Save bead' }).click();
    await dialog.getByRole('heading', { name: 'As it is' }).waitFor();
    await dialog.getByText('node c.js').waitFor();
    const { bead } = await scene.ask('GET', `/api/beads/chg?project_key=${encodeURIComponent(project_key)}`);
    expect(bead).toMatchObject({
      ...{ title: 'As it is', body: 'Do it.', files: ['a.js'], priority: 2 },
      verify: [{ command: 'node a.js', expect: 'exit 0' }, { command: 'node c.js' }],
    });
    await page.close();
  });

  it('leads from what was found to the turn, the thread and the bead', async () => {
    const project_key = scene.repository;
    const id = await scene.start({
      goal: 'Mend the umbrella',
      command: 'cat > /dev/null; echo "The umbrella is mended. <signal>COMPLETE</signal>"',
    });
    await scene.waitFor(id, 'complete');
    for (const name of ['Fox', 'Owl']) await scene.ask('POST', '/api/mail/agents', { project_key, name });
    await scene.ask('POST', '/api/mail', {
      ...{ project_key, sender_name: 'Fox', to: ['Owl'], subject: 'Umbrella?', body_md: 'Where is it?' },
    });
    await scene.ask('POST', '/api/beads', { project_key, id: 'umb', title: 'Umbrella stand' });
    const page = await scene.open('/search?q=umbrella');
    await page.getByRole('link', { name: 'Umbrella?' }).click();
    await page.getByText('Where is it?').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Umbrella stand' }).click();
    await page.getByRole('dialog', { name: 'Bead umb' }).waitFor();
    await page.goto(`${scene.url}/search?q=umbrella&in=turns`);
    const said = page.getByRole('listitem').filter({ hasText: 'The umbrella is mended' });
    await said.getByRole('link').first().click();
    const turn = page.getByRole('dialog', { name: /^Turn / });
    await turn.getByText('The umbrella is mended').waitFor();
    await page.close();
  });
});
