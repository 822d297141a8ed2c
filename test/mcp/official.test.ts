/** The protocol's own tools against ours: the conformance suite over HTTP, the inspector over stdio. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, useScene } from '../e2e/scene.ts';
import { serveHttp } from './http-server.ts';

const MODULES = resolve(import.meta.dirname, '../../node_modules');

describe('the conformance suite', { timeout: 60_000 }, () => {
  it.each(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])(
    'finds nothing wrong in %s',
    async (scenario) => {
      await using server = await serveHttp();
      const { code, output, checks } = await conformance(scenario, server.url);
      expect(code, output).toBe(0);
      expect(checks.length).toBeGreaterThan(0);
      expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    },
  );

  it('only remarks in server-sse-multiple-streams that there is no MCP session to hold several', async () => {
    await using server = await serveHttp();
    const { checks } = await conformance('server-sse-multiple-streams', server.url);
    expect(checks.map(({ id, status }) => [id, status])).toEqual([
      ['server-sse-multiple-streams-session', 'WARNING'],
    ]);
  });
});

describe('the inspector', { timeout: 60_000 }, () => {
  const scene = useScene();
  const inspect = (args: string[]) =>
    run(
      [
        join(MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
        '--cli',
        OWN_NODE,
        PROGRAM,
        'mcp',
        ...args,
      ],
      { PATH: process.env.PATH!, HOME: scene.directory, PULSE_HOME: scene.home },
    );

  it('lists the tools of pulse mcp and finds their schemas portable', async () => {
    const { code, stdout, stderr } = await inspect(['--method', 'tools/list', '--strict']);
    expect(code, stderr).toBe(0);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('pulse_start');
  });

  it('calls one', async () => {
    const { code, stdout, stderr } = await inspect([
      ...['--method', 'tools/call', '--tool-name', 'pulse_list', '--tool-arg', 'limit=3'],
    ]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { sessions: [] } });
  });
});

interface Check {
  id: string;
  status: string;
}

async function conformance(scenario: string, url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-conformance-'));
  try {
    const program = join(MODULES, '@modelcontextprotocol/conformance/dist/index.js');
    const { code, stdout, stderr } = await run(
      [program, 'server', '--url', url, '--scenario', scenario, '-o', folder],
      { PATH: process.env.PATH!, HOME: folder },
    );
    const report = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('checks.json'),
    );
    const checks = report ? (JSON.parse(readFileSync(join(folder, report), 'utf8')) as Check[]) : [];
    return { code, output: stdout + stderr, checks };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    execFile(OWN_NODE, args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr }),
    );
  });
}
