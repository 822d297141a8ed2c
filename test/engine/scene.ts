/** A whole Pulse on a real repository, with shell scripts for agents; at the end nothing of it may be left. */
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { PulseEvent } from '../../src/domain/events.ts';
import type { StartInput } from '../../src/operations/start.ts';
import { createPulse, type Pulse, type PulseOptions } from '../../src/pulse.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Session } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { makeRepo, type Repo, type RepoOptions } from '../git/fixture.ts';

export interface SceneOptions extends Partial<Omit<PulseOptions, 'environment'>> {
  repo?: RepoOptions;
  environment?: Record<string, string>;
  /** The state directory is reached by a symlink. */
  isBehindLink?: boolean;
}

export interface Scene extends Repo {
  pulse: Pulse;
  environment: Record<string, string>;
  /** A second handle on the same database. */
  store: Store;
  /** Writes the script beside the repository and starts a session whose agent it is. */
  start(script: string, input?: Partial<StartInput>): Promise<Session>;
  /** Runs the session in this process to wherever it stops. */
  run(session: Pick<Session, 'id'>): Promise<Session>;
  startAndRun(script: string, input?: Partial<StartInput>): Promise<Session>;
  events(session: Pick<Session, 'id'>): Promise<PulseEvent[]>;
  refs(prefix?: string): string[];
  /** Waits until the session has such an event. */
  seen(session: Pick<Session, 'id'>, type: PulseEvent['type'], iteration?: number): Promise<PulseEvent>;
}

export const CONTINUE = 'echo "Step $PULSE_ITERATION."; echo "<signal>CONTINUE</signal>"';
export const COMPLETE = 'echo "Done."; echo "<signal>COMPLETE</signal>"';

export async function makeScene(given: SceneOptions = {}): Promise<Scene> {
  const { repo, environment, isBehindLink = false, ...options } = given;
  const made = makeRepo(repo);
  const { folder, root, sh } = made;
  const env = { ...made.env, PULSE_HOME: join(folder, 'state'), ...environment };
  if (isBehindLink) {
    mkdirSync(join(folder, 'real-state'));
    symlinkSync('real-state', env.PULSE_HOME);
  }
  const pulse = await createPulse({ environment: env, ...options });
  const store = await openSqlite({ path: pulse.home.database });
  onTestFinished(async () => {
    await pulse[Symbol.asyncDispose]();
    await store.close();
    expect(processesIn(folder), 'processes left behind').toEqual([]);
  });

  let scripts = 0;
  async function start(script: string, input: Partial<StartInput> = {}): Promise<Session> {
    const file = join(folder, `agent-${++scripts}.sh`);
    writeFileSync(file, script);
    const command = `. ${file}`;
    const started = await pulse.start({ goal: 'the goal', path: root, createdBy: 'cli', command, ...input });
    return started.session;
  }

  async function run({ id }: Pick<Session, 'id'>): Promise<Session> {
    await pulse.run(id, new AbortController().signal);
    return (await pulse.show(id)).session;
  }

  async function events({ id }: Pick<Session, 'id'>): Promise<PulseEvent[]> {
    return (await pulse.export(id)).events;
  }

  return {
    ...made,
    pulse,
    environment: env,
    store,
    start,
    run,
    startAndRun: async (script, input) => run(await start(script, input)),
    events,
    refs: (prefix = 'refs/pulse/') =>
      sh(root, 'for-each-ref', '--format=%(refname)', prefix).split('\n').filter(Boolean),
    async seen(session, type, iteration) {
      for (let tries = 0; tries < 600; tries++) {
        const found = (await events(session)).find(
          (event) => event.type === type && (iteration === undefined || event.iteration === iteration),
        );
        if (found) return found;
        await delay(25);
      }
      throw new Error(`no ${type} within 15 s`);
    },
  };
}

/** Waits for a condition that a process outside of this one brings about. */
export async function until(condition: () => boolean, withinMs = 40_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${condition}`);
    await delay(10);
  }
}

/** The pids of all processes that work below the folder. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      } catch {
        return false; // gone, or a zombie
      }
    });
}
