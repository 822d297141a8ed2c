/** Which agents exist, which of them can be used here, and which one a session gets. */
import { PulseError } from '../domain/errors.ts';
import { findExecutable } from '../process/executable.ts';
import { acpAdapter } from './acp/adapter.ts';
import { claudeAdapter } from './claude/adapter.ts';
import { codexAdapter } from './codex/adapter.ts';
import { commandAdapter } from './command/adapter.ts';
import type { AgentAdapter, AgentDetection } from './contract.ts';
import { copilotAdapter } from './copilot/adapter.ts';
import { demoAdapter } from './demo/adapter.ts';
import { geminiAdapter } from './gemini/adapter.ts';
import { nativeAdapter } from './native/adapter.ts';
import { opencodeAdapter } from './opencode/adapter.ts';
import { piAdapter } from './pi/adapter.ts';
import { qwenAdapter } from './qwen/adapter.ts';
import { replayAdapter } from './replay/adapter.ts';

/** In the order in which an installed one is chosen. */
export const AGENT_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'pi',
  'qwen',
  'copilot',
  'acp',
  'native',
  'command',
  'demo',
  'replay',
] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** Chosen only by name; `command` also by giving a command. */
const ONLY_BY_NAME: readonly string[] = ['acp', 'command', 'demo', 'replay'];
export const NEEDS_COMMAND: readonly string[] = ['acp', 'command', 'replay'];
const NO_EXECUTABLE: readonly string[] = ['acp', 'native'];

/** Whether Pulse may choose it without being asked: it needs no command and does real work. */
export function isChosenByItself(name: string): boolean {
  return !ONLY_BY_NAME.includes(name);
}

export interface DetectedAgent {
  name: AgentName;
  /** Whether this version of Pulse has an adapter for it. */
  isSupported: boolean;
  detection: AgentDetection;
}

export interface AgentWish {
  /** `--agent`. */
  wanted: string | null;
  /** The config's. */
  configured: string | null;
  /** `--command`: what `command` runs, what `replay` plays. */
  command: string | null;
  /** `--model`, or the config's. Some agents can be used with one model but not with another. */
  model?: string | null;
  env: NodeJS.ProcessEnv;
}

export interface ChosenAgent {
  name: AgentName;
  adapter: AgentAdapter;
  /** The agent's program, or the script that Pulse starts for it. */
  path: string | null;
  /** Who chose it: `--agent`, `--command`, the config, or Pulse because it is installed. */
  chosenBy: 'wanted' | 'command' | 'configured' | 'installed';
}

export interface AgentRegistry {
  /** Throws `usage` for an unknown name, `agent_unavailable` if this version has no adapter for it. */
  findAdapter(name: string): AgentAdapter;
  /** Every name, in order, for `doctor` and `init`. Never throws. */
  detectAgents(env: NodeJS.ProcessEnv): Promise<DetectedAgent[]>;
  /** Throws `usage` or `agent_unavailable`, both with what to do instead. Starts no agent. */
  chooseAgent(wish: AgentWish): Promise<ChosenAgent>;
}

export const { findAdapter, detectAgents, chooseAgent } = createAgentRegistry([
  claudeAdapter,
  codexAdapter,
  geminiAdapter,
  opencodeAdapter,
  piAdapter,
  qwenAdapter,
  copilotAdapter,
  acpAdapter,
  nativeAdapter,
  commandAdapter,
  demoAdapter,
  replayAdapter,
]);

