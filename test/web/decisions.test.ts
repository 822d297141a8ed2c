/** The decisions of a person that no other file takes: each by its button, on the real server, with real sessions. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { handoffPayload } from '../../src/loops/beads/files/handoff-payload.ts';
import { writeHandoff } from '../../src/loops/beads/files/handoffs.ts';
import { until } from '../e2e/scene.ts';
import { BROWSER, eventually, PATIENCE_MS, useWebScene } from './scene.ts';

const scene = useWebScene();
const DONE = 'cat > /dev/null; date +%N > made-$$; echo "<signal>COMPLETE</signal>"';
const RESEARCH = {
  goal: 'A shorter README',
  metric: { name: 'bytes', direction: 'lower', verifyCommand: 'wc -c < README.md' },
  scope: { inScope: ['README.md'] },
};
const SHORTEN = 'cat > /dev/null; head -c -3 README.md > x; cat x > README.md; rm x; echo "Cut the end."';

async function merged(goal: string, how: string): Promise<string> {
  const id = await scene.start({ goal, command: DONE, verify: ['true'] });
  await scene.waitFor(id, 'complete');
  const page = await scene.open(`/s/${id}`);
  await page.getByLabel('Merge by').selectOption(how);
  await page.getByRole('button', { name: 'Approve and merge' }).click();
  await page.getByText(/^Merged into/).waitFor();
  await page.close();
  return (await scene.ask('GET', `/api/pulse/${id}`)).session.merged_sha;
}

async function researched(): Promise<string> {
  const body = { projectPath: scene.repository, research: RESEARCH, iterations: 1, command: SHORTEN };
  const { sessionId } = await scene.ask('POST', '/api/research', body);
  await scene.waitFor(sessionId, 'complete');
  return sessionId;
}

function initOnce(): void {
  if (!existsSync(join(scene.repository, '.pulse/config.yaml'))) scene.pulse('init');
}

/** The processes that drive sessions apart from the server's own. */
function endRunners(): void {
  const isRunner = (pid: number): boolean =>
    /\b(?:supervise|run-session)\b/.test(ofProcess(pid, 'cmdline')) &&
    ofProcess(pid, 'environ').includes(`PULSE_HOME=${scene.home}`);
  const all = readdirSync('/proc').map(Number).filter(Boolean);
  for (const pid of all.filter(isRunner)) process.kill(pid, 'SIGKILL');
}

function ofProcess(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

const statusOf = (page: Page) => page.getByRole('status', { name: 'Session status' });
const idOf = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1)!;

