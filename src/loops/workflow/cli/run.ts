import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { lastEvent } from '../../../cli/follow/last-event.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import type { Output } from '../../../cli/output.ts';
import { readYamlFile } from '../../../cli/read-yaml.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import { describeTrust, formatTrust } from '../../../domain/check-words.ts';
import { PulseError } from '../../../domain/errors.ts';
import { nextCommand } from '../../../domain/next-command.ts';
import { quoteIfNeeded } from '../../../domain/shell-words.ts';
import type { Changed } from '../../../operations/operation.ts';
import type { Pulse } from '../../../pulse.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../../terminal/text.ts';
import * as workflow from '../operations/definitions.ts';
import type { WorkflowView } from '../operations/view.ts';
import { unresolvedLines } from '../unresolved.ts';
import type { WorkflowAction } from './command.ts';
import { approvalLines, isWaitingForApproval, planLines, writePlan } from './plan-text.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, cwd } = context;
  await using pulse = await openPulse(context);
  const target = input.argument('TARGET')!;
  const actions: Record<WorkflowAction, () => Promise<number>> = {
    plan: () => start(pulse, context, { goal: target, plan: undefined }),
    start: async () => start(pulse, context, { plan: await readYamlFile(target, { cwd, what: 'The plan' }) }),
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
      hint: 'Put a goal of several words in quotation marks.',
    });
  }
  return await actions[action]();
}

async function start(
  pulse: Pulse,
  context: CommandContext,
  work: { goal?: string; plan: unknown },
): Promise<number> {
  const asked = await readInput(workflow.start, context, work);
  const started = await askingForTrust(context, asked.path, () => pulse.workflow.start(asked));
  const { talk, stderr } = context.output;
  const { protects } = started.notes;
  if (protects) talk(stderr.style.dim(sanitizeLine(protects)));
  const exitCode = await goOn(pulse, context, started);
  if (!context.input.has('detach') && !context.output.isJson)
    await showForApproval(pulse, context.output, started);
  return exitCode;
}

/** Nobody should have to ask what it is that they approve. */
async function showForApproval(pulse: Pulse, output: Output, { session }: Changed): Promise<void> {
  const view = await pulse.workflow.show(session.id);
  if (!isWaitingForApproval(view)) return;
  const { style } = output.stdout;
  for (const line of ['', ...planLines(view, style), '', ...approvalLines(view, style)]) output.data(line);
}

/** Follows what a person's decision lets go on, from there. */
async function decided(
  pulse: Pulse,
  context: CommandContext,
  sessionId: string,
  decide: (id: string) => Promise<Changed>,
): Promise<number> {
  const { id, project_path: path } = await pulse.session(sessionId);
  const after = await lastEvent(pulse, id);
  const decision = await askingForTrust(context, path, () => decide(id));
  return goOn(pulse, context, { ...decision, after });
}

async function approve(pulse: Pulse, context: CommandContext, target: string): Promise<number> {
  const { sessionId, ...edited } = await readInput(workflow.approve, context, { sessionId: target });
  return decided(pulse, context, sessionId, (id) => pulse.workflow.approve(id, edited));
}

async function extension(pulse: Pulse, context: CommandContext, target: string): Promise<number> {
  const { sessionId, ...asked } = await readInput(workflow.decideExtension, context, { sessionId: target });
  return decided(pulse, context, sessionId, (id) => pulse.workflow.decideExtension(id, asked));
}

async function stop(pulse: Pulse, { output }: CommandContext, target: string): Promise<number> {
  const { session } = await pulse.workflow.stop(target);
  if (output.isJson) output.json({ session });
  else
    output.data(
      `${session.id} stops now; what the pulse has is kept on its branch. pulse resume ${session.id} continues it.`,
    );
  return 0;
}

async function review(pulse: Pulse, context: CommandContext, target: string): Promise<number> {
  const { output } = context;
  const { sessionId, ...asked } = await readInput(workflow.review, context, { sessionId: target });
  return decided(pulse, context, sessionId, async (id) => {
    if (asked.approve && asked.reject === undefined) await printWhatIsMerged(pulse, output, id);
    const { merged, ...resumed } = await pulse.workflow.review(id, asked);
    if (merged) output.talk(merged.said);
    return resumed;
  });
}

