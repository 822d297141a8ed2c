import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { refuseInsideRun } from '../../../cli/person-only.ts';
import { readYamlFile } from '../../../cli/read-yaml.ts';
import { launchRunner } from '../../../cli/session-runner.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import type { Pulse } from '../../../pulse.ts';
import * as research from '../operations/definitions.ts';
import type { ResearchAction } from './command.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input } = context;
  await using pulse = await openPulse(context);
  const target = input.argument('TARGET')!;
  const actions: Record<ResearchAction, () => Promise<number>> = {
    start: () => start(pulse, context, target),
    show: () => show(pulse, context, target),
    report: () => report(pulse, context, target),
    finish: () => finish(pulse, context, target),
  };
  return await actions[input.argument('ACTION') as ResearchAction]();
}

async function start(pulse: Pulse, context: CommandContext, file: string): Promise<number> {
  const { input, output, cwd } = context;
  const content = await readYamlFile(file, { cwd, what: 'The research file' });
  const asked = await readInput(research.start, context, { content });
  const started = await askingForTrust(context, asked.path, () => pulse.research.start(asked));
  const code = await goOn(pulse, context, started);
  if (output.isJson || input.has('detach')) return code;
  const { final, session } = await pulse.research.rows(started.session.id);
  if (session.status === 'complete') for (const line of final) output.data(line);
  return code;
}

async function show(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const rows = await pulse.research.rows(id);
  if (output.isJson) {
    output.json({ session: rows.session, experiments: rows.experiments, progress: rows.progress });
    return 0;
  }
  const { researchLines } = await import('./show-lines.ts');
  const { style, columns } = output.stdout;
  for (const line of researchLines(rows, { style, columns: columns() })) output.data(line);
  return 0;
}

async function report(pulse: Pulse, { input, output, cwd }: CommandContext, id: string): Promise<number> {
  const { id: sessionId } = await pulse.session(id);
  const path = resolve(cwd, input.text('output') ?? `research-${sessionId.slice(-4)}.html`);
  await writeFile(path, await pulse.research.report(sessionId));
  if (output.isJson) output.json({ path });
  else output.data(path);
  return 0;
}

async function finish(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const { output, environment } = context;
  refuseInsideRun('research finish', environment);
  const { sessionId, ...asked } = await readInput(research.finish, context, { sessionId: id });
  const { id: found, project_path: path } = await pulse.session(sessionId);
  const finished = await askingForTrust(context, path, () => pulse.research.finish(found, asked));
  const { session, research: row, implementation, started } = finished;
  if (started) await launchRunner(pulse, started, context);
  if (output.isJson) {
    output.json({ session, phase: row.phase, implementation });
    return 0;
  }
  output.data(`${session.id}: ${row.phase}`);
  if (implementation) {
    output.talk(`${implementation.beads} beads of the epic ${implementation.epic}; a swarm works on them:`);
    output.data(`pulse watch ${implementation.swarm}`);
  }
  return 0;
}
