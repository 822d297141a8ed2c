/** What is shown stays true while it is looked at: nobody loads the page again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BROWSER, settled, useWebScene } from './scene.ts';

const scene = useWebScene();
const DONE = 'cat > /dev/null; date +%N > made-$$; echo "<signal>COMPLETE</signal>"';

describe.skipIf(!BROWSER)('a page that stays open', () => {
  it('counts what is done today, and lists what fits its filter', async () => {
    const page = await scene.open('/');
    await page.getByText('nothing works').waitFor();
    const filtered = await scene.open('/?q=wanted&kind=goal');
    await filtered.getByText('No session fits.').waitFor();
    await Promise.all([page, filtered].map((one) => one.getByText('live', { exact: true }).waitFor()));
    await scene.start({ goal: 'The wanted one', command: DONE, verify: ['true'] });
    await scene.start({ goal: 'Another', command: DONE });
    await page.getByText('2 done: 1 verified, 1 UNVERIFIED').waitFor();
    await filtered.getByRole('link', { name: 'The wanted one', exact: true }).waitFor();
    expect(await filtered.getByRole('link', { name: 'Another', exact: true }).count()).toBe(0);
    await page.close();
    await filtered.close();
  });

  it('says who has decided meanwhile, and what', async () => {
    const id = await scene.start({
      goal: 'Asked on two devices',
      command:
        'if grep -q "Take b."; then date > done.txt; echo "<signal>COMPLETE</signal>"; else date > asked.txt; echo "<signal>BLOCKED: a or b?</signal>"; fi',
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('textbox', { name: 'Answer' }).fill('Take a.');
    await page.getByText('live', { exact: true }).waitFor();
    const { key } = await scene.ask('POST', '/api/login', { token: scene.token, name: 'phone' });
    const answer = await fetch(`${scene.url}/api/pulse/${id}/resume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ answer: 'Take b.' }),
    });
    expect(answer.status).toBe(202);
    await page.getByText(/^web:phone answered \d\d:\d\d$/).waitFor();
    await page.close();
  });

  it('shows the draft of beads when the agent has made it', async () => {
    const go = join(scene.directory, 'draft-now');
    const drafted = {
      epic: { id: 'dates', title: 'Dates' },
      beads: [{ id: 'dates-1', title: 'Parse them', files: ['src/a.ts'], verify: ['npm test'] }],
    };
    const { sessionId } = await scene.ask('POST', '/api/beads/plan', {
      ...{ projectPath: scene.repository, goal: 'Dates in words' },
      command: `cat > /dev/null; until test -f ${go}; do sleep 0.1; done; pulse tool propose_beads '${JSON.stringify({ draft: drafted })}'`,
    });
    const page = await scene.open(`/s/${sessionId}`);
    await page.getByText('Nothing is drafted yet.').waitFor();
    await settled(page);
    await page.getByText('live', { exact: true }).waitFor();
    writeFileSync(go, '');
    await page.getByRole('list', { name: 'Drafted beads' }).getByText('Parse them').waitFor();
    await page.close();
  });

  it('shows a bead in the graph that is added meanwhile', async () => {
    scene.pulse('init');
    const bead = { project_key: scene.repository, epic: 'open', body: 'Write it.', verify: ['true'] };
    await scene.ask('POST', '/api/beads', {
      ...{ project_key: scene.repository, id: 'open', title: 'An epic', type: 'epic' },
    });
    await scene.ask('POST', '/api/beads', { ...bead, title: 'Come first', files: ['first.txt'] });
    const { sessionId: id } = await scene.ask('POST', '/api/swarms', {
      ...{ projectPath: scene.repository, epic: 'open', workers: 1 },
      command: 'cat > /dev/null; sleep 600',
    });
    const page = await scene.open(`/sw/${id}?tab=graph`);
    await page.getByText('Come first').first().waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await scene.ask('POST', '/api/beads', { ...bead, title: 'Come later', files: ['later.txt'] });
    await page.getByText('Come later').first().waitFor();
    await scene.ask('POST', `/api/pulse/${id}/abort`, {});
    await page.close();
  });
});
