import { PulseError } from '../../domain/errors.ts';
import { nextCommand } from '../../domain/next-command.ts';
import { unresolvedLines } from '../../domain/unresolved.ts';
import type { Resumed } from '../../operations/control.ts';
import type { WorkflowShown } from '../../operations/workflow/view.ts';
import { createPulse, type Pulse } from '../../pulse.ts';
import type { Session } from '../../store/sessions.ts';
import { actor } from '../actor.ts';
import type { CommandContext } from '../command-spec.ts';
import { detached, followSession } from '../follow/follow.ts';
import { lastEvent } from '../follow/last-event.ts';
import { readYamlFile } from '../read-yaml.ts';
import { launchRunner } from '../session-runner.ts';
import { sharedStart } from '../start-options.ts';
import type { Style } from '../terminal/style.ts';
import { shown, shownLine } from '../terminal/text.ts';
import { askingForTrust } from '../trusting.ts';
import type { WorkflowAction } from '../workflow-command.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, output, environment } = context;
  await using pulse = await createPulse({ environment, onWait: output.talk });
  const target = input.argument('TARGET')!;
  const actions: Record<WorkflowAction, () => Promise<number>> = {
    plan: () => start(pulse, context, { goal: target }),
    start: async () =>
      start(pulse, context, { plan: await readYamlFile(target, { cwd: context.cwd, what: 'The plan' }) }),
    approve: () => approve(pulse, context, target),
    extension: () => extension(pulse, context, target),
    stop: () => stop(pulse, context, target),
    review: () => review(pulse, context, target),
    baseline: () => baseline(pulse, context, target),
    show: () => show(pulse, context, target),
  };
  const action = input.argument('ACTION') as WorkflowAction;
  const word = input.argument('WHAT');
  if (word !== undefined && action !== 'baseline') {
    throw new PulseError('usage', `pulse workflow ${action} does not take "${word}".`, {
      hint: 'A goal of several words stands in quotation marks.',
    });
  }
  return await actions[action]();
}

async function start(
  pulse: Pulse,
  context: CommandContext,
  work: { goal: string } | { plan: unknown },
): Promise<number> {
  const { input, cwd } = context;
  const asked = {
    ...work,
    ...sharedStart(input, cwd),
    actor: actor(),
    isApproved: input.has('yes'),
    extensions: input.text('extensions') as 'auto' | 'ask' | undefined,
  };
  const { session } = await askingForTrust(context, asked.path, () => pulse.workflows.start(asked));
  return follow(pulse, context, { session, next: 'run' }, 0);
}

async function follow(
  pulse: Pulse,
  context: CommandContext,
  { session, next }: Resumed,
  after: number,
): Promise<number> {
  const { input, output, cwd } = context;
  const launch = async (): Promise<void> => {
    if (next === 'run') await launchRunner(pulse, session, context);
  };
  if (!input.has('detach')) return followSession({ pulse, session, output, cwd, after, launch });
  await launch();
  if (!output.isJson) output.data(session.id);
  return detached({ output }, session);
}

async function decided(
  pulse: Pulse,
  context: CommandContext,
  id: string,
  decide: (session: Session) => Promise<Resumed>,
): Promise<number> {
  const session = await pulse.session(id);
  const after = await lastEvent(pulse, session.id);
  const decision = await askingForTrust(context, session.project_path, () => decide(session));
  return follow(pulse, context, decision, after);
}

async function approve(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const file = context.input.text('plan');
  const plan =
    file === undefined ? undefined : await readYamlFile(file, { cwd: context.cwd, what: 'The plan' });
  return decided(pulse, context, id, (session) =>
    pulse.workflows.approve(session.id, { actor: actor(), plan }),
  );
}

async function extension(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const { input } = context;
  if (input.has('approve') === input.has('deny')) throw eitherOr('extension', '--approve', '--deny');
  const decision = { approve: input.has('approve'), actor: actor() };
  return decided(pulse, context, id, (session) => pulse.workflows.extension(session.id, decision));
}