export function createAgentRegistry(adapters: readonly AgentAdapter[]): AgentRegistry {
  const byName = new Map(adapters.map((adapter) => [adapter.name, adapter]));

  function findAdapter(name: string): AgentAdapter {
    const adapter = byName.get(agentName(name));
    if (adapter) return adapter;
    const names = AGENT_NAMES.filter((known) => byName.has(known));
    throw new PulseError('agent_unavailable', `This version of Pulse cannot run ${name} yet.`, {
      hint: `It can run ${names.join(', ')}. With --command CMD it runs any agent that your shell can start.`,
      data: { agent: name, supported: names },
    });
  }

  async function detectAgents(env: NodeJS.ProcessEnv): Promise<DetectedAgent[]> {
    return Promise.all(
      AGENT_NAMES.map(async (name) => {
        const adapter = byName.get(name);
        const detection = adapter ? await adapter.detect(env) : detectUnsupported(name, env);
        return { name, isSupported: adapter !== undefined, detection };
      }),
    );
  }

  async function chooseAgent(wish: AgentWish): Promise<ChosenAgent> {
    const asked = askedAgent(wish);
    if (!asked) return firstInstalled(wish);
    const adapter = findAdapter(asked.name);
    checkCommand(asked.name, wish.command);
    const path = adapter.locate?.(wish.env);
    if (path) return { ...asked, adapter, path };
    const detection = await adapter.detect(wish.env, wish.model);
    if (detection.available) return { ...asked, adapter, path: detection.path };
    throw new PulseError('agent_unavailable', `${asked.name} cannot be used here.`, {
      hint: detection.hint ?? undefined,
      data: { agent: asked.name },
    });
  }

  async function firstInstalled({ env, model }: AgentWish): Promise<ChosenAgent> {
    for (const name of AGENT_NAMES) {
      const adapter = byName.get(name);
      if (!adapter || ONLY_BY_NAME.includes(name)) continue;
      // `detect` starts the program: it is called only if there is no cheaper way to find out.
      const path = adapter.locate ? adapter.locate(env) : await availablePath(adapter, { env, model });
      if (path !== null) return { name, adapter, path, chosenBy: 'installed' };
    }
    throw new PulseError(
      'agent_unavailable',
      'No coding agent that Pulse can run was found on this machine.',
      {
        hint: 'Name one: --command CMD runs any agent that your shell can start, --agent demo the built-in demo. `pulse doctor` shows what was looked for.',
      },
    );
  }

  return { findAdapter, detectAgents, chooseAgent };
}

async function availablePath(
  adapter: AgentAdapter,
  { env, model }: Pick<AgentWish, 'env' | 'model'>,
): Promise<string | null> {
  const { available, path } = await adapter.detect(env, model);
  return available ? path : null;
}

function agentName(name: string): AgentName {
  const known = AGENT_NAMES.find((candidate) => candidate === name);
  if (known) return known;
  throw new PulseError('usage', `There is no agent "${name}".`, {
    hint: `Agents: ${AGENT_NAMES.join(', ')}.`,
    data: { agent: name },
  });
}

function askedAgent({
  wanted,
  configured,
  command,
}: AgentWish): Pick<ChosenAgent, 'name' | 'chosenBy'> | null {
  if (wanted !== null) return { name: agentName(wanted), chosenBy: 'wanted' };
  if (command !== null) return { name: 'command', chosenBy: 'command' };
  return configured === null ? null : { name: agentName(configured), chosenBy: 'configured' };
}

function checkCommand(name: AgentName, command: string | null): void {
  if (command !== null && !NEEDS_COMMAND.includes(name)) {
    throw new PulseError('usage', `${name} takes no --command.`, {
      hint: 'Leave out --agent to run the command, or leave out --command.',
    });
  }
  if (command !== null && command.trim() === '') throw new PulseError('usage', 'The command is empty.');
  if (command !== null || !NEEDS_COMMAND.includes(name)) return;
  const value = name === 'replay' ? 'PATH, the recording to play' : 'CMD, the command to run';
  throw new PulseError('usage', `The agent "${name}" needs --command.`, { hint: `Give --command ${value}.` });
}

function detectUnsupported(name: AgentName, env: NodeJS.ProcessEnv): AgentDetection {
  const missing = { available: false, path: null, version: null };
  if (NO_EXECUTABLE.includes(name)) return { ...missing, hint: 'Not supported by this version yet.' };
  const variable = `PULSE_AGENT_${name.toUpperCase()}_BIN`;
  const named = env[variable];
  const found = findExecutable({ file: named || name, cwd: process.cwd(), path: env.PATH });
  if (typeof found === 'string') {
    return { ...missing, path: found, hint: 'Found, not supported by this version yet.' };
  }
  const why = named ? `${variable}: ${found.message}` : 'Not found in PATH';
  return { ...missing, hint: `${why}; not supported by this version yet.` };
}