describe.skipIf(!BROWSER)('a person on the page', () => {
  it('rejects changed checks, and the next run is told why', async () => {
    const weaken =
      `echo "export const slugify = () => 'x';" >> src/index.js; ` +
      `sed -i "s/slugify('[^']*'), '[^']*'/slugify('a'), 'x'/" test/slugify.test.js; ` +
      "echo '<checks_changed>test/slugify.test.js: every slug is x</checks_changed>'; echo '<signal>COMPLETE</signal>'";
    const id = await scene.start({
      goal: 'Weaken a test again',
      command: `if grep -q "Mend the code instead."; then date > asked; echo "<signal>BLOCKED: how then?</signal>"; else ${weaken}; fi`,
      verify: ['node --test'],
      maxIterations: 3,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    await page.getByRole('heading', { name: 'The completion changed its own checks' }).waitFor();
    await page.getByLabel('Or say what to do instead').fill('Mend the code instead.');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByRole('heading', { name: 'The agent asks' }).waitFor();
    await page.getByText('how then?').first().waitFor();
    await page.close();
  });

  it('starts a workflow from its plan', async () => {
    const page = await scene.open('/new?kind=workflow');
    const plan = {
      title: 'Begun by a plan',
      pulses: [{ id: 'one', title: 'One', description: 'Write.' }],
      verify: [{ command: 'true', source: 'Test' }],
    };
    await page.getByLabel('Plan, as JSON').fill(JSON.stringify(plan));
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByLabel('Command, instead of an agent').fill('true');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Begun by a plan' }).waitFor();
    await page.getByRole('button', { name: 'Approve plan' }).waitFor();
    await page.close();
  });

  it('starts research, reads its report, and leaves it for later', async () => {
    const page = await scene.open('/new?kind=research');
    await page.getByLabel('Research, as JSON').fill(JSON.stringify(RESEARCH));
    await page.getByRole('textbox', { name: 'Experiments' }).fill('1');
    await page.getByRole('combobox', { name: 'Repository' }).fill(scene.repository);
    await page.getByLabel('Command, instead of an agent').fill(SHORTEN);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: RESEARCH.goal }).waitFor();
    await statusOf(page).getByText('complete', { exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Report', exact: true }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toContain(RESEARCH.goal);
    await page.getByRole('button', { name: 'Leave for later' }).click();
    const phase = async () => (await scene.ask('GET', `/api/research/${idOf(page)}`)).research.phase;
    await eventually(phase).toBe('paused');
    await page.close();
  });

  it('is led to the login where a download needs a key that is none any longer, and back', async () => {
    const id = await researched();
    const page = await scene.open(`/r/${id}`, { theme: 'dark' });
    const refusal = { error: { code: 'unauthorized', message: 'No.' } };
    await page.route('**/api/tickets', (route) => route.fulfill({ status: 401, json: refusal }));
    await page.getByRole('button', { name: 'Report', exact: true }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill(scene.token);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Report', exact: true }).waitFor();
    await page.close();
  });

  it('has the next steps of research implemented by as many workers as were said', async () => {
    initOnce();
    const id = await researched();
    const page = await scene.open(`/r/${id}`);
    await page.getByLabel('Workers').fill('2');
    await page.getByRole('button', { name: 'Implement next steps' }).click();
    await page.waitForURL('**/sw/*');
    await page.getByRole('button', { name: /^Make ready to merge/ }).waitFor();
    const { swarm } = await scene.ask('GET', `/api/swarms/${idOf(page)}`);
    expect(swarm.workers).toBe(2);
    expect((await scene.ask('GET', `/api/research/${id}`)).research.phase).toBe('implementing');
    await scene.ask('POST', `/api/pulse/${idOf(page)}/abort`);
    await page.close();
  });

  it('merges as one commit, or with a commit that merges', async () => {
    const squashed = await merged('To be squashed', 'squash');
    expect(scene.git('rev-parse', 'main')).toBe(squashed);
    expect(scene.git('rev-list', '--parents', '-1', 'main').split(' ')).toHaveLength(2);
    await merged('To be merged', 'merge');
    expect(scene.git('rev-list', '--parents', '-1', 'main').split(' ')).toHaveLength(3);
  });

  it('has the baseline of a workflow recorded again', async () => {
    const known = join(scene.directory, 'known');
    writeFileSync(known, 'src/a.ts(1,1): error TS2304: Cannot find it.\n');
    const { sessionId: id } = await scene.ask('POST', '/api/workflows', {
      projectPath: scene.repository,
      plan: {
        title: 'With known issues',
        pulses: [{ id: 'one', title: 'One', description: 'Write.' }],
        verify: [{ command: `cat ${known}; exit 2`, source: 'Build' }],
      },
      command: `cat > /dev/null; echo b > b.txt; pulse tool pulse_done '{"summary": "feat: b", "filesChanged": ["b.txt"]}'`,
      approve: true,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/w/${id}`);
    await page.getByText('1 known', { exact: true }).click();
    await page.getByRole('cell', { name: /Cannot find it/ }).waitFor();
    writeFileSync(known, 'src/a.ts(1,1): error TS9999: It is another.\n');
    await page.getByRole('button', { name: 'Record it again' }).click();
    await page.getByRole('cell', { name: /It is another/ }).waitFor();
    await page.close();
  });

  it('gives what one worker has left to another', async () => {
    initOnce();
    const project_key = scene.repository;
    await scene.ask('POST', '/api/beads', { project_key, id: 'left', title: 'Left', type: 'epic' });
    await scene.ask('POST', '/api/beads', { project_key, id: 'left-1', title: 'A bead', epic: 'left' });
    const { sessionId } = await scene.ask('POST', '/api/swarms', {
      ...{ projectPath: project_key, epic: 'left', workers: 1, command: 'true' },
    });
    await writeHandoff(
      project_key,
      handoffPayload({
        ...{ mode: 'standalone', feature: 'left', pausedAt: new Date().toISOString(), contextUsed: 0.7 },
        ...{ closedBeads: [], beadInFlight: null, nextHint: null },
      }),
    );
    const page = await scene.open(`/sw/${sessionId}?tab=workers`);
    await page.getByText('single-worker').waitFor();
    await page.getByLabel('Give it to').fill('worker-b');
    await page.getByRole('button', { name: 'Reassign' }).click();
    await page.getByText('worker-b').waitFor();
    const { handoffs } = await scene.ask('GET', `/api/swarms/${sessionId}/handoffs`);
    expect(handoffs).toMatchObject([{ owner_id: 'worker-b' }]);
    await page.close();
  });

  it('adopts a session whose process is gone', async () => {
    const begun = join(scene.directory, 'begun-by-one-that-dies');
    const command = `cat > /dev/null; if mkdir ${begun} 2> /dev/null; then sleep 600; fi; date > adopted; echo "<signal>COMPLETE</signal>"`;
    scene.pulse('start', 'Left by its process', '--command', command, '--verify', 'true', '--detach');
    await until('the agent works', () => existsSync(begun), PATIENCE_MS);
    endRunners();
    const page = await scene.open('/');
    const row = page.getByRole('listitem').filter({ hasText: 'Left by its process' });
    await row.getByRole('link', { name: 'Adopt' }).click();
    await page.getByText('Nobody runs this session').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await statusOf(page).getByText('complete', { exact: true }).waitFor();
    await page.close();
  });
});
