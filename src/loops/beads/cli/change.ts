/** The actions of `pulse bead` that change beads, or write a file. */
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { unreadable } from '../../../cli/unreadable.ts';
import { PulseError } from '../../../domain/errors.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { decodeFile } from '../exchange/issue-file.ts';
import type { Check, TddSteps } from '../graph/bead.ts';
import { changeBead, endBead, heldLines, importBeads, makeBead, widenBead } from '../operations/change.ts';
import { exportBeads } from '../operations/export.ts';
import { type Action, refuseWord, showOne, word } from './action.ts';
import { BEAD_ACTIONS, type BeadAction } from './command.ts';
import type { LookAction } from './look.ts';

/** A folder of the repository says where it is; its id would not. */
const whole = ({ root, id }: { root?: string; id: string }) => ({ project_key: root ?? id });

export const CHANGES: Record<Exclude<BeadAction, LookAction | 'plan' | 'draft'>, Action> = {
  async create({ beads, project, context }) {
    refuseWord(context);
    requireOption(context, 'title');
    const about = { ...whole(project), ...commands(context) };
    await showOne(context, await makeBead(beads, await readInput(BEAD_ACTIONS.create, context, about)));
  },
  async update({ beads, project, context }) {
    const about = { ...whole(project), ...commands(context), beadId: word(context) };
    await showOne(context, await changeBead(beads, await readInput(BEAD_ACTIONS.update, context, about)));
  },
  async close({ beads, project, context }) {
    const about = { ...whole(project), beadId: word(context) };
    const { bead, wasClosed } = await endBead(beads, await readInput(BEAD_ACTIONS.close, context, about));
    if (wasClosed)
      context.output.talk(
        `${bead.id} was closed already, ${bead.closed_at}: ${bead.close_reason ?? 'no reason'}`,
      );
    await showOne(context, { bead });
  },
  async scope({ beads, project, context }) {
    requireOption(context, 'add');
    const about = { ...whole(project), beadId: word(context) };
    const widened = await widenBead(beads, await readInput(BEAD_ACTIONS.scope, context, about));
    await showOne(context, widened);
    for (const line of heldLines(widened.conflicts)) context.output.talk(line);
  },
  async import({ beads, project, context }) {
    const file = word(context);
    const content = await readFileHere(file, context);
    const about = { ...whole(project), content, file };
    const imported = await importBeads(beads, await readInput(BEAD_ACTIONS.import, context, about));
    const { created, updated, unchanged, kept } = imported;
    const { output } = context;
    if (output.isJson) output.json(imported);
    else
      output.data(
        `${created.length} made, ${updated.length} changed, ${unchanged} as they were, ${kept} other lines kept`,
      );
  },
  async export({ beads, project, context }) {
    const { output, cwd, input } = context;
    const { text } = await exportBeads(beads, whole(project));
    const file = input.argument('WHAT');
    if (file !== undefined) {
      const path = resolve(cwd, file);
      await replaceFile(path, text);
      if (output.isJson) output.json({ path });
      else output.data(path);
    } else if (output.isJson) output.json({ text });
    // As it is: what is exported is for a program.
    else output.stdout.stream.write(text);
  },
};

function requireOption({ input }: CommandContext, name: string): void {
  if (input.texts(name) !== undefined) return;
  throw new PulseError('usage', `pulse bead ${input.argument('ACTION')} needs --${name}.`, {
    hint: 'pulse help bead',
  });
}

/** Commands with what they must give; the n-th expectation is that of the n-th command. */
function commands({ input }: CommandContext): { verify?: Check[]; tdd_steps?: TddSteps } {
  const [verify, expects] = [input.texts('verify'), input.texts('expect') ?? []];
  if (expects.length > (verify?.length ?? 0))
    throw new PulseError('usage', 'There are more --expect than --verify.');
  const [red, green, expect] = [input.text('red'), input.text('green'), input.text('red-expect')];
  if ((red === undefined) !== (green === undefined) || (expect !== undefined && red === undefined))
    throw new PulseError('usage', '--red and --green belong together.');
  const checks = verify?.map((command, index) => {
    const wanted = expects[index] ?? '';
    return wanted === '' ? { command } : { command, expect: wanted };
  });
  return {
    ...(checks ? { verify: checks } : {}),
    ...(red !== undefined && green !== undefined
      ? { tdd_steps: { red, green, ...(expect === undefined ? {} : { expect }) } }
      : {}),
  };
}

async function readFileHere(file: string, { cwd }: CommandContext): Promise<string> {
  const path = resolve(cwd, file);
  const content = await readRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof PulseError) throw cause;
    throw unreadable(path, cause);
  });
  return decodeFile(content);
}

/** A reader sees the old file or the new one, never a part. */
async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new PulseError('invalid_input', `${path} cannot be written: ${code ?? message}.`, { cause });
  }
}
