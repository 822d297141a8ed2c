/** The real program behind a port, and a real browser in front of it: one of each for a whole file. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { demoRepositoryFiles } from '../../src/agents/demo/repository.ts';
import { OWN_NODE, until } from '../e2e/scene.ts';

const ROOT = join(import.meta.dirname, '../..');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Without a browser the suite is skipped, and says so. */
export const BROWSER = BROWSERS.find((path) => existsSync(path));
if (!BROWSER) console.log('No Chromium is installed: the page is not tested in a browser.');

/** A name of the world that is made to mean this machine, as a page of such a name could have done. */
export const REBOUND = 'rebound.example';

/** It only guards against hanging: others may use this machine, too. */
export const PATIENCE_MS = 240_000;

const SWITCHES = [
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Chromium refuses to enclose itself for root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

export interface Look {
  width?: number;
  theme?: 'light' | 'dark';
  /** Signed in before the first page. */
  isSignedIn?: boolean;
  /** The browser does not hold the page to its Content-Security-Policy. */
  ignoresPolicy?: boolean;
  /** Times and numbers are written as anywhere. */
  isSteady?: boolean;
}

export interface WebScene {
  directory: string;
  repository: string;
  home: string;
  url: string;
  token: string;
  /** What the browser said that nobody wants to see: refusals of its policy, failures of scripts. */
  complaints: string[];
  /** Every address that was asked for and is not this server's. */
  strangers: string[];
  // biome-ignore lint/suspicious/noExplicitAny: a parsed answer
  ask(method: string, path: string, body?: unknown): Promise<any>;
  /** Starts a goal, and answers its id. */
  start(input: Record<string, unknown>): Promise<string>;
  waitFor(id: string, status: string): Promise<void>;
  open(path: string, look?: Look): Promise<Page>;
  /** A page that is not of this server. What it asks for is not held against it. */
  openElsewhere(url: string, look?: Look): Promise<Page>;
  restart(): Promise<void>;
  stop(): Promise<void>;
  /** Ends the server as a machine that loses its power does. */
  kill(): Promise<void>;
  git(...args: string[]): string;
  /** Runs a command of Pulse in the repository; answers what it printed. */
  pulse(...args: string[]): string;
}

/** Call once per file. */
export function useWebScene(): WebScene {
  vi.setConfig({ testTimeout: 2 * PATIENCE_MS, hookTimeout: PATIENCE_MS });
  const scene = { complaints: [], strangers: [] } as unknown as WebScene;
  let browser: Browser;
  let server: ChildProcess | null = null;
  let port = 0;
  const contexts = new Map<string, Promise<BrowserContext>>();

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  scene.stop = () => end('SIGTERM');
  scene.kill = () => end('SIGKILL');
  scene.restart = async () => {
    server = spawn(OWN_NODE, [join(ROOT, 'bin/pulse.js'), 'serve', '--port', String(port)], {
      cwd: scene.directory,
      env: environmentOf(scene),
      stdio: 'ignore',
    });
    await until(
      'the page is there',
      () =>
        fetch(scene.url).then(
          ({ status }) => status === 200,
          () => false,
        ),
      PATIENCE_MS,
    );
  };
  scene.ask = async (method, path, body) => {
    const answer = await fetch(scene.url + path, {
      method,
      headers: {
        authorization: `Bearer ${scene.token}`,
        // A command that is waited for may take longer than the server keeps an idle connection.
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  };
  scene.start = async (input) =>
    (await scene.ask('POST', '/api/pulse/start', { projectPath: scene.repository, ...input })).sessionId;
  scene.waitFor = (id, status) =>
    until(
      `${id} is ${status}`,
      async () => (await scene.ask('GET', `/api/pulse/${id}?view=head`)).session.status === status,
      PATIENCE_MS,
    );
  const newPage = async (look: Look): Promise<Page> => {
    const name = JSON.stringify(look);
    if (!contexts.has(name)) contexts.set(name, makeContext(browser, scene, look));
    return (await contexts.get(name)!).newPage();
  };
  scene.open = async (path, look = {}) => {
    const page = await newPage(look);
    watch(page, scene);
    await page.goto(scene.url + path);
    return page;
  };
  scene.openElsewhere = async (url, look = {}) => {
    const page = await newPage(look);
    await page.goto(url);
    return page;
  };
  scene.git = (...args) =>
    execFileSync('git', args, { cwd: scene.repository, encoding: 'utf8', env: environmentOf(scene) }).trim();

  scene.pulse = (...args) =>
    execFileSync(OWN_NODE, [join(ROOT, 'bin/pulse.js'), ...args], {
      cwd: scene.repository,
      env: environmentOf(scene),
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 16 * 1024 * 1024,
    });

  beforeAll(async () => {
    if (!BROWSER) return;
    scene.directory = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-web-')));
    scene.repository = join(scene.directory, 'titles');
    scene.home = join(scene.directory, 'home');
    makeRepository(scene);
    port = await freePort();
    scene.url = `http://127.0.0.1:${port}`;
    const launched = chromium.launch({ executablePath: BROWSER, args: SWITCHES });
    await scene.restart();
    scene.token = readFileSync(join(scene.home, 'token'), 'utf8').trim();
    browser = await launched;
  });
  afterAll(async () => {
    if (!BROWSER) return;
    await browser?.close();
    await scene.stop();
    rmSync(scene.directory, { recursive: true, force: true, maxRetries: 5 });
    // Here, and not as a case: a lane that takes a part of a file's cases checks it, too.
    expect(scene.complaints, 'what the browser complained of').toEqual([]);
    expect(scene.strangers, 'addresses of others').toEqual([]);
  });
  return scene;
}

/** Asks again until it is so. */
export function eventually<T>(ask: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(ask, { timeout: PATIENCE_MS });
}

/** All that was asked for has come. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.loading').length === 0);
}

async function makeContext(
  browser: Browser,
  scene: WebScene,
  { width = 1280, theme = 'light', isSignedIn = true, ignoresPolicy = false, isSteady = false }: Look,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: width < 720 ? 844 : 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    bypassCSP: ignoresPolicy,
    ...(isSteady ? { timezoneId: 'UTC', locale: 'en-GB' } : {}),
  });
  context.setDefaultTimeout(PATIENCE_MS);
  if (isSignedIn) {
    const { key } = await scene.ask('POST', '/api/login', { token: scene.token, name: 'test' });
    await context.addInitScript((value) => localStorage.setItem('pulse.key', value), key);
  }
  return context;
}

function watch(page: Page, scene: WebScene): void {
  page.on('pageerror', (error) => scene.complaints.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      scene.complaints.push(`${page.url()}: ${text}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(scene.url) && !/^(?:data|blob):/.test(url)) scene.strangers.push(url);
  });
}

function environmentOf({ directory, home }: WebScene): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env;
  return {
    PATH,
    LANG,
    HOME: directory,
    PULSE_HOME: home,
    GIT_AUTHOR_NAME: 'T',
    GIT_AUTHOR_EMAIL: 't@localhost',
    GIT_COMMITTER_NAME: 'T',
    GIT_COMMITTER_EMAIL: 't@localhost',
  };
}

function makeRepository(scene: WebScene): void {
  for (const [name, content] of Object.entries(demoRepositoryFiles())) {
    const path = join(scene.repository, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  scene.git('init', '-q', '-b', 'main');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'A small package whose tests ask for slugify');
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
