/** What agents, files and other people write is shown as it is, and does nothing; other pages get nothing. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts, marked } from '../fakes/hostile-texts.ts';
import { expectInert, openTrap, type Trap } from './hostile.ts';
import { BROWSER, REBOUND, settled, useWebScene } from './scene.ts';

const scene = useWebScene();
/** Without the policy: what is not escaped would run. */
const BARE = { ignoresPolicy: true };

let trap: Trap;
let ids: Record<'goal' | 'plan' | 'review' | 'research' | 'swarm' | 'checks', string>;

describe.skipIf(!BROWSER)('what others write', () => {
  beforeAll(async () => {
    trap = await openTrap();
    ids = await fillScene();
  });
  afterAll(() => trap[Symbol.asyncDispose]());

  it('does nothing in any view, even where no policy would stop it', async () => {
    const page = await scene.open('/', BARE);
    page.on('dialog', (dialog) => {
      scene.complaints.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    for (const [address, ...places] of views()) {
      await page.goto(scene.url + address);
      await settled(page);
      await openAll(page);
      for (const place of places)
        await page.getByText(`hostile ${place}`).first().waitFor({ state: 'attached' });
      await expectInert(page, address);
    }
    await page.close();
    expect(trap.heard).toEqual([]);
  });

  it('does nothing in what is opened, edited and announced', async () => {
    const page = await scene.open(`/sw/${ids.swarm}`, BARE);
    await page
      .getByRole('button', { name: /hostile bead/ })
      .first()
      .click();
    await page.getByRole('dialog').getByText('hostile body').first().waitFor();
    await expectInert(page, 'a bead');
    await page.goto(`${scene.url}/w/${ids.plan}`);
    await page.getByRole('button', { name: 'Edit plan' }).click();
    await page.getByLabel('Title').first().waitFor();
    await expectInert(page, 'a plan that is edited');
    await page.goto(`${scene.url}/w/${ids.review}/review`);
    await page.getByText('hostile content').first().waitFor();
    await expectInert(page, 'a review');
    await page.close();
    expect(trap.heard).toEqual([]);
  });

  it('does nothing in a report that was exported', async () => {
    for (const id of [ids.goal, ids.review]) {
      const report = scene.pulse('export', id, '--format', 'html');
      expect(report).toContain('hostile');
      trap.pages.set(`/report-${id}`, report);
      const page = await scene.openElsewhere(`${trap.url}/report-${id}`, BARE);
      await page.locator('h1').waitFor();
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await expectInert(page, 'the report');
      expect(await page.locator('script').count()).toBe(0);
      await page.close();
    }
    expect(trap.heard).toEqual([]);
  });

  it('made the browser complain of nothing, and ask nobody else', () => {
    expect(scene.complaints).toEqual([]);
    expect(scene.strangers).toEqual([]);
  });
});

describe.skipIf(!BROWSER)('a page of another port', () => {
  it('can neither read, nor change, nor follow, nor show anything', async () => {
    await using other = await openTrap();
    other.pages.set('/', '<!doctype html><title>other</title><h1>Another page</h1>');
    const page = await scene.openElsewhere(other.url);
    const before = (await scene.ask('GET', '/api/pulse')).sessions.length;
    const got = await page.evaluate(attack, { url: scene.url, path: scene.repository });
    expect(got).toEqual({
      read: 'failed',
      readWithCookies: 'failed',
      readBlind: 'failed',
      changedBlind: 'failed',
      changedWithType: 'failed',
      script: 'failed',
      module: 'failed',
      image: 'failed',
      style: 'failed',
      events: 'failed',
      socket: 'failed',
      frame: 'nothing',
      cookies: '',
      channel: 'nothing',
    });
    expect((await scene.ask('GET', '/api/pulse')).sessions).toHaveLength(before);
    await page.close();
  });

  it('gets nothing by a name that was made to mean this machine', async () => {
    const page = await scene.openElsewhere(scene.url.replace('127.0.0.1', REBOUND));
    expect(await page.locator('body').textContent()).toContain('forbidden');
    const statuses = await page.evaluate(() =>
      Promise.all(
        ['/', '/api/pulse', '/api/live', '/openapi.json', '/metrics', '/api/health'].map(
          async (path) => (await fetch(path)).status,
        ),
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([403]));
    await page.close();
  });

  it('finds no cookie, and no header that would let it in', async () => {
    for (const path of ['/', '/api/pulse', '/api/health', '/api/nothing']) {
      const { headers } = await fetch(scene.url + path, {
        headers: { authorization: `Bearer ${scene.token}` },
      });
      const names = [...headers.keys()].filter((name) => /^access-control|^set-cookie/.test(name));
      expect([path, names]).toEqual([path, []]);
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });
});

/** Runs in the page of another port: every way by which one page can reach another's server. */
async function attack({ url, path }: { url: string; path: string }): Promise<Record<string, string>> {
  const outcome = (asked: Promise<Response>): Promise<string> =>
    asked.then(
      (answer) => (answer.type === 'opaque' ? 'opaque' : `read ${answer.status}`),
      () => 'failed',
    );
  const body = JSON.stringify({ goal: 'Of another page', projectPath: path, command: 'true' });
  const load = (name: string, attributes: Record<string, string>): Promise<string> =>
    new Promise((resolve) => {
      const element = Object.assign(document.createElement(name), attributes);
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('failed');
      document.body.append(element);
    });
  const events = new EventSource(`${url}/api/live`, { withCredentials: true });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live`);
  const heard: string[] = [];
  new BroadcastChannel('pulse.live').onmessage = ({ data }) => heard.push(JSON.stringify(data));
  const frame = document.createElement('iframe');
  frame.src = url;
  const framed = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  await framed;
  return {
    read: await outcome(fetch(`${url}/api/pulse`)),
    readWithCookies: await outcome(fetch(`${url}/api/pulse`, { credentials: 'include' })),
    readBlind: await outcome(fetch(`${url}/api/pulse`, { mode: 'no-cors' })),
    changedBlind: await outcome(fetch(`${url}/api/pulse/start`, { method: 'POST', mode: 'no-cors', body })),
    changedWithType: await outcome(
      fetch(`${url}/api/pulse/start`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
        body,
      }),
    ),
    script: await load('script', { src: `${url}/api/pulse` }),
    module: await load('script', { src: `${url}/`, type: 'module' }),
    image: await load('img', { src: `${url}/icon.svg` }),
    style: await load('link', { href: `${url}/`, rel: 'stylesheet' }),
    events: await new Promise((resolve) => {
      events.onopen = () => resolve('open');
      events.onerror = () => resolve(events.readyState === EventSource.OPEN ? 'open' : 'failed');
      if (events.readyState === EventSource.CLOSED) resolve('failed');
    }),
    socket: await new Promise((resolve) => {
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('failed');
      if (socket.readyState === WebSocket.CLOSED) resolve('failed');
    }),
    frame: frame.contentDocument?.body?.textContent || 'nothing',
    cookies: document.cookie,
    channel: heard.join() || 'nothing',
  };
}

/** Each address, and the places whose words it must show. */
function views(): [address: string, ...places: string[]][] {
  return [
    ['/', 'goal', 'question'],
    [`/s/${ids.goal}`, 'goal', 'question', 'summary'],
    [`/s/${ids.goal}/i/1?tab=result`, 'summary', 'path'],
    [`/s/${ids.goal}?tab=transcript`, 'said'],
    [`/s/${ids.goal}?tab=diff`, 'path', 'content'],
    [`/s/${ids.goal}?tab=brief`, 'goal'],
    [`/s/${ids.goal}?tab=events`, 'goal', 'question'],
    [`/s/${ids.goal}/evidence`, 'goal'],
    [`/s/${ids.checks}`, 'declared', 'check'],
    [`/s/${ids.review}/evidence`, 'plan', 'decider'],
    ['/search?q=hostile', 'goal', 'subject', 'bead'],
    [`/w/${ids.plan}`, 'plan', 'pulse', 'description', 'approach'],
    [`/w/${ids.review}`, 'plan', 'approver'],
    [`/r/${ids.research}`, 'research', 'finisher', 'metric'],
    [`/r/${ids.research}?view=commander`, 'research'],
    ...projectViews(),
    [`/sw/${ids.swarm}?tab=board`, 'bead'],
    [`/sw/${ids.swarm}?tab=graph`, 'bead'],
    [`/sw/${ids.swarm}?tab=workers`],
    [`/sw/${ids.swarm}?tab=mail`, 'subject', 'mail', 'topic'],
    [`/sw/${ids.swarm}?tab=reservations`, 'reserved', 'reason'],
    [`/sw/${ids.swarm}?tab=queue`],
    ['/settings', 'device'],
    ['/new'],
  ];
}

function projectViews(): [address: string, ...places: string[]][] {
  const at = (tab: string): string => `/project?path=${encodeURIComponent(scene.repository)}&tab=${tab}`;
  return [
    [at('beads'), 'bead'],
    [at('graph'), 'bead'],
    [at('mail'), 'subject', 'mail'],
    [at('reservations'), 'reserved', 'reason'],
    [at('context')],
    [at('proofs')],
  ];
}

async function fillScene(): Promise<typeof ids> {
  const texts = hostileTexts(trap.url);
  const all = texts.join('\n');
  const projectPath = scene.repository;
  const file = `hostile path <img src=x onerror=window.hacked=1>.txt`;
  const write = `printf '%s\\n' "$HOSTILE" > '${file}'`;
  const heredoc = (text: string): string => `HOSTILE=$(cat <<'END-OF-IT'\n${text}\nEND-OF-IT\n)`;
  const printable = all.replaceAll('\u0000', '');

  const goal = await scene.start({
    goal: marked('goal', printable),
    command: [
      'cat > /dev/null',
      heredoc(marked('content', printable)),
      write,
      `git add -A; git -c user.name='${marked('author', texts[0]!)}' commit -qm "$HOSTILE"`,
      'printf "%s\\n" "$HOSTILE" > second.txt',
      heredoc(marked('said', `${printable}\nhostile summary ${texts[0]}`)),
      'printf "%s\\n" "$HOSTILE"',
      `printf '<signal>BLOCKED: %s</signal>\\n' '${marked('question', texts[0]!).replaceAll("'", '')}'`,
    ].join('\n'),
  });
  const plan = {
    title: marked('plan', texts[0]!),
    approach: marked('approach', printable),
    pulses: [
      {
        id: 'one',
        title: marked('pulse', texts[2]!),
        description: marked('description', printable),
        expectedChanges: [file],
      },
    ],
    verify: [{ command: `true # ${texts[0]}`, source: 'Test' }],
  };
  const asked = (method: string, path: string, body: unknown) => scene.ask(method, path, body);
  const waiting = await asked('POST', '/api/workflows', { projectPath, plan, command: 'true' });
  const done = JSON.stringify({ summary: `feat: ${marked('commit', texts[0]!)}`, filesChanged: [file] });
  const review = await asked('POST', '/api/workflows', {
    projectPath,
    plan,
    approve: true,
    command: `cat > /dev/null\n${heredoc(marked('content', printable))}\n${write}\n${heredoc(done)}\npulse tool pulse_done "$HOSTILE"`,
  });
  const research = await asked('POST', '/api/research', {
    projectPath,
    research: {
      goal: marked('research', texts[0]!),
      metric: { name: 'hostile metric <img src=x>', direction: 'lower', verifyCommand: 'wc -c < README.md' },
      scope: { inScope: ['README.md'] },
    },
    iterations: 1,
    command: `cat > /dev/null\nhead -c -3 README.md > x; cat x > README.md; rm x\n${heredoc(marked('said', printable))}\nprintf '%s\\n' "$HOSTILE"`,
  });
  const image = '<img src=x onerror=window.hacked=1>';
  const checks = await scene.start({
    goal: marked('weakened', image),
    command: [
      'cat > /dev/null',
      `echo "export const slugify = () => 'hostile check ${image}';" >> src/index.js`,
      `sed -i "s/slugify('[^']*'), '[^']*'/slugify('a'), 'hostile check ${image}'/" test/slugify.test.js`,
      `echo '<checks_changed>test/slugify.test.js: hostile declared ${image}</checks_changed>'`,
      'echo "<signal>COMPLETE</signal>"',
    ].join('\n'),
    verify: ['node --test'],
  });
  await scene.waitFor(checks, 'blocked');
  const swarm = await fillProject(projectPath, printable, texts);
  await scene.ask('POST', '/api/login', { token: scene.token, name: 'phone' });
  await Promise.all([
    ...[goal, waiting.sessionId, review.sessionId].map((id) => scene.waitFor(id, 'blocked')),
    scene.waitFor(research.sessionId, 'complete'),
  ]);
  nameDeciders(texts[0]!);
  return {
    ...{ goal, swarm, checks },
    ...{ plan: waiting.sessionId, review: review.sessionId, research: research.sessionId },
  };
}

/** Beads, mail and reservations, and a swarm that shows them. */
async function fillProject(project_key: string, all: string, texts: string[]): Promise<string> {
  scene.pulse('init');
  const epic = { project_key, id: 'hostile-epic', title: marked('epic', texts[0]!), type: 'epic' };
  await scene.ask('POST', '/api/beads', epic);
  const bead = { project_key, epic: epic.id, title: marked('bead', texts[0]!), body: marked('body', all) };
  await scene.ask('POST', '/api/beads', { ...bead, id: 'hostile-1' });
  await scene.ask('POST', '/api/beads', {
    ...bead,
    id: 'hostile-2',
    files: ['hostile.txt'],
    verify: [`true # ${texts[0]}`],
  });
  for (const name of ['Fox', 'Owl']) await scene.ask('POST', '/api/mail/agents', { project_key, name });
  await scene.ask('POST', '/api/mail', {
    project_key,
    sender_name: 'Fox',
    to: ['Owl'],
    subject: marked('subject', texts[0]!),
    body_md: marked('mail', all),
    topic: 'hostile topic <img src=x>',
  });
  await scene.ask('POST', '/api/reservations', {
    project_key,
    agent_name: 'Fox',
    paths: ['hostile reserved <img src=x>.txt'],
    reason: marked('reason', texts[0]!),
  });
  const { sessionId } = await scene.ask('POST', '/api/swarms', {
    projectPath: project_key,
    epic: epic.id,
    workers: 1,
    command: 'cat > /dev/null; sleep 1; echo "<signal>BLOCKED: hostile worker <img src=x></signal>"',
  });
  return sessionId;
}

/** Chat services say what a person is called there. */
function nameDeciders(text: string): void {
  using database = new DatabaseSync(join(scene.home, 'pulse.db'), { timeout: 10_000 });
  const name = (place: string): string => `telegram:${marked(place, text)}`;
  database
    .prepare('UPDATE workflows SET approved_by = ? WHERE approved_by IS NOT NULL')
    .run(name('approver'));
  const finish = `UPDATE researches SET finished_by = ?, finished_at = ?`;
  database.prepare(finish).run(name('finisher'), new Date().toISOString());
  database.prepare(`UPDATE device_keys SET name = ? WHERE name = 'phone'`).run(marked('device', text));
  database.prepare('UPDATE judgements SET decided_by = ?').run(name('decider'));
}

/** Parts that are folded show what they hold. */
async function openAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
}
