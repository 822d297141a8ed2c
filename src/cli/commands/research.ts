import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PulseError } from '../../domain/errors.ts';
import { createPulse, type Pulse } from '../../pulse.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { detached, followSession } from '../follow/follow.ts';
import { readYamlFile } from '../read-yaml.ts';
import { FINISHES, type ResearchAction } from '../research-command.ts';
import { launchRunner } from '../session-runner.ts';
import { sharedStart } from '../start-options.ts';
import { askingForTrust } from '../trusting.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  await using pulse = await createPulse({ environment, onWait: output.talk });
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
  const asked = {
    content: await readYamlFile(file, { cwd, what: 'The research file' }),
    iterations: input.number('iterations'),
    parallel: input.number('parallel'),
    ...sharedStart(input, cwd),
  };
  const { session } = await askingForTrust(context, asked.path, () => pulse.research.start(asked));
  const launch = (): Promise<void> => launchRunner(pulse, session, context);
  if (input.has('detach')) {
    await launch();
    if (!output.isJson) output.data(session.id);
    return detached({ output }, session);
  }
  const code = await followSession({ pulse, session, output, cwd, launch });
  if (!output.isJson) {
    const { final, session: after } = await pulse.research.view(session.id);
    if (after.status === 'complete') for (const line of final) output.data(line);
  }
  return code;
}

async function show(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const view = await pulse.research.view(id);
  if (output.isJson) {
    output.json({ session: view.session, experiments: view.experiments, progress: view.progress });
    return 0;
  }
  const { researchLines } = await import('../research-lines.ts');
  const { style, columns } = output.stdout;
  for (const line of researchLines(view, { style, columns: columns() })) output.data(line);
  return 0;
}

async function report(pulse: Pulse, { input, output, cwd }: CommandContext, id: string): Promise<number> {
  const { session } = await pulse.research.view(id);
  const path = resolve(cwd, input.text('output') ?? `research-${session.id.slice(-4)}.html`);
  await writeFile(path, await pulse.research.report(session.id));
  if (output.isJson) output.json({ path });
  else output.data(path);
  return 0;
}

async function finish(
  pulse: Pulse,
  { input, output, environment }: CommandContext,
  id: string,
): Promise<number> {
  if (environment.PULSE_RUN_ID) {
    throw new PulseError(
      'inside_run',
      'pulse research finish is for people: an agent inside a run may not use it.',
      {
        hint: 'End the iteration with the signal BLOCKED and say what a person should do.',
      },
    );
  }
  const [how, another] = FINISHES.filter((name) => input.has(name));
  if (how === undefined || another !== undefined) {
    throw new PulseError('usage', 'pulse research finish needs one of --implement, --pause, --done.', {
      hint: '--implement makes a plan of the next steps, --pause leaves it for later, --done closes it.',
    });
  }
  const { session, research, implementation } = await pulse.research.finish(id, { how, actor: actor() });
  if (output.isJson) {
    output.json({ session, phase: research.phase, implementation });
    return 0;
  }
  output.data(`${session.id}: ${research.phase}`);
  if (implementation) {
    output.talk(`${implementation.steps} next steps, as a plan for a workflow:`);
    output.data(implementation.command);
  }
  return 0;
}
