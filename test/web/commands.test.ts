/** What a person's commands take, the page takes too. */
import { describe, expect, it } from 'vitest';
import { BROWSER, eventually, useWebScene } from './scene.ts';

const scene = useWebScene();
const DONE = 'cat > /dev/null; date +%N > made-$$; echo "<signal>COMPLETE</signal>"';

describe.skipIf(!BROWSER)('on the page, as on the command line, a person', () => {
  it('starts with commands that prepare the worktree, and plans by a zone', async () => {
    const page = await scene.open('/new');
    await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('Prepared');
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByLabel('Command, instead of an agent').fill(DONE);
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Setup').fill('touch prepared');
    await page.getByLabel('When').fill('0 22 * * mon-fri');
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByLabel('A missed time').selectOption('run');
    await page.getByRole('button', { name: 'Plan it' }).click();
    await page.getByRole('list', { name: 'Planned' }).getByText('(Asia/Tokyo)').waitFor();
    const { schedules } = await scene.ask('GET', '/api/schedules');
    expect(schedules).toMatchObject([{ missed: 'run', input: { setup: ['touch prepared'] } }]);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Prepared' }).waitFor();
    const id = page.url().split('/').at(-1)!;
    expect((await scene.ask('GET', `/api/pulse/${id}`)).session.setup).toEqual(['touch prepared']);
    await page.close();
  });

  it('shares what it reserves, takes what another holds, and resumes without running the checks first', async () => {
    const project_key = scene.repository;
    for (const name of ['Ann', 'Bob']) await scene.ask('POST', '/api/mail/agents', { project_key, name });
    await scene.ask('POST', '/api/reservations', {
      ...{ project_key, agent_name: 'Bob', paths: ['held.txt'], ttl: '1h' },
    });
    const page = await scene.open(`/project?path=${encodeURIComponent(project_key)}&tab=reservations`);
    await page.getByText('Reserve files').click();
    const form = page.getByRole('form', { name: 'Reserve files' });
    await form.getByLabel('For', { exact: true }).fill('Ann');
    await form.getByLabel('Paths').fill('held.txt');
    await form.getByLabel('Others may share them').check();
    await form.getByLabel('Take them from who holds them').check();
    await form.getByRole('button', { name: 'Reserve', exact: true }).click();
    await page.getByText(/shared, Ann until/).waitFor();
    expect(await page.getByText(/Bob until/).count()).toBe(0);

    const command = 'cat > /dev/null; date > asked; echo "<signal>BLOCKED: a or b?</signal>"';
    const id = await scene.start({ goal: 'Resumed without a base', command, verify: ['true'] });
    await scene.waitFor(id, 'blocked');
    await page.goto(`${scene.url}/s/${id}`);
    await page.getByText('Resume with other limits, checks or another agent').click();
    await page.getByRole('checkbox', { name: 'Do not run the checks first' }).check();
    const sent = page.waitForRequest(`**/api/pulse/${id}/resume`);
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    expect((await sent).postDataJSON()).toEqual({ noBase: true });
    await page.close();
  });

  it('lists what is over of what was planned, too', async () => {
    const page = await scene.open('/new');
    const listed = page.waitForResponse('**/api/schedules?all=true');
    await page.getByLabel('All that is over, too').check();
    expect((await listed).status()).toBe(200);
    await page.close();
  });

  it('says of a number that it is none, and starts nothing', async () => {
    const page = await scene.open('/new');
    const asked: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && asked.push(request.url()));
    await page.getByRole('textbox', { name: 'Goal', exact: true }).fill('Without a limit');
    await page.getByRole('textbox', { name: 'Budget, USD' }).fill('2,50');
    await page.getByText('“2,50” is no number: write 2.50', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('alert').getByText('Budget, USD').waitFor();
    expect(asked).toEqual([]);
    await page.close();
  });

  it('follows up with other choices, and reads every event', async () => {
    const id = await scene.start({ goal: 'To be followed', command: DONE });
    await scene.waitFor(id, 'complete');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('button', { name: 'Follow up' }).click();
    await page.getByRole('textbox', { name: 'Goal' }).fill('The follower');
    await page.getByText('With other choices').click();
    await page.getByLabel('Budget, USD').fill('3.5');
    await page.getByLabel('Setup').fill('touch again');
    await page.getByRole('button', { name: 'Start follow-up' }).click();
    await page.getByRole('heading', { level: 1, name: 'The follower' }).waitFor();
    const next = page.url().split('/').at(-1)!;
    expect((await scene.ask('GET', `/api/pulse/${next}`)).session).toMatchObject({
      ...{ budget_usd: 3.5, setup: ['touch again'] },
    });
    await scene.waitFor(next, 'complete');
    await page.getByRole('tab', { name: 'Events' }).click();
    const { lastSeq } = await scene.ask('GET', `/api/pulse/${next}?view=head`);
    const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
    await eventually(() => events.count()).toBe(lastSeq);
    await page.getByRole('combobox', { name: 'Events' }).selectOption('iterations');
    await eventually(() => events.first().textContent()).toMatch(/iteration|signal/);
    expect(await events.filter({ hasText: 'session.created' }).count()).toBe(0);
    await page.close();
  });

  it('checks the proofs of a branch, writes into a thread, chooses a slice, and collects garbage', async () => {
    const id = await scene.start({ goal: 'To be proven', command: DONE, verify: ['true'] });
    await scene.waitFor(id, 'complete');
    const { session } = await scene.ask('GET', `/api/pulse/${id}`);
    const at = (tab: string) => `/project?path=${encodeURIComponent(scene.repository)}&tab=${tab}`;
    const page = await scene.open(at('proofs'));
    await page.getByText('Check proofs').click();
    await page.getByLabel('Commit, branch or range').fill(session.branch_name);
    await page.getByRole('button', { name: 'Verify commits' }).click();
    await page.getByRole('list', { name: 'Commits' }).getByText('unproven').waitFor();

    await scene.ask('POST', '/api/mail/agents', { project_key: scene.repository, name: 'Cleo' });
    const sent = { project_key: scene.repository, sender_name: 'Cleo', to: ['Cleo'], subject: 'First' };
    const { message } = await scene.ask('POST', '/api/mail', { ...sent, body_md: 'One.' });
    await page.goto(scene.url + at('mail'));
    await page.getByLabel('You are').fill('Cleo');
    await page.getByText('Write as Cleo').click();
    await page.getByLabel('To', { exact: true }).fill('Cleo');
    await page.getByLabel('Subject').fill('Second');
    await page.getByRole('textbox', { name: 'Message' }).fill('Two.');
    await page.getByLabel('In the thread').fill(message.thread_id);
    await page.getByRole('button', { name: 'Send message' }).click();
    await eventually(async () => {
      const { messages } = await scene.ask(
        'GET',
        `/api/mail?thread_id=${message.thread_id}&project_key=${encodeURIComponent(scene.repository)}`,
      );
      return messages.map(({ subject }: { subject: string }) => subject);
    }).toEqual(['First', 'Second']);

    await page.goto(scene.url + at('context'));
    await page.getByRole('list', { name: 'Turns' }).getByRole('button').first().click();
    const slice = page.waitForRequest((request) => request.url().includes('policy=near'));
    await page.getByLabel('Which turns belong to it').selectOption('near');
    await slice;

    await page.goto(`${scene.url}/settings?path=${encodeURIComponent(scene.repository)}`);
    await page.getByRole('button', { name: 'Collect garbage' }).click();
    await page
      .getByRole('status')
      .filter({ hasText: /ref|nothing|delet|left/i })
      .waitFor();
    await page.close();
  });

  // Last: with a config of the repository, what is started is verified by it.
  it('gives a bead all that it can have, and drafts some within limits', async () => {
    scene.pulse('init');
    const at = `/project?path=${encodeURIComponent(scene.repository)}&tab=beads`;
    const page = await scene.open(at);
    await page.getByText('New bead', { exact: true }).click();
    const form = page.getByRole('form', { name: 'New bead' });
    for (const [label, text] of [
      ['Title', 'With everything'],
      ['Id', 'whole'],
      ['Labels', 'small, quick'],
      ['Files', 'a.txt'],
      ['Verify', 'echo one\necho two'],
      ['What the commands must give', '-\ntwo'],
      ['Where its evidence is written', 'history/whole.md'],
      ['Must fail first', 'test -f a.txt'],
      ['What that failure must show', 'no such file'],
      ['Must pass then', 'test -f a.txt'],
      ['Decisions to keep to', 'D1'],
      ['Learnings to read', 'docs/learned.md'],
    ] as const)
      await form.getByLabel(label, { exact: true }).fill(text);
    await form.getByLabel('Testing mode').selectOption('tdd-required');
    await form.getByRole('button', { name: 'Create bead' }).click();
    await page
      .getByRole('list', { name: 'Beads' })
      .getByRole('button', { name: 'With everything' })
      .waitFor();
    const key = encodeURIComponent(scene.repository);
    const { bead } = await scene.ask('GET', `/api/beads/whole?project_key=${key}`);
    expect(bead).toMatchObject({
      ...{ labels: ['small', 'quick'], verification_evidence: 'history/whole.md' },
      ...{ decision_refs: ['D1'], learning_refs: ['docs/learned.md'], testing_mode: 'tdd-required' },
      verify: [{ command: 'echo one' }, { command: 'echo two', expect: 'two' }],
      tdd_steps: { red: 'test -f a.txt', green: 'test -f a.txt', expect: 'no such file' },
    });
    await page.getByText('Draft beads for a goal').click();
    await page.getByRole('textbox', { name: 'Goal' }).fill('Drafted within limits');
    await page.getByLabel('Command, instead of an agent').fill('cat > /dev/null; exit 1');
    await page.getByLabel('Budget, USD').fill('1.5');
    await page.getByLabel('Time', { exact: true }).fill('2h');
    await page.getByRole('button', { name: 'Draft beads' }).click();
    await page.getByRole('heading', { level: 1, name: /Drafted within limits/ }).waitFor();
    const id = page.url().split('/').at(-1)!;
    expect((await scene.ask('GET', `/api/pulse/${id}`)).session).toMatchObject({
      ...{ budget_usd: 1.5, time_limit_ms: 7_200_000 },
    });
    await page.close();
  });
});
