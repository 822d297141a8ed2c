/** A plan as a person reads it before approving: all that is approved with it. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { PulseError } from '../../../domain/errors.ts';
import { quoteIfNeeded } from '../../../domain/shell-words.ts';
import type { Style } from '../../../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../../terminal/text.ts';
import { setupCommands } from '../model.ts';
import type { WorkflowView } from '../operations/view.ts';

type Planned = Pick<WorkflowView, 'workflow'>;

/** Nobody has approved it yet. */
export function isWaitingForApproval({ session, workflow }: WorkflowView): boolean {
  return (
    session.status === 'blocked' &&
    session.stop_reason === 'approval_required' &&
    workflow.approvedAt === null &&
    workflow.plan.pulses.length > 0
  );
}

/** Descriptions whole, and each command that will be run. */
export function planLines({ workflow }: Planned, style: Style): string[] {
  const { plan, checks, setupSteps } = workflow;
  return [
    style.bold(sanitizeLine(plan.title)),
    ...(plan.approach ? paragraph(plan.approach, '  ') : []),
    ...plan.pulses.flatMap(
      ({ id, title, description, expectedChanges = [], dependsOn = [], changesChecks }) => [
        '',
        `  ${style.cyan(id)}  ${sanitizeLine(title)}`,
        ...paragraph(description, '    '),
        ...(expectedChanges.length > 0
          ? [style.dim(`    changes ${expectedChanges.map(sanitizeLine).join(', ')}`)]
          : []),
        ...(dependsOn.length > 0 ? [style.dim(`    after ${dependsOn.join(', ')}`)] : []),
        ...(changesChecks ? [style.yellow('    may change tests and what defines the checks')] : []),
      ],
    ),
    '',
    style.bold('These commands will be run'),
    ...(setupSteps === null
      ? ['  setup  an agent finds out how']
      : setupCommands(setupSteps).map((command) => `  setup  ${sanitizeLine(command)}`)),
    ...(checks.length === 0 ? ['  check  none: nothing is verified'] : checks.map(checkLine)),
  ];
}

function checkLine({ command, source, scope }: WorkflowView['workflow']['checks'][number]): string {
  const only = scope === undefined ? '' : `  (when ${sanitizeLine([scope].flat().join(', '))} changes)`;
  return `  ${source.toLowerCase().padEnd(5)}  ${sanitizeLine(command)}${only}`;
}

function paragraph(text: string, indent: string): string[] {
  return sanitizeForTerminal(text)
    .trimEnd()
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd());
}

/** What can be done with it, by commands that work as they are printed. */
export function approvalLines({ session: { id } }: WorkflowView, style: Style): string[] {
  return [
    `  ${style.dim('approve')} pulse workflow approve ${id}`,
    `  ${style.dim('edit   ')} pulse workflow show ${id} --out plan.yaml`,
    `  ${style.dim('drop   ')} pulse abort ${id}`,
  ];
}

/** As a file that `workflow approve --plan` takes. Throws where there is one already. */
export async function writePlan(
  view: WorkflowView,
  { out, cwd }: { out: string; cwd: string },
): Promise<string> {
  const path = resolve(cwd, out);
  const file = await open(path, 'wx').catch((cause: NodeJS.ErrnoException) => {
    throw new PulseError(
      'usage',
      `${path} cannot be written: ${cause.code === 'EEXIST' ? 'it is there already' : (cause.code ?? cause.message)}.`,
      {
        hint: 'Give --out the name of a file that is not there yet.',
        cause,
      },
    );
  });
  await using _ = file;
  await file.writeFile(planFile(view, path));
  return path;
}

function planFile({ session, workflow }: WorkflowView, path: string): string {
  const { plan, checks, setupSteps } = workflow;
  const derived = [
    ...(plan.preflight === undefined && setupSteps?.length
      ? [
          '# Without `preflight` the worktree is set up by:',
          ...setupCommands(setupSteps).map((line) => `#   ${line}`),
        ]
      : []),
    ...(plan.verify === undefined
      ? ['# Without `verify` these are the checks:', ...checks.map(({ command }) => `#   ${command}`)]
      : []),
  ];
  const head = [
    `# The plan of ${session.id}. When you have edited it:`,
    `#   pulse workflow approve ${session.id} --plan ${quoteIfNeeded(path)}`,
  ];
  const comments = [...head, ...derived].map((line) => sanitizeLine(line)).join('\n');
  return `${comments}\n${stringify(plan, { lineWidth: 0 })}`;
}
