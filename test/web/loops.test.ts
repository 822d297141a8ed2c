/** The decisions that workflows, research and swarms ask of a person, through the page. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE } from '../e2e/scene.ts';
import { BROWSER, eventually, useWebScene } from './scene.ts';

const scene = useWebScene();
const ROOT = join(import.meta.dirname, '../..');

/**
 * Writes a file of its own in each run, and says that it is done. The name is one of this workflow: another's may be
 * merged by then, and the same file with the same lines is no change.
 */
const writing = (name: string) =>
  `f="${name}-$PULSE_ITERATION.txt"; seq 1 20 > "$f"; pulse tool pulse_done "{\\"summary\\": \\"feat: write $f\\", \\"filesChanged\\": [\\"$f\\"]}"`;

describe.skipIf(!BROWSER)('the page', () => {
  it('edits and approves a plan, comments on the result, rejects it, and merges what comes then', async () => {
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'Write things down',
        pulses: [{ id: 'one', title: 'The first', description: 'Write a file.' }],
        verify: [{ command: 'true', source: 'Test' }],
      },
      command: `cat > /dev/null; ${writing('work')}`,
    });
    const page = await scene.open('/');
    await page.getByRole('link', { name: 'Write things down', exact: true }).click();
    await page.getByRole('button', { name: 'Approve plan' }).waitFor();
    await page.getByRole('button', { name: 'Edit plan' }).click();
    await page.getByRole('button', { name: 'Add a pulse' }).click();
    const second = page.getByRole('group', { name: 'Pulse 2' });
    await second.getByLabel('Id').fill('two');
    await second.getByLabel('Title').fill('The second');
    await page.getByRole('button', { name: 'Approve edited plan' }).click();
    await page
      .getByText(/pulses\.1\.description|pulses\[1\]\.description/)
      .first()
      .waitFor();
    await second.getByLabel('Description').fill('Write another file.');
    await page.getByRole('button', { name: 'Approve edited plan' }).click();
    await page.getByRole('button', { name: 'Approve and merge' }).waitFor();
    const pulses = page.getByRole('list', { name: 'Pulses' });
    expect(await pulses.getByText('succeeded').count()).toBe(2);

    await page.getByRole('link', { name: 'Read the changes and comment on them' }).click();
    const comment = page.getByRole('button', { name: /^Comment on work-\d+\.txt line 3$/ }).first();
    await comment.focus();
    await page.keyboard.press('c');
    await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('Why three?');
    await page.getByRole('button', { name: 'Add comment' }).click();
    await page.getByRole('checkbox', { name: 'Viewed' }).last().check();
    await page.reload();
    await page.getByText('Why three?').waitFor();
    await page.getByText('viewed 1/2').waitFor();
    await page.getByRole('textbox', { name: 'What is missing' }).fill('A reason.');
    await page.getByRole('button', { name: 'Reject with 1 comment' }).click();
    await eventually(async () => (await scene.ask('GET', `/api/workflows/${id}`)).pulses.length).toBe(3);
    await scene.waitFor(id, 'blocked');
    await page.getByRole('button', { name: 'Approve and merge' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('complete', { exact: true }).waitFor();
    expect(scene.git('log', '--format=%s', 'main')).toContain('feat: write');
    await page.close();
  });

  it('decides about an extension', async () => {
    const asked = join(scene.directory, 'asked-for-more');
    const agent = `cat > /dev/null; if mkdir ${asked} 2> /dev/null; then pulse tool request_extension '{"reason": "More to do.", "completed": ["half"], "remaining": ["the rest"]}'; else ${writing('rest')}; fi`;
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'In two runs',
        pulses: [{ id: 'one', title: 'Long', description: 'Write.' }],
        verify: [{ command: 'true', source: 'Test' }],
      },
      command: agent,
      extensions: 'ask',
      approve: true,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/w/${id}`);
    await page.getByText('the rest').waitFor();
    await page.getByRole('button', { name: 'Approve extension' }).click();
    await page.getByRole('button', { name: 'Approve and merge' }).waitFor();
    await page.close();
  });

  it('accepts changed checks, seeing their diff alone', async () => {
    const id = await scene.start({
      goal: 'Weaken a test',
      command: `cat > /dev/null; echo "export const slugify = () => 'x';" >> src/index.js; sed -i "s/slugify('[^']*'), '[^']*'/slugify('a'), 'x'/" test/slugify.test.js; echo '<checks_changed>test/slugify.test.js: every slug is x</checks_changed>'; echo "<signal>COMPLETE</signal>"`,
      verify: ['node --test'],
      maxIterations: 2,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('heading', { name: 'The completion changed its own checks' }).waitFor();
    await page.getByText('test/slugify.test.js').first().waitFor();
    await page.getByRole('button', { name: 'Accept changed checks' }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('complete', { exact: true }).waitFor();
    await page.getByText('verified, checks changed').first().waitFor();
    await page.close();
  });

  it('plots research, tells every experiment, and writes down what becomes of it', async () => {
    const { sessionId: id } = await scene.ask('POST', '/api/research', {
      projectPath: scene.repository,
      research: {
        goal: 'A shorter README',
        metric: { name: 'bytes', direction: 'lower', verifyCommand: 'wc -c < README.md' },
        scope: { inScope: ['README.md'] },
      },
      iterations: 2,
      command: 'cat > /dev/null; head -c -3 README.md > x; cat x > README.md; rm x; echo "Cut the end."',
    });
    await scene.waitFor(id, 'complete');
    const page = await scene.open(`/r/${id}`);
    await page.getByRole('img', { name: /^bytes over 2 experiments/ }).waitFor();
    expect(await page.getByRole('table', { name: 'Experiments' }).getByRole('row').count()).toBe(3);
    await page.getByRole('button', { name: 'Changes of experiment 2' }).click();
    await page
      .getByRole('region', { name: 'Changes of experiment 2' })
      .getByText('README.md')
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Commander' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText(/^finished by/).waitFor();
    await page.close();
  });

  it('shows a swarm: board, graph, workers, mail, reservations, queue', async () => {
    const folder = join(scene.directory, 'beads');
    const env = { ...process.env, HOME: scene.directory, PULSE_HOME: scene.home };
    execFileSync('sh', [join(ROOT, 'examples/swarm/make-repository.sh'), folder], { env });
    const pulse = (...args: string[]) =>
      execFileSync(OWN_NODE, [join(ROOT, 'bin/pulse.js'), ...args], { cwd: folder, env, stdio: 'pipe' });
    pulse('init');
    pulse('bead', 'import', join(ROOT, 'examples/swarm/beads.yaml'));
    const { sessionId: id } = await scene.ask('POST', '/api/swarms', {
      projectPath: folder,
      epic: 'titles',
      workers: 2,
      agent: 'demo',
    });
    const page = await scene.open(`/sw/${id}`);
    await page.getByText('4/4 closed').waitFor();
    await page.getByRole('button', { name: /^Add slugify/ }).click();
    await page
      .getByRole('dialog', { name: 'Bead titles-slug' })
      .getByText('src/slugify.js')
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    for (const [tab, sign] of [
      ['Graph', page.getByRole('region', { name: 'Drawing of the graph' })],
      ['Workers', page.getByRole('table', { name: 'Workers' })],
      ['Mail', page.getByRole('button', { name: 'Reply as you' }).first()],
      ['Reservations', page.getByText('No file is reserved.')],
      ['Queue', page.getByText('Nothing waits to be merged.')],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await sign.waitFor();
    }
    await page.getByRole('tab', { name: 'Mail' }).click();
    await page.getByRole('button', { name: 'Reply as you' }).first().click();
    await page.getByRole('textbox', { name: 'Reply as coordinator' }).fill('Thank you.');
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('paragraph').filter({ hasText: 'Thank you.' }).waitFor();
    await page.close();
  });

  it('checks a start, starts it, and finds it again', async () => {
    const page = await scene.open('/new');
    await page.getByLabel('Goal', { exact: true }).last().fill('Begun on the page');
    await page
      .getByLabel('Command, instead of an agent')
      .fill('cat > /dev/null; echo "<signal>COMPLETE</signal>"');
    await page.getByRole('button', { name: 'Check first' }).click();
    await page.getByRole('heading', { name: 'It cannot start so' }).waitFor();
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByRole('button', { name: 'Check first' }).click();
    await page.getByRole('heading', { name: 'It can start' }).waitFor();
    await page.getByText('completions are UNVERIFIED').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Begun on the page' }).waitFor();
    await page.getByText('UNVERIFIED', { exact: true }).first().waitFor();
    await page.keyboard.press('/');
    await page.getByRole('searchbox', { name: 'Search' }).fill('Begun on');
    await page.getByRole('link', { name: 'Begun on the page' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Begun on the page' }).waitFor();
    await page.close();
  });

  it('shows the machine, and revokes a device', async () => {
    await scene.ask('POST', '/api/login', { token: scene.token, name: 'an old phone' });
    const page = await scene.open('/settings');
    await page.getByRole('heading', { name: 'Doctor' }).waitFor();
    await page.getByRole('table', { name: 'Config' }).getByRole('row').nth(3).waitFor();
    await page.getByRole('button', { name: 'Revoke an old phone' }).click();
    await page.getByText('an old phone').waitFor({ state: 'detached' });
    await page.close();
  });
});
