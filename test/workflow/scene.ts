import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPulse, type Pulse, type PulseOptions } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

export const ACTOR = 'test';
const BIN = join(import.meta.dirname, '../../node_modules/.bin');

export interface WorkflowScene extends AsyncDisposable {
  scratch: Scratch;
  pulse: Pulse;
  /** Pulse reads this very object. */
  environment: NodeJS.ProcessEnv;
  /** A shell agent with a script for each pulse. `$OUT` is a folder beside the repository. */
  agent(scripts: Record<string, string>): string;
  /** What a script wrote to `$OUT/<name>`, as JSON. */
  reply(name: string): { ok: boolean; output: string; reasons?: string[]; pending?: string };
  start(
    plan: unknown,
    options: { scripts: Record<string, string>; isApproved?: boolean; extensions?: 'auto' | 'ask' },
  ): Promise<string>;
  /** Drives it until it stops. */
  drive(id: string): ReturnType<Pulse['workflow']['rows']>;
  subjects(id: string): Promise<string[]>;
}

/** A real repository, a real session, a shell agent that speaks by `pulse tool`. */
export async function createWorkflowScene({
  trace,
}: Pick<PulseOptions, 'trace'> = {}): Promise<WorkflowScene> {
  const scratch = createScratch();
  const environment: NodeJS.ProcessEnv = {
    ...scratch.environment,
    PATH: `${dirname(process.execPath)}:${BIN}:${process.env.PATH}`,
  };
  const pulse = await createPulse({ environment, trace });
  let scripts = 0;
  const scene: WorkflowScene = {
    scratch,
    pulse,
    environment,
    agent(bodies) {
      const cases = Object.entries(bodies).map(([id, body]) => `${id})\n${body}\n;;`);
      const head = `#!/bin/sh\ncat > /dev/null\nOUT='${scratch.path}'\n`;
      return scratch.file(
        `agent-${++scripts}.sh`,
        `${head}case "$PULSE_UNIT" in\n${cases.join('\n')}\nesac\nexit 0\n`,
      );
    },
    reply: (name) => JSON.parse(readFileSync(join(scratch.path, name), 'utf8')),
    async start(plan, { scripts: bodies, isApproved = true, extensions }) {
      const { session } = await pulse.workflow.start({
        plan,
        path: scratch.repository,
        command: scene.agent(bodies),
        createdBy: 'cli',
        actor: ACTOR,
        isApproved,
        extensions,
      });
      return session.id;
    },
    async drive(id) {
      await pulse.run(id, new AbortController().signal);
      return pulse.workflow.rows(id);
    },
    async subjects(id) {
      const { base_sha: base, branch_name: branch } = await pulse.session(id);
      return scratch.git('log', '--reverse', '--format=%s', `${base}..${branch}`).split('\n').filter(Boolean);
    },
    async [Symbol.asyncDispose]() {
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
  return scene;
}

/** The shell's call of `pulse_done`; its reply goes to `$OUT/<to>`. */
export function done(
  summary: string,
  files: string[],
  { to = 'done.json', issues }: { to?: string; issues?: { issue: string; reason: string }[] } = {},
): string {
  const input = JSON.stringify({
    summary,
    filesChanged: files,
    ...(issues ? { unresolvedIssues: issues } : {}),
  });
  return `pulse tool pulse_done '${input}' > "$OUT/${to}"`;
}

export const plan = (...ids: string[]) => ({
  title: 'Greet people',
  pulses: ids.map((id) => ({ id, title: `Pulse ${id}`, description: `Do ${id}.` })),
});