async function stop(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const session = await pulse.workflows.stop(id, { actor: actor() });
  if (output.isJson) output.json({ session });
  else
    output.data(
      `${session.id} stops now; what the pulse has is kept on its branch. pulse resume ${session.id} goes on.`,
    );
  return 0;
}

async function review(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const { input, output } = context;
  const comments = input.text('reject');
  if (input.has('approve') === (comments !== undefined))
    throw eitherOr('review', '--approve', '--reject TEXT');
  if (comments !== undefined) {
    return decided(pulse, context, id, (session) =>
      pulse.workflows.rejectReview(session.id, { comments, actor: actor() }),
    );
  }
  const mode = (input.text('merge') ?? 'ff') as 'ff' | 'merge' | 'squash' | 'pr';
  return decided(pulse, context, id, async (session) => {
    const { unresolved } = await pulse.get(session.id);
    if (unresolved.length > 0) {
      output.talk(output.stderr.style.yellow('note: this was not resolved, and is merged with the rest:'));
      for (const line of unresolvedLines(unresolved)) output.talk(`      ${shownLine(line)}`);
    }
    const { merged, ...resumed } = await pulse.workflows.approveReview(session.id, { mode, actor: actor() });
    if (merged) output.talk(merged.said);
    return resumed;
  });
}

async function baseline(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const { input, output } = context;
  if (input.has('refresh') || input.argument('WHAT') === 'refresh') {
    return decided(pulse, context, id, (session) =>
      pulse.workflows.refreshBaseline(session.id, { actor: actor() }),
    );
  }
  const issues = await pulse.workflows.baseline(id);
  if (output.isJson) output.json({ baseline: issues });
  else if (issues.length === 0) output.data('Nothing is known from before the first pulse.');
  for (const { source, category, filePath, pattern, description, count } of output.isJson ? [] : issues) {
    const text = description === null || description === pattern ? pattern : `${pattern} ${description}`;
    output.data(
      `${source} ${category} ${filePath ?? ''} ${shownLine(text)}${count > 1 ? ` (${count} times)` : ''}`,
    );
  }
  return 0;
}

async function show(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const view = await pulse.workflows.show(id);
  if (output.isJson) {
    output.json(view);
    return 0;
  }
  const isDriven = (await pulse.runner(view.session.id)) !== 'none';
  for (const line of describe(view, output.stdout.style, isDriven)) output.data(line);
  return 0;
}

const MARKS = { proposed: '·', running: '▸', succeeded: '✓', failed: '✗', stopped: '■' } as const;

function describe({ session, workflow, pulses }: WorkflowShown, style: Style, isDriven: boolean): string[] {
  const next = nextCommand(session, { isDriven });
  return [
    `${style.bold(shownLine(workflow.title))}  ${style.dim(`${session.id} · ${session.status}${session.stop_reason ? ` (${session.stop_reason})` : ''}`)}`,
    `  ${style.dim(`branch ${session.branch_name}, base ${session.base_branch ?? session.base_sha.slice(0, 10)}`)}`,
    ...pulses.map((pulse) => {
      const { status, plannedPulseId: planned, title, description, checkpointCommitSha: sha } = pulse;
      const said = description ? shownLine(description.split('\n')[0]!) : shownLine(title);
      const why = pulse.failureReason ? `: ${shownLine(pulse.failureReason)}` : '';
      const left = pulse.unresolvedIssues.map(
        ({ issue, reason }) => `      ${style.yellow(`not resolved: ${shownLine(`${issue} (${reason})`)}`)}`,
      );
      const mark = pulse.hasUnresolvedIssues ? style.yellow('!') : MARKS[status];
      const line = `  ${mark} ${planned.padEnd(12)} ${said}${why} ${style.dim(sha ? sha.slice(0, 10) : '')}`;
      return [line.trimEnd(), ...left].join('\n');
    }),
    ...(session.blocked_reason
      ? shown(session.blocked_reason)
          .split('\n')
          .map((line) => `  ${line}`)
      : []),
    ...(next ? [`  ${style.dim(next.label)} ${next.command}`] : []),
  ];
}

function eitherOr(action: string, ...options: string[]): PulseError {
  return new PulseError('usage', `pulse workflow ${action} needs one of ${options.join(', ')}.`);
}
