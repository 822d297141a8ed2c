/** A repository whose metric is what its in-scope script prints, and agents that are shell scripts, one for each experiment. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ResearchRows } from '../../src/loops/research/operations/research.ts';
import type { Pulse } from '../../src/pulse.ts';
import type { Scratch } from '../fakes/scratch.ts';

/** `src/cost` prints the cost; measure.sh is what Pulse runs, and pinned because the command names it. */
export const RESEARCH = {
  goal: 'Lower the cost',
  metric: { name: 'cost', direction: 'lower', verifyCommand: './measure.sh', pattern: '^cost: (.*)$' },
  scope: { inScope: ['src/**'] },
};

export function prepareLab(scratch: Scratch, files: Record<string, string> = {}): void {
  const all = {
    'src/cost': 'echo 100\n',
    'measure.sh': '#!/bin/sh\ncost=$(sh src/cost) || exit $?\necho "cost: $cost"\n',
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    const file = join(scratch.repository, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
  }
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'chore: what is measured');
}

/** The brief of each run is kept as `brief-<unit>-<iteration>`. */
function agentOf(scratch: Scratch, scripts: Record<string, string>): string {
  const cases = Object.entries(scripts).map(([unit, body]) => `${unit})\n${body}\n;;`);
  return scratch.file(
    'agent.sh',
    `#!/bin/sh\ncat > "${scratch.path}/brief-$PULSE_UNIT-$PULSE_ITERATION"\ncase "$PULSE_UNIT" in\n${cases.join('\n')}\nesac\nexit 0\n`,
  );
}

/** Tells an idea before it is made; the answer is kept where `answer` says. */
export function tell(description: string, answer = '/dev/null'): string {
  return `pulse tool experiment_describe '${JSON.stringify({ description })}' > "${answer}"`;
}

/** A told idea that makes the cost what this prints. */
export function idea(description: string, cost: number | string): string {
  const script = typeof cost === 'number' ? `echo ${cost}` : cost;
  return `${tell(description)}\ncat > src/cost <<'EOT'\n${script}\nEOT`;
}

export interface Lab {
  content?: object;
  scripts: Record<string, string>;
  iterations?: number;
  parallel?: number;
  budgetTokens?: number;
}

export async function startResearch(pulse: Pulse, scratch: Scratch, lab: Lab): Promise<string> {
  const { session } = await pulse.research.start({
    content: { ...RESEARCH, ...lab.content },
    iterations: lab.iterations,
    parallel: lab.parallel,
    budgetTokens: lab.budgetTokens,
    path: scratch.repository,
    command: agentOf(scratch, lab.scripts),
    createdBy: 'cli',
  });
  return session.id;
}

export async function research(pulse: Pulse, scratch: Scratch, lab: Lab): Promise<ResearchRows> {
  const id = await startResearch(pulse, scratch, lab);
  await pulse.run(id, new AbortController().signal);
  return pulse.research.rows(id);
}

export function brief(scratch: Scratch, unit: string, iteration: number): string {
  return readFileSync(join(scratch.path, `brief-${unit}-${iteration}`), 'utf8');
}
