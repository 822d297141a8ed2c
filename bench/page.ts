/** The page in a real Chromium of a quarter of this machine's speed. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import {
  EVENTS,
  eventToPaint,
  feedEvents,
  firstView,
  heapGrowth,
  multiplyIterations,
  scrolling,
  slowDown,
  TARGETS,
} from '../test/web/speed.ts';
import { ms, type Row, tell } from './row.ts';
import { median } from './statistics.ts';

const BROWSER = '/usr/bin/chromium';
const PORT = 34_127;
const URL = `http://127.0.0.1:${PORT}`;
const ASKS = 'cat > /dev/null; echo x > x; echo "<signal>BLOCKED: a or b?</signal>"';
const RUNS = 5;

const folder = mkdtempSync(join(tmpdir(), 'pulse-bench-page-'));
const home = join(folder, 'home');
const repository = join(folder, 'repository');
const env = { PATH: process.env.PATH, HOME: folder, PULSE_HOME: home };
const git = (...args: string[]): void => {
  const person = ['-c', 'user.name=T', '-c', 'user.email=t@localhost'];
  execFileSync('git', [...person, ...args], { cwd: folder, env, stdio: 'ignore' });
};
if (!existsSync(BROWSER)) {
  process.stderr.write('No Chromium is installed: the page is not measured.\n');
  tell([]);
  process.exit();
}
git('init', '-q', '-b', 'main', repository);
writeFileSync(join(repository, 'README.md'), 'A repository.\n');
git('-C', repository, 'add', '-A');
git('-C', repository, 'commit', '-q', '-m', 'first');
const program = join(import.meta.dirname, '../bin/pulse.js');
const server = spawn(process.execPath, [program, 'serve', '--port', String(PORT)], { env, stdio: 'ignore' });
const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
try {
  while ((await fetch(URL).catch(() => null))?.status !== 200) await new Promise((go) => setTimeout(go, 100));
  tell(await measure());
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function measure(): Promise<Row[]> {
  const id = await start('A long night');
  multiplyIterations(home, { id, count: 10_000 });
  const views: number[] = [];
  const events: number[] = [];
  for (let n = 0; n < RUNS; n += 1) {
    const page = await slowPage();
    views.push(await firstView(page, URL));
    await page.getByText('live', { exact: true }).waitFor();
    events.push(await eventToPaint(page, `Seen ${n}`, () => start(`Seen ${n}`).then(createdAt)));
    await page.context().close();
  }
  const page = await slowPage();
  await page.goto(`${URL}/s/${id}`);
  const { ms: frame, idleMs } = await scrolling(page);
  await page.context().close();
  const long = await (await browser.newContext()).newPage();
  await feedEvents(long, { id, count: EVENTS });
  await long.goto(`${URL}/s/${id}`);
  const heap = await heapGrowth(long, EVENTS);
  const row = (what: string, value: number, target: number): Row => ({
    what: `(v) the page, slowed down four times: ${what}`,
    ...{ measured: ms(value), beside: '', result: '', target: `≤ ${target} ms`, isMet: value <= target },
  });
  return [
    row(`first view (median of ${RUNS})`, median(views), TARGETS.firstViewMs),
    row(`stored → painted (median of ${RUNS})`, median(events), TARGETS.eventToPaintMs),
    {
      ...row('a frame while 10,000 rows are scrolled, p95', frame, TARGETS.frameMs),
      beside: `while nothing moves: ${ms(idleMs)}`,
    },
    {
      what: '(v) the page: its heap over 1,500,000 events',
      ...{ measured: `${heap.toFixed(1)} MB`, beside: '', result: '', target: `≤ ${TARGETS.heapMb} MB` },
      isMet: heap <= TARGETS.heapMb,
    },
  ];
}

async function slowPage(): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await slowDown(page);
  return page;
}

/** Answers once it is blocked. */
async function start(goal: string): Promise<string> {
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  const answer = await fetch(`${URL}/api/pulse/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ goal, projectPath: repository, command: ASKS }),
  });
  const { sessionId } = (await answer.json()) as { sessionId: string };
  while ((await headOf(sessionId)).status !== 'blocked') await new Promise((go) => setTimeout(go, 50));
  return sessionId;
}

async function createdAt(id: string): Promise<number> {
  return Date.parse((await headOf(id)).created_at);
}

async function headOf(id: string): Promise<{ status: string; created_at: string }> {
  const answer = await fetch(`${URL}/api/pulse/${id}?view=head`);
  return ((await answer.json()) as { session: { status: string; created_at: string } }).session;
}
