/**
 * What Pulse costs around a real agent: one turn of claude as an iteration, and the very same command line by itself, its
 * MCP server there; against a scripted model. Beside it a claude without any tool server: what having tools costs claude.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeAdapter } from '../src/agents/claude/adapter.ts';
import { createPulse, type Pulse } from '../src/pulse.ts';
import { createToolEndpoint } from '../src/tools/endpoint.ts';
import { pulseSignalTool, reportUsageTool } from '../src/tools/run-tools.ts';
import { type ModelServer, startModelServer } from '../test/fakes/model-server/index.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { agentProgram, PINNED } from '../test/real-agents/versions.ts';
import { ms, type Row, tell, times } from './row.ts';
import { median } from './statistics.ts';

const ROUNDS = Number(process.argv[2] ?? 8);
/** A session that changes nothing is stopped after a few iterations. The first makes the worktree: it is left out. */
const PER_ROUND = 4;
const WHAT = '(k) one turn of a real claude as an iteration';
const TARGET = 1.15;
/** What stands on the command line for Pulse's tools and guard alone. */
const OWN_OPTIONS = ['--mcp-config', '--strict-mcp-config', '--settings'];

const own: number[] = [];
const alone: number[] = [];
const plain: number[] = [];
await using endpoint = createToolEndpoint();
const program = agentProgram('claude');
if (existsSync(program)) {
  await using server = await startModelServer();
  for (let round = 0; round < ROUNDS; round++) await runSession(server);
}
tell([existsSync(program) ? against() : skipped()]);

function against(): Row {
  const around = median(own) / median(alone);
  return {
    what: WHAT,
    measured: `${ms(median(own))} (fastest ${ms(Math.min(...own))})`,
    beside: `the same command line by itself: ${ms(median(alone))} (fastest ${ms(Math.min(...alone))}); a claude without tool server and guard: ${ms(median(plain))} (fastest ${ms(Math.min(...plain))}); medians of ${own.length} in turns`,
    result: `${times(around)} (fastest ${times(Math.min(...own) / Math.min(...alone))}); ${times(median(own) / median(plain))} the one without tools`,
    target: `≤ ${TARGET}×`,
    isMet: around <= TARGET,
  };
}

function skipped(): Row {
  const { version } = PINNED.claude;
  const beside = `claude ${version} is not in the cache: npm run test:agents -- claude brings it`;
  return { what: WHAT, measured: 'not measured', beside, result: '', target: `≤ ${TARGET}×`, isMet: null };
}

/** In turns: after each iteration, claude by itself with that iteration's brief, in both ways. */
async function runSession(server: ModelServer): Promise<void> {
  using scratch = createScratch();
  const home = join(scratch.path, 'user');
  mkdirSync(home);
  const environment = {
    ...{ PATH: process.env.PATH, HOME: home, PULSE_HOME: scratch.home, PULSE_AGENT_CLAUDE_BIN: program },
    ANTHROPIC_BASE_URL: server.script('turn', [{ text: 'One step done.\n\n<signal>CONTINUE</signal>' }]),
    ANTHROPIC_API_KEY: 'dummy',
    ANTHROPIC_MODEL: 'claude-sonnet-4-5',
  };
  let began = 0;
  let settled = 0;
  await using pulse = await createPulse({
    environment,
    async trace(point) {
      if (point !== 'settle:after') return;
      if (++settled > 1) {
        own.push(performance.now() - began);
        const run = { brief: await lastBrief(pulse), worktree: scratch.repository, environment };
        alone.push(await runAlone(run, { hasTools: true }));
        plain.push(await runAlone(run, { hasTools: false }));
      }
      began = performance.now();
    },
  });
  const { session } = await pulse.start({
    ...{ goal: 'Take one step', path: scratch.repository, createdBy: 'cli', agent: 'claude' },
    maxIterations: PER_ROUND,
  });
  await pulse.run(session.id, new AbortController().signal);
  if (settled === PER_ROUND) return;
  const { blocked_reason: why } = await pulse.session(session.id);
  throw new Error(`only ${settled} of ${PER_ROUND} iterations ran: ${why}`);
}

async function lastBrief(pulse: Pulse): Promise<string> {
  const {
    sessions: [session],
  } = await pulse.list({ limit: 1 });
  return (await pulse.showContext(session!.id, { maxTurns: 1 })).iteration!.task_content;
}

interface AloneRun {
  brief: string;
  worktree: string;
  environment: NodeJS.ProcessEnv;
}

/** What a script would start: with a server of tools as Pulse's, or without tools and guard. */
async function runAlone(
  { brief, worktree, environment }: AloneRun,
  { hasTools }: { hasTools: boolean },
): Promise<number> {
  const tools = [pulseSignalTool(() => undefined), reportUsageTool(() => undefined)];
  using access = await endpoint.admit(tools, () => undefined);
  const directory = mkdtempSync(join(environment.HOME!, 'run-'));
  const names = tools.map(({ name }) => name);
  const {
    file,
    args,
    env,
    files = {},
  } = claudeAdapter.command({
    ...{ brief, worktree, command: null, unit: null, executable: program, model: null, resume: null },
    ...{ tools: { url: access.url, token: access.token, names }, directory, prices: {} },
  });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const began = performance.now();
  const child = spawn(file, hasTools ? args : withoutTools(args), {
    cwd: worktree,
    env: { ...environment, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdout.resume();
  child.stdin.end(brief);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`claude by itself ended with ${code}`);
  return performance.now() - began;
}

function withoutTools(args: readonly string[]): string[] {
  return args.filter((arg, index) => !isOwn(arg) && !(isOwn(args[index - 1]) && !arg.startsWith('--')));
}

function isOwn(arg: string | undefined): boolean {
  return arg !== undefined && OWN_OPTIONS.includes(arg);
}
