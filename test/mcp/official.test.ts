/** The protocol's own tools against ours: the conformance suite over HTTP, the inspector over stdio. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, useScene } from '../e2e/scene.ts';
import { MODERN } from './eras.ts';
import { serveHttp } from './http-server.ts';

const MODULES = resolve(import.meta.dirname, '../../node_modules');

describe('the conformance suite', { timeout: 60_000 }, () => {
  it.each<[string, string, Remark[]?]>([
    ['2025-11-25', 'server-initialize', [['server-session-id-visible-ascii', 'INFO']]],
    ['2025-11-25', 'ping'],
    ['2025-11-25', 'tools-list'],
    ['2025-11-25', 'dns-rebinding-protection'],
    [MODERN, 'tools-list'],
    [MODERN, 'dns-rebinding-protection'],
    [MODERN, 'http-header-validation'],
    [MODERN, 'input-required-result-unsupported-methods'],
    [MODERN, 'server-sse-multiple-streams', [['server-sse-streams-functional', 'INFO']]],
  ])('finds nothing wrong in %s %s', async (version, scenario, remarks = []) => {
    const { code, output, passed, others } = await conformance(scenario, version);
    expect(code, output).toBe(0);
    expect(passed).toBeGreaterThan(0);
    expect(others).toEqual(remarks);
  });

  it('only remarks in server-sse-multiple-streams that there is no MCP session to hold several', async () => {
    const { others } = await conformance('server-sse-multiple-streams', '2025-11-25');
    expect(others).toEqual([['server-sse-multiple-streams-session', 'WARNING']]);
  });

  it('misses in server-stateless only tools and changes that Pulse does not have', async () => {
    const { passed, others } = await conformance('server-stateless', MODERN);
    expect(passed).toBeGreaterThan(20);
    expect(others).toEqual([
      ['sep-2575-server-rejects-undeclared-capability', 'untestable'],
      ['sep-2575-missing-capability-http-400', 'untestable'],
      ['sep-2575-http-server-no-independent-requests-on-stream', 'untestable'],
      ['sep-2575-server-no-log-without-loglevel', 'untestable'],
      ['sep-2575-server-sends-prompts-list-changed-on-subscription', 'SKIPPED'],
      ['sep-2575-server-sends-tools-list-changed-on-subscription', 'SKIPPED'],
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

type Remark = [id: string, status: string];

interface Check {
  id: string;
  status: string;
  details?: { untestable?: boolean };
}

/** `others`: the checks that were not passed. */
async function conformance(scenario: string, version: string) {
  await using server = await serveHttp();
  const folder = mkdtempSync(join(tmpdir(), 'pulse-conformance-'));
  try {
    const program = join(MODULES, '@modelcontextprotocol/conformance/dist/index.js');
    const wanted = ['--scenario', scenario, '--spec-version', version];
    const { code, stdout, stderr } = await run(
      [program, 'server', '--url', server.url, ...wanted, '-o', folder],
      { PATH: process.env.PATH!, HOME: folder },
    );
    const report = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('checks.json'),
    );
    const checks = report ? checksOf(readFileSync(join(folder, report), 'utf8'), stdout + stderr) : [];
    const others = checks
      .filter(({ status }) => status !== 'SUCCESS')
      .map(({ id, status, details }): Remark => [id, details?.untestable ? 'untestable' : status]);
    return { code, output: stdout + stderr, passed: checks.length - others.length, others };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A suite that could not write its report whole says so in what it printed. */
function checksOf(report: string, output: string): Check[] {
  try {
    return JSON.parse(report) as Check[];
  } catch (cause) {
    throw new Error(`The report has ${report.length} characters and is not whole. ${output}`, { cause });
  }
}

function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    execFile(OWN_NODE, args, { env, timeout: 60_000 }, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr }),
    );
  });
}
