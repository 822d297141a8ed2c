/** What everybody can read and use, and what it costs to load. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import axeCore from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../e2e/scene.ts';
import { BROWSER, eventually, PATIENCE_MS, settled, useWebScene } from './scene.ts';
import { multiplyIterations } from './speed.ts';

const scene = useWebScene();

const LOOKS = [
  ['light', 1280],
  ['light', 390],
  ['dark', 390],
  ['dark', 1280],
] as const;

describe.skipIf(!BROWSER)('the page', () => {
  it('has no finding of WCAG 2.2 AA, at any address, in either theme, wide or narrow', async () => {
    const empty = filled === undefined ? await findingsAt(['/']) : [];
    const ids = await fillScene();
    const addresses = [
      '/',
      '/?q=nothing+has+these+words',
      '/of/an/older/version',
      '/s/ses_unknown',
      ...['goal', 'workflow', 'research', 'swarm'].map((kind) => `/new?kind=${kind}`),
      '/search?q=write',
      '/settings',
      ...['beads', 'graph', 'mail', 'reservations', 'context', 'proofs'].map((tab) => `/project?tab=${tab}`),
      ...['board', 'graph', 'workers', 'mail', 'reservations', 'queue'].map(
        (tab) => `/sw/${ids.swarm}?tab=${tab}`,
      ),
      '/login',
      `/s/${ids.blocked}`,
      `/s/${ids.done}?tab=diff`,
      `/s/${ids.done}?tab=events`,
      `/s/${ids.done}?tab=result`,
      `/s/${ids.done}?tab=transcript`,
      `/s/${ids.done}/evidence`,
      `/s/${ids.done}/i/1?tab=brief`,
      `/s/${ids.stale}/evidence`,
      `/s/${ids.draft}`,
      `/w/${ids.plan}`,
      `/w/${ids.review}`,
      `/w/${ids.review}/review`,
      `/r/${ids.research}`,
      `/r/${ids.research}?view=commander`,
      `/s/${ids.checks}`,
      `/w/${ids.extension}`,
    ];
    expect([...empty, ...(await findingsAt(addresses))]).toEqual([]);
  });

  it('has no finding in what is opened: dialogs, editors, the palette', async () => {
    const ids = await fillScene();
    const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
    const states: [address: string, ...opens: ((page: Page) => Promise<void>)[]][] = [
      [`/w/${ids.plan}`, press('Edit plan'), press('Edit all of it as text')],
      [`/w/${ids.plan}`, press('Reject plan')],
      [`/w/${ids.review}/review`, (page) => page.locator('.line-comment').last().click()],
      [`/s/${ids.done}`, press('Follow up')],
      [`/s/${ids.done}`, press('Discard')],
      [`/s/${ids.blocked}`, press('Abort')],
      [`/s/${ids.blocked}`, press('Note')],
      [`/s/${ids.blocked}`, (page) => page.getByText('Resume with other limits').click()],
      [`/s/${ids.draft}`, press('Edit draft')],
      ['/project?bead=spare', press('Edit bead')],
      [
        '/project?tab=reservations',
        (page) =>
          page
            .getByRole('button', { name: /^Force the end/ })
            .first()
            .click(),
      ],
      [`/r/${ids.research}`, (page) => page.getByText('The plot as a table').click()],
      ['/', (page) => page.keyboard.press('Control+k')],
      ['/', (page) => page.keyboard.press('?')],
    ];
    const findings: string[] = [];
    const page = await scene.open('/');
    for (const [address, ...opens] of states) {
      await page.goto(scene.url + address);
      await settled(page);
      for (const open of opens) await open(page);
      for (const [colorScheme, width] of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await unroll(page, width);
        for (const finding of await axe(page))
          findings.push(`${address} opened, ${colorScheme} ${width}: ${finding}`);
      }
    }
    await page.close();
    expect(findings).toEqual([]);
  });

  it('can be used by the keyboard alone', async () => {
    const id = await scene.start({
      goal: 'By the keyboard',
      command: 'cat > /dev/null; echo x > y; echo "<signal>BLOCKED: a or b?</signal>"',
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open('/?q=By+the+keyboard');
    await page.getByRole('link', { name: 'By the keyboard', exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'By the keyboard' }).waitFor();
    await page.keyboard.press('d');
    await eventually(() => page.getByRole('tab', { name: 'Diff' }).getAttribute('aria-selected')).toBe(
      'true',
    );
    await page.keyboard.press('e');
    await eventually(() => page.getByRole('tab', { name: 'Evidence' }).getAttribute('aria-selected')).toBe(
      'true',
    );
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Action' }).fill('transcript');
    await page.keyboard.press('Enter');
    await eventually(() => page.getByRole('tab', { name: 'Transcript' }).getAttribute('aria-selected')).toBe(
      'true',
    );
    await page.keyboard.press('a');
    await page.keyboard.type('b');
    await page.keyboard.press('Control+Enter');
    await eventually(
      async () => (await scene.ask('GET', `/api/pulse/${id}/history?types=session.resumed`)).events.length,
    ).toBe(1);
    await page.close();
  });

  it('answers and approves on a telephone', async () => {
    const id = await scene.start({
      goal: 'Asked on the way',
      command:
        'if grep -q "Take b."; then date > done.txt; echo "<signal>COMPLETE</signal>"; else date > asked.txt; echo "<signal>BLOCKED: a or b?</signal>"; fi',
      verify: ['true'],
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open('/', { width: 390 });
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: /^Needs me/ })
      .click();
    const row = page.getByRole('listitem').filter({ hasText: 'Asked on the way' });
    await row.getByRole('link', { name: 'Answer' }).click();
    await page.getByRole('textbox', { name: 'Answer' }).fill('Take b.');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    const status = page.getByRole('status', { name: 'Session status' });
    await status.getByText('complete', { exact: true }).waitFor();

    const plan = { title: 'Planned', pulses: [{ id: 'a', title: 'First', description: 'Write.' }] };
    const { sessionId } = await scene.ask('POST', '/api/workflows', {
      ...{ projectPath: scene.repository, command: 'cat > /dev/null; sleep 600' },
      plan: { ...plan, verify: [{ command: 'true', source: 'Test' }] },
    });
    await page.goto(`${scene.url}/w/${sessionId}`);
    await page.getByRole('button', { name: 'Approve plan' }).click();
    await status.getByText('running', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'Pulses' }).getByText('First').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    await scene.ask('POST', `/api/pulse/${sessionId}/abort`);
    await page.close();
  });

  it('tells the same by its roles and names: the overview, a question, a review', async () => {
    const ids = await fillScene();
    const page = await scene.open('/');
    for (const [address, ...lines] of [
      [
        '/',
        '- heading "Sessions" [level=1]',
        '- searchbox "Filter"',
        '- heading /Needs you/ [level=2]',
        '- list "Needs you":',
        '- listitem:',
        '- link "Write something that must be asked about"',
        '- list "Done":',
      ],
      [
        `/s/${ids.blocked}`,
        '- heading "Write something that must be asked about" [level=1]',
        '- status "Session status": blocked',
        '- heading "The agent asks" [level=2]',
        '- textbox "Answer"',
        '- button "Resume"',
        '- list "Timeline":',
        '- listitem:',
        '- tablist',
        '- tab "Result" [selected]',
        '- tabpanel "Result"',
      ],
      [
        `/w/${ids.review}/review`,
        '- heading "Write by plan" [level=1]',
        '- status "Session status": blocked',
        '- region "Changes"',
        '- button /Comment on .* line/',
        '- button "Approve and merge"',
        '- textbox "What is missing"',
      ],
    ] as const) {
      await page.goto(scene.url + address);
      await settled(page);
      const tree = page.locator('main');
      for (const line of lines) await eventually(() => tree.ariaSnapshot()).toMatch(patternOf(line));
    }
    await page.close();
  });

  it('has a word and a sign of its own for each status, so that no colour is needed', async () => {
    const ids = await fillScene();
    const { session } = await scene.ask('GET', `/api/pulse/${ids.blocked}?view=head`);
    const statuses = ['pending', 'running', 'complete', 'blocked', 'failed', 'paused', 'aborted'];
    const sessions = statuses.map((status) => ({
      ...session,
      ...{ id: `ses_${status}`, goal: `It is ${status}`, status, runner: 'alive', attention: 'running' },
    }));
    const page = await scene.open('/login');
    await page.route('**/api/live*', (route) => route.abort());
    await page.route('**/api/pulse?view=card*', (route) =>
      route.fulfill({ json: { sessions, nextCursor: null } }),
    );
    await page.goto(scene.url);
    const signs = new Set<string>();
    for (const status of statuses) {
      const row = page.getByRole('listitem').filter({ hasText: `It is ${status}` });
      const tag = row.locator('.tag').filter({ hasText: status });
      await tag.getByText(status, { exact: true }).waitFor();
      signs.add(await tag.locator('svg').first().innerHTML());
    }
    expect(signs.size).toBe(statuses.length);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  });

  it('holds ten thousand iterations and two megabytes of a diff', async () => {
    const id = await scene.start({
      goal: 'A long night',
      command: 'cat > /dev/null; seq 1 250000 > big.txt; echo "<signal>BLOCKED: enough?</signal>"',
    });
    await scene.waitFor(id, 'blocked');
    multiplyIterations(scene.home, { id, count: 10_000 });
    const page = await scene.open(`/s/${id}`);
    const timeline = page.getByRole('list', { name: 'Timeline' });
    await timeline.getByText('Iteration 10000').waitFor();
    expect(await timeline.getByRole('listitem').count()).toBeLessThan(60);
    const scroller = page.locator('.scroller').first();
    await until(
      'older pages come',
      async () => {
        await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        const last = await timeline.getByRole('listitem').last().textContent();
        return Number(/Iteration (\d+)/.exec(last ?? '')?.[1]) < 9_500;
      },
      PATIENCE_MS,
    );
    await page.getByLabel('Go to iteration').fill('4321');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/i/4321*`);

    await page.goto(`${scene.url}/s/${id}/i/1?tab=diff`);
    await page.getByRole('button', { name: 'Show it' }).click();
    await page.getByRole('region', { name: 'Changed lines' }).waitFor();
    expect(await page.locator('.line').count()).toBeLessThan(200);
    await page.close();
  });

  it('is small enough for its first view', async () => {
    const [folder] = globSync(join(scene.home, 'page/*/assets'));
    expect(existsSync(folder!)).toBe(true);
    const index = readFileSync(join(folder!, '../index.html'), 'utf8');
    const sizeOf = (ending: string): number =>
      [...index.matchAll(/\/assets\/[\w.-]+/g)]
        .map(([name]) => name)
        .filter((name) => name.endsWith(ending))
        .reduce((sum, name) => sum + statSync(join(folder!, '..', `${name}.gz`)).size, 0);
    expect(sizeOf('.js')).toBeLessThan(130_000);
    expect(sizeOf('.js')).toBeGreaterThan(10_000);
    expect(sizeOf('.css')).toBeLessThan(12_000);
  });
});

/** Once: its beads have names of their own in the project. */
let filled: ReturnType<typeof makeAll> | undefined;
function fillScene(): ReturnType<typeof makeAll> {
  filled ??= makeAll();
  return filled;
}

async function makeAll() {
  // Before the repository has a config, whose checks would be theirs, too.
  const decisions = await makeDecisions();
  return { ...decisions, ...(await makeSessions()) };
}

async function makeSessions() {
  const projectPath = scene.repository;
  const blocked = await scene.start({
    goal: 'Write something that must be asked about',
    command:
      'cat > /dev/null; echo x > a; echo "# Title"; echo "- a `b`"; echo "<signal>BLOCKED: a or b?</signal>"',
  });
  const done = await scene.start({
    goal: 'Write what is verified',
    command: 'cat > /dev/null; seq 1 9 > b; echo "<signal>COMPLETE</signal>"',
    verify: ['test -f b'],
  });
  const stale = await scene.start({
    goal: 'Claim, and change it afterwards',
    command:
      'cat > /dev/null; date > "s$PULSE_ITERATION"; if [ "$PULSE_ITERATION" = 1 ]; then echo "<signal>COMPLETE</signal>"; else echo "<signal>BLOCKED: what else?</signal>"; fi',
    verify: ['test -f never'],
  });
  const plan = { title: 'Write by plan', pulses: [{ id: 'a', title: 'First', description: 'Write c.' }] };
  const { sessionId: waiting } = await scene.ask('POST', '/api/workflows', {
    projectPath,
    plan,
    command: 'true',
  });
  const { sessionId: review } = await scene.ask('POST', '/api/workflows', {
    projectPath,
    plan: { ...plan, verify: [{ command: 'test -f c', source: 'Test' }] },
    approve: true,
    command: `cat > /dev/null; seq 1 30 > c; seq 1 3 >> README.md; sed -i 2d package.json; pulse tool pulse_done '{"summary": "feat: c", "filesChanged": ["c", "README.md", "package.json"]}'`,
  });
  const { sessionId: research } = await scene.ask('POST', '/api/research', {
    projectPath,
    research: {
      goal: 'Write less',
      metric: { name: 'bytes', direction: 'lower', verifyCommand: 'wc -c < README.md' },
      scope: { inScope: ['README.md'] },
    },
    iterations: 1,
    command: 'cat > /dev/null; head -c -3 README.md > x; cat x > README.md; rm x; echo "Cut."',
  });
  scene.pulse('init');
  const project_key = projectPath;
  await scene.ask('POST', '/api/beads', { project_key, id: 'epic', title: 'Some things', type: 'epic' });
  for (const id of ['first', 'second'])
    await scene.ask('POST', '/api/beads', {
      ...{ project_key, epic: 'epic', id, title: `The ${id} thing`, body: 'Do it.' },
      ...{ files: [`${id}.txt`], verify: ['true'], dependencies: id === 'second' ? ['first'] : [] },
    });
  const { sessionId: swarm } = await scene.ask('POST', '/api/swarms', {
    ...{ projectPath, epic: 'epic', workers: 1 },
    command: 'cat > /dev/null; echo "<signal>BLOCKED: which?</signal>"',
  });
  await eventually(
    async () => (await scene.ask('GET', `/api/swarms/${swarm}`)).workers.length,
  ).toBeGreaterThan(0);
  await scene.ask('POST', '/api/beads', { project_key, id: 'spare', title: 'A spare thing' });
  const drafted = {
    epic: { id: 'dates', title: 'Dates' },
    beads: [{ id: 'dates-1', title: 'Parse', files: ['src/a.ts'], verify: ['npm test'] }],
  };
  const { sessionId: draft } = await scene.ask('POST', '/api/beads/plan', {
    ...{ projectPath, goal: 'Dates in words' },
    command: `cat > /dev/null; pulse tool propose_beads '${JSON.stringify({ draft: drafted })}'`,
  });
  await scene.ask('POST', '/api/mail/agents', { project_key, name: 'Fox' });
  await scene.ask('POST', '/api/reservations', {
    ...{ project_key, agent_name: 'Fox', paths: ['src/read/first.ts'], ttl: '1h', reason: 'I am at it.' },
  });
  await Promise.all([
    ...[blocked, stale, waiting, review].map((id) => scene.waitFor(id, 'blocked')),
    ...[done, research, draft].map((id) => scene.waitFor(id, 'complete')),
  ]);
  return { blocked, stale, done, plan: waiting, review, research, swarm, draft };
}

/** What waits for the two decisions that the other sessions do not wait for. */
async function makeDecisions() {
  const checks = await scene.start({
    goal: 'Write over a test',
    command: `cat > /dev/null; echo "export const slugify = () => 'x';" >> src/index.js; sed -i "s/slugify('[^']*'), '[^']*'/slugify('a'), 'x'/" test/slugify.test.js; echo '<checks_changed>test/slugify.test.js: every slug is x</checks_changed>'; echo "<signal>COMPLETE</signal>"`,
    verify: ['node --test'],
  });
  const { sessionId: extension } = await scene.ask('POST', '/api/workflows', {
    projectPath: scene.repository,
    plan: {
      title: 'Write in two runs',
      pulses: [{ id: 'one', title: 'Long', description: 'Write.' }],
      verify: [{ command: 'true', source: 'Test' }],
    },
    command: `cat > /dev/null; pulse tool request_extension '{"reason": "More.", "completed": ["a"], "remaining": ["b"]}'`,
    ...{ extensions: 'ask', approve: true },
  });
  await Promise.all([checks, extension].map((id) => scene.waitFor(id, 'blocked')));
  return { checks, extension };
}

/** A line of the tree, in which /a pattern/ stands for a name. */
function patternOf(line: string): RegExp {
  const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parts = line.split('/');
  return new RegExp(parts.map((part, at) => (at === 1 ? `"[^"]*${part}[^"]*"` : escaped(part))).join(''));
}

/** Findings of axe at each address, and what is too wide there, in each look. */
async function findingsAt(addresses: readonly string[]): Promise<string[]> {
  const findings: string[] = [];
  const page = await scene.open('/');
  for (const address of addresses) {
    await page.goto(scene.url + address);
    await settled(page);
    for (const [colorScheme, width] of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await unroll(page, width);
      for (const finding of await axe(page)) findings.push(`${address} ${colorScheme} ${width}: ${finding}`);
      for (const wide of await tooWide(page)) findings.push(`${address} ${width}: too wide: ${wide}`);
    }
  }
  await page.close();
  return findings;
}

/** All of the page at once: what lies half under a bar that stays would count as too small a target. */
async function unroll(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.max(800, Math.min(6_000, height + 100)) });
}

async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeCore.source);
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await (
      window as unknown as {
        axe: {
          run(
            on: Document,
            how: object,
          ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
        };
      }
    ).axe.run(document, { runOnly: tags });
    return violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 160)}`);
  });
}

/** The page never scrolls sideways; what has to, does so in a part of its own. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const all = [...document.querySelectorAll('main *')];
    const wide = all.filter((element) => element.getBoundingClientRect().right > innerWidth);
    return wide.slice(-2).map((element) => element.outerHTML.slice(0, 200));
  });
}