async function printWhatIsMerged(pulse: Pulse, output: Output, id: string): Promise<void> {
  const { trust } = await pulse.workflow.show(id);
  if (trust) output.talk(`What is merged is ${formatTrust(trust)}.`);
  const { unresolved } = await pulse.show(id);
  if (unresolved.length === 0) return;
  output.talk(output.stderr.style.yellow('note: this was not resolved, and is merged with the rest:'));
  for (const line of unresolvedLines(unresolved)) output.talk(`      ${sanitizeLine(line)}`);
}

async function baseline(pulse: Pulse, context: CommandContext, target: string): Promise<number> {
  const { input, output } = context;
  if (input.has('refresh') || input.argument('WHAT') === 'refresh')
    return decided(pulse, context, target, (id) => pulse.workflow.refreshBaseline(id));
  const { baseline: issues } = await pulse.workflow.showBaseline(target);
  if (output.isJson) {
    output.json({ baseline: issues });
    return 0;
  }
  if (issues.length === 0) output.data('Nothing is known from before the first pulse.');
  for (const { source, category, filePath, pattern, description, count } of issues) {
    const text = description === null || description === pattern ? pattern : `${pattern} ${description}`;
    output.data(
      `${source} ${category} ${filePath ?? ''} ${sanitizeLine(text)}${count > 1 ? ` (${count} times)` : ''}`,
    );
  }
  return 0;
}

async function show(pulse: Pulse, { input, output, cwd }: CommandContext, id: string): Promise<number> {
  const view = await pulse.workflow.show(id);
  const out = input.text('out');
  const written = out === undefined ? null : await writePlan(view, { out, cwd });
  if (output.isJson) {
    output.json(view);
    return 0;
  }
  if (written !== null) {
    output.data(written);
    output.talk(
      `When you have edited it: pulse workflow approve ${view.session.id} --plan ${quoteIfNeeded(written)}`,
    );
    return 0;
  }
  if (isWaitingForApproval(view)) {
    const { style } = output.stdout;
    for (const line of [...planLines(view, style), '', ...approvalLines(view, style)]) output.data(line);
    return 0;
  }
  const isDriven = (await pulse.runner(view.session.id)) !== 'none';
  for (const line of describe(view, output.stdout.style, isDriven)) output.data(line);
  return 0;
}

const MARKS = { proposed: '·', running: '▸', succeeded: '✓', failed: '✗', stopped: '■' } as const;

function describe(
  { session, trust, workflow, pulses }: WorkflowView,
  style: Style,
  isDriven: boolean,
): string[] {
  const next = nextCommand(session, { isDriven });
  return [
    `${style.bold(sanitizeLine(workflow.title))}  ${style.dim(`${session.id} · ${session.status}${session.stop_reason ? ` (${session.stop_reason})` : ''}${trust ? ` · ${describeTrust(session.status, trust)}` : ''}`)}`,
    `  ${style.dim(`branch ${session.branch_name}, base ${session.base_branch ?? session.base_sha.slice(0, 10)}`)}`,
    ...pulses.map((pulse) => {
      const { status, plannedPulseId: planned, title, description, checkpointCommitSha: sha } = pulse;
      const said = description ? sanitizeLine(description.split('\n')[0]!) : sanitizeLine(title);
      const why = pulse.failureReason ? `: ${sanitizeLine(pulse.failureReason)}` : '';
      const left = pulse.unresolvedIssues.map(
        ({ issue, reason }) =>
          `      ${style.yellow(`not resolved: ${sanitizeLine(`${issue} (${reason})`)}`)}`,
      );
      const mark = pulse.hasUnresolvedIssues ? style.yellow('!') : MARKS[status];
      const line = `  ${mark} ${planned.padEnd(12)} ${said}${why} ${style.dim(sha ? sha.slice(0, 10) : '')}`;
      return [line.trimEnd(), ...left].join('\n');
    }),
    ...(session.blocked_reason
      ? sanitizeForTerminal(session.blocked_reason)
          .split('\n')
          .map((line) => `  ${line}`)
      : []),
    ...(next ? [`  ${style.dim(next.label)} ${next.command}`] : []),
  ];
}
