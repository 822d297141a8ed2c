/** A real agent in a whole Pulse: a session on a real repository, with a scripted model at the other end. */

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { findAdapter } from '../../src/agents/registry.ts';
import type { AttemptSpec, RunReport } from '../../src/domain/attempt.ts';
import type { PulseEvent } from '../../src/domain/events.ts';
import type { FailureClass } from '../../src/domain/failures.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import type { Trace } from '../../src/engine/actions.ts';
import { createAgentHost } from '../../src/engine/run/agent-host.ts';
import type { StartInput } from '../../src/operations/start.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createToolEndpoint } from '../../src/tools/endpoint.ts';
import { heldAttempt } from '../agents/held-attempt.ts';
import { makeScene, type Scene } from '../engine/scene.ts';
import { fakeLoops } from '../fakes/loops.ts';
import {
  type ModelServer,
  type SeenRequest,
  type Step,
  startModelServer,
  type ToolCall,
} from '../fakes/model-server/index.ts';
import { agentProgram, type PinnedName } from './versions.ts';

/** How one agent is told where its model is, and what it calls its tools. */
export interface Subject {
  name: PinnedName;
  /** The environment of somebody who uses this agent with the model at `url`; may write into `home`. */
  user(url: string, home: string): Record<string, string>;
  /** The same person with a subscription, where usage limits come from. */
  subscriber?(url: string, home: string): Record<string, string>;
  /** Forbids the agent to change anything, as a user would in the agent's own settings; left out where it has none. */
  forbid?(home: string): void;
  calls: {
    read(path: string): ToolCall;
    edit(path: string, change: { from: string; to: string }): ToolCall;
    write(path: string, text: string): ToolCall;
    shell(command: string): ToolCall;
    signal(signal: string): ToolCall;
    /** How it calls another tool of Pulse's, where that is not the signal's name with another end. */
    pulse?(name: string, input: Record<string, unknown>): ToolCall;
  };
  /** What one default call of the model costs; `null` where nobody knows. */
  costOfCall: number | null;
  /** Longer than it is ever silent while all is well, on a busy machine too. */
  quietMs: number;
  /** How it refuses by itself to write outside of the worktree, where it does before any hook. */
  refusesOutside?: string;
  /** It tells what a call cost when the call's tools are over, or when it is asked to stop in the middle of one. */
  tellsCostAfterTools?: 'always' | 'unless_interrupted';
  /** What a service that answers 429 for ever looks like, where its retries do not tell the status. */
  classOf429?: FailureClass;
  /** Whether the stream tells of retries. */
  tellsRetries: boolean;
}

export interface Stage {
  scene: Scene;
  home: string;
  /** A session of this agent, not yet running; the steps may speak of its worktree. */
  start(steps: StepsOf, input?: Partial<StartInput>): Promise<Session>;
  play(steps: StepsOf, input?: Partial<StartInput>): Promise<Session>;
  /** Runs it and, once an attempt has ended, aborts it: what comes after would only be waited for. */
  playOneAttempt(steps: StepsOf, input?: Partial<StartInput>): Promise<PulseEvent & { session: Session }>;
  rewrite(steps: readonly Step[]): void;
  /** What the model was asked since the script was last written. */
  asked(): readonly SeenRequest[];
  /** The conversation of the request that got this step, without the tools that are offered in it. */
  told(step: number): string;
}

export type StepsOf = readonly Step[] | ((worktree: string) => readonly Step[]);

export interface StageOptions {
  /** A script that is started in the agent's place, with the agent's program as `$REAL`. */
  wrapper?: string;
  isSubscriber?: boolean;
  /** Instead of the model server. */
  url?: string;
  /** Of the repository, instead of two small ones. */
  files?: Record<string, string>;
  /** Awaited at every crash point: the script may be written anew before an agent starts. */
  trace?: Trace;
}

export function useModelServer(): () => ModelServer {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return () => server;
}

const SMALL = { 'a.txt': 'first\n', 'limits.txt': 'Error 429: usage limit reached, resets at 5pm\n' };

let stages = 0;

export async function makeStage(
  subject: Subject,
  server: ModelServer,
  { wrapper, isSubscriber = false, url, files = SMALL, trace }: StageOptions = {},
): Promise<Stage> {
  const script = `${subject.name}-${++stages}`;
  const base = url ?? server.script(script, []);
  const scene = await makeScene({ repo: { files }, environment: {}, trace });
  const home = join(scene.folder, 'home');
  const user = isSubscriber && subject.subscriber ? subject.subscriber : subject.user;
  // The scene's Pulse reads this very object.
  Object.assign(scene.environment, user(base, home), {
    [`PULSE_AGENT_${subject.name.toUpperCase()}_BIN`]: wrapper
      ? writeWrapper(scene.folder, wrapper, agentProgram(subject.name))
      : agentProgram(subject.name),
  });

  async function start(steps: StepsOf, input: Partial<StartInput> = {}): Promise<Session> {
    const { session } = await scene.pulse.start({
      goal: 'Do the task',
      path: scene.root,
      createdBy: 'cli',
      agent: subject.name,
      maxIterations: 1,
      ...input,
    });
    if (!url) server.script(script, typeof steps === 'function' ? steps(session.worktree_path) : steps);
    return session;
  }

  return {
    scene,
    home,
    start,
    play: async (steps, input) => scene.run(await start(steps, input)),
    async playOneAttempt(steps, input) {
      const session = await start(steps, input);
      const running = scene.run(session);
      const ended = await firstEnd(scene, session);
      await scene.pulse.abort(session.id, { actor: 'test' });
      const stopped = await running;
      expect(stopped.status).toBe('aborted');
      return { ...ended, session: stopped };
    },
    rewrite: (steps) => void server.script(script, steps),
    asked: () => server.requests(script),
    told(step) {
      const body = server.requests(script).find((request) => request.step === step)?.body;
      return JSON.stringify(body?.messages ?? body?.input ?? body?.contents ?? '');
    },
  };
}

/** Runs of the agent under the host alone, in the scene's repository: what no session asks for yet. */
export async function runAlone(
  { scene, rewrite }: Stage,
  { name }: Subject,
  { steps, ...spec }: { steps: readonly Step[] } & Partial<AttemptSpec>,
): Promise<RunReport> {
  rewrite(steps);
  await using endpoint = createToolEndpoint();
  const host = createAgentHost({
    findAdapter,
    endpoint,
    environment: scene.environment,
    binDirectory: scene.folder,
    redactor: createRedactor([]),
    sandboxes: { plan: async () => null, gitIn: async () => scene.git, gitInRoom: async () => scene.git },
    works: fakeLoops().works,
  });
  const attempt = heldAttempt({ agent: name, worktreePath: scene.root, startSha: scene.head, ...spec });
  const write = () => Promise.reject(new Error('nothing is written'));
  const listener = { event: () => undefined, write, spent: () => undefined };
  return await host.run(attempt, listener, new AbortController().signal);
}

/** Slow agents fail late: the scene's own patience, four times. */
async function firstEnd(scene: Scene, session: Session): Promise<PulseEvent> {
  for (let tries = 1; ; tries++) {
    try {
      return await scene.seen(session, 'iteration.ended');
    } catch (error) {
      if (tries === 4) throw error;
    }
  }
}

function writeWrapper(folder: string, text: string, program: string): string {
  const file = join(folder, 'agent-wrapper');
  writeFileSync(file, `#!/bin/sh\nREAL='${program}'\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}
