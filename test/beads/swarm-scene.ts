/** A real repository, beads, and workers whose agent is a shell script. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { createPulse, type Pulse, type PulseOptions } from '../../src/pulse.ts';
import { until } from '../engine/scene.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

const BIN = join(import.meta.dirname, '../../node_modules/.bin');

export interface NewBead {
  files?: string[];
  verify?: { command: string; expect?: string; report?: string }[];
  dependencies?: string[];
  [field: string]: unknown;
}

export interface SwarmScene extends AsyncDisposable {
  scratch: Scratch;
  pulse: Pulse;
  environment: NodeJS.ProcessEnv;
  bead(id: string, bead?: NewBead): Promise<void>;
  /** What the feature's CONTEXT.md says, uncommitted. */
  decide(text: string): void;
  start(script: string, options?: Record<string, unknown>): Promise<string>;
  /** Drives it until it stops. */
  drive(id: string): ReturnType<Pulse['swarm']['show']>;
  /** Resolves when the script has made this file in `$OUT`. */
  appears(name: string): Promise<void>;
  reply(name: string): { ok: boolean; output: string; reasons?: string[] };
  subjects(id: string): Promise<string[]>;
  /** Resolves when the session has so many events of the type. */
  told(id: string, type: string, count: number): Promise<void>;
}

export async function createSwarmScene({
  environment: more,
  ...options
}: Partial<Pick<PulseOptions, 'trace' | 'environment'>> = {}): Promise<SwarmScene> {
  const scratch = createScratch();
  const environment: NodeJS.ProcessEnv = {
    ...scratch.environment,
    PATH: `${dirname(process.execPath)}:${BIN}:${process.env.PATH}`,
    ...more,
  };
  const pulse = await createPulse({ environment, ...options });
  const project_key = scratch.repository;
  const found = { git: '2', worktrees: true, agents: [], sandbox: false };
  await writeOnboarding(project_key, { at: '2026-01-01T00:00:00.000Z', found });
  await pulse.bead.create({ project_key, id: 'app', title: 'The app', type: 'epic', feature: 'app' });
  const scene: SwarmScene = {
    scratch,
    pulse,
    environment,
    async bead(id, { files = [`${id}.txt`], verify = [{ command: `test -s ${id}.txt` }], ...more } = {}) {
      await pulse.bead.create({ project_key, id, title: `Write ${id}`, epic: 'app', files, verify, ...more });
    },
    decide(text) {
      const folder = join(project_key, 'history/app');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'CONTEXT.md'), `${text}\n`);
    },
    async start(script, more = {}) {
      const head = `cat > "$OUT/brief-$PULSE_UNIT-$PULSE_ITERATION"\n`;
      const command = `OUT='${scratch.path}' sh '${scratch.file('agent.sh', `${head}${script}`)}'`;
      const { session } = await pulse.swarm.start({
        ...{ path: scratch.repository, epic: 'app', command, createdBy: 'cli' as const },
        ...more,
      });
      return session.id;
    },
    async drive(id) {
      await pulse.run(id, new AbortController().signal);
      return pulse.swarm.show(id);
    },
    appears: (name) => until(() => existsSync(join(scratch.path, name))),
    reply: (name) => JSON.parse(readFileSync(join(scratch.path, name), 'utf8')),
    async subjects(id) {
      const { base_sha: base, branch_name: branch } = await pulse.session(id);
      return scratch.git('log', '--reverse', '--format=%s', `${base}..${branch}`).split('\n').filter(Boolean);
    },
    async told(id, type, count) {
      let seen = 0;
      for await (const event of pulse.follow(id)) {
        if (event.type === type) seen += 1;
        if (seen === count) return;
      }
      throw new Error(`${id} ended with ${seen} of ${count} ${type}`);
    },
    async [Symbol.asyncDispose]() {
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
  return scene;
}

/** The shell's call of `bead_done`; its reply goes to `$OUT/<to>`. */
export function beadDone(to = 'done-$PULSE_UNIT.json', more: object = {}): string {
  const input = JSON.stringify({ summary: 'write it', ...more });
  return `pulse tool bead_done '${input}' > "$OUT/${to}"`;
}
