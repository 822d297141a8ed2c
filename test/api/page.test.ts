/** The page at `/`: served from a closed list, to whoever may know this server, and built once for each source. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { OpenAPIHono } from '@hono/zod-openapi';
import { afterEach, describe, expect, it } from 'vitest';
import { answerError, unknownRoute } from '../../src/api/errors.ts';
import { type ApiEnv, createGate, createGuard } from '../../src/api/guard.ts';
import { type PageFiles, readPageFiles } from '../../src/api/page/page-files.ts';
import { addPageRoutes } from '../../src/api/page/page-route.ts';
import { loadPage } from '../../src/api/page/page-source.ts';
import { createTickets } from '../../src/api/tickets.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-page-'));
  folders.push(folder);
  return folder;
}

function builtPage(): string {
  const folder = scratch();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>the page');
  writeFileSync(join(folder, 'assets/index-1a2b.js'), 'run()');
  writeFileSync(join(folder, 'assets/index-1a2b.js.gz'), gzipSync('run()'));
  writeFileSync(join(folder, 'assets/secret.txt'), 'no file of a page');
  return folder;
}

function appWith(page: Promise<PageFiles>, options?: { patienceMs?: number }): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>();
  app.onError(answerError);
  app.notFound((c) => answerError(unknownRoute(c), c));
  const gate = createGate({ token: 'secret', host: '127.0.0.1', reads: 'token' });
  const nobody = { findDevice: async () => null, hasDevice: async () => false };
  app.use(createGuard({ gate, tickets: createTickets(), ...nobody }));
  addPageRoutes(app, page, options);
  return app;
}

describe('the page', () => {
  it.each([
    '/',
    '/new',
    '/s/ses_1',
    '/s/ses_1/i/3',
    '/w/ses_1/review',
    '/r/x',
    '/sw/x',
    '/search',
    '/settings',
    '/login',
  ])('is shown at %s without the token', async (path) => {
    const answer = await appWith(readPageFiles(builtPage())).request(path);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('the page');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
  });

  it('keeps its files for ever, because their names change with them, and compresses them', async () => {
    const app = appWith(readPageFiles(builtPage()));
    const headers = { 'accept-encoding': 'deflate, gzip;q=0.9' };
    const answer = await app.request('/assets/index-1a2b.js', { headers });
    expect(answer.headers.get('cache-control')).toContain('immutable');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('content-type')).toContain('text/javascript');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(gzipSync('run()'));
    const plain = await app.request('/assets/index-1a2b.js');
    expect(await plain.text()).toBe('run()');
  });

  it.each([
    '/assets/../index.html.gz',
    '/assets/%2e%2e/%2e%2e/etc/passwd',
    '/assets/..%2f..%2fetc%2fpasswd',
    '/assets//etc/passwd',
    '/assets/secret.txt',
    '/favicon.ico',
    '/index.html.br',
    '/other',
  ])('has nothing at %s', async (path) => {
    const answer = await appWith(readPageFiles(builtPage())).request(path, {
      headers: { authorization: 'Bearer secret' },
    });
    expect(answer.status).toBe(404);
  });

  const opened = (path: string, headers: Record<string, string>, method = 'GET') =>
    appWith(readPageFiles(builtPage())).request(path, { headers, method });

  it.each([
    ['sec-fetch-dest', 'document'],
    ['accept', 'text/html,application/xhtml+xml,*/*;q=0.8'],
  ])('is shown to a person who opens an address of nothing, as %s says', async (name, value) => {
    const answer = await opened('/sessions/of/old', { [name!]: value! });
    expect([answer.status, await answer.text()]).toEqual([404, '<!doctype html>the page']);
  });

  it.each(['/api/none', '/mcp', '/hooks/none', '/metrics', '/openapi.json', '/assets/none', '/a.txt'])(
    'is not what a person gets who opens %s',
    async (path) => {
      const answer = await opened(path, { 'sec-fetch-dest': 'document', accept: 'text/html' });
      expect(await answer.text()).not.toContain('the page');
    },
  );

  it('is not what a program gets that asks for nothing that is there', async () => {
    for (const [headers, method] of [
      [{ 'sec-fetch-dest': 'empty', accept: 'text/html' }, 'GET'],
      [{ accept: 'application/json' }, 'GET'],
      [{ accept: 'text/html' }, 'POST'],
    ] as const)
      expect((await opened('/other', headers, method)).status).toBe(401);
  });

  it('is for this host alone', async () => {
    const app = appWith(readPageFiles(builtPage()));
    expect((await app.request('/', { headers: { host: 'evil.example' } })).status).toBe(403);
    expect((await app.request('/', { headers: { origin: 'http://localhost:9' } })).status).toBe(403);
  });

  it('says that it is being built, and asks again by itself', async () => {
    const app = appWith(new Promise(() => undefined), { patienceMs: 5 });
    const answer = await app.request('/');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('http-equiv="refresh"');
  });

  it('says why there is none, as text', async () => {
    const app = appWith(Promise.reject(new Error('no <script> here')));
    const answer = await app.request('/s/x');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('no &lt;script> here');
  });
});

describe('where the page comes from', () => {
  const BUILD = `import { mkdirSync, writeFileSync } from 'node:fs';
    const [folder] = process.argv.slice(2);
    mkdirSync(folder); writeFileSync(folder + '/index.html', process.env.NODE_ENV);`;

  function checkout({ hasPackages }: { hasPackages: boolean }): string {
    const root = scratch();
    mkdirSync(join(root, 'web'));
    writeFileSync(join(root, 'web/build.ts'), BUILD);
    writeFileSync(join(root, 'package.json'), '{}');
    if (hasPackages) mkdirSync(join(root, 'node_modules/vite'), { recursive: true });
    return root;
  }

  const load = (root: string, folder: string): Promise<PageFiles> =>
    loadPage({ root, folder, environment: { PATH: process.env.PATH } });

  it('builds it once for each content of its source', async () => {
    const root = checkout({ hasPackages: true });
    const folder = join(scratch(), 'page');
    const built = await load(root, folder);
    expect(Buffer.from(built.get('/index.html')!.content).toString()).toBe('production');
    await load(root, folder);
    expect(readdirSync(folder)).toHaveLength(1);
    writeFileSync(join(root, 'web/more.ts'), '');
    await load(root, folder);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('says what to install where the packages of development are missing', async () => {
    const root = checkout({ hasPackages: false });
    await expect(load(root, join(root, 'out'))).rejects.toThrow('npm install');
    expect(existsSync(join(root, 'out'))).toBe(false);
  });

  it('says what went wrong with a build, and leaves nothing of it', async () => {
    const root = checkout({ hasPackages: true });
    writeFileSync(join(root, 'web/build.ts'), 'throw new Error("no way")');
    await expect(load(root, join(root, 'out'))).rejects.toThrow('no way');
    expect(readdirSync(join(root, 'out'))).toEqual([]);
  });

  it('takes the built one of a package', async () => {
    const root = scratch();
    mkdirSync(join(root, 'dist'));
    symlinkSync(builtPage(), join(root, 'dist/web'));
    expect((await load(root, join(root, 'out'))).has('/index.html')).toBe(true);
    await expect(load(scratch(), join(root, 'out'))).rejects.toThrow('no page');
  });
});
