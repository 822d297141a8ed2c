/** `pulse bead`: it answers at once, so it opens the store and nothing else. */
import { randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { refuseInsideRun } from '../../../cli/person-only.ts';
import { createCliGit } from '../../../cli/repository-here.ts';
import { coordinationTables } from '../../../coordination/tables.ts';
import { PulseError } from '../../../domain/errors.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import { openStoreReader } from '../../../reader.ts';
import { decodeFile } from '../exchange/issue-file.ts';
import type { Check, TddSteps } from '../graph/bead.ts';
import {
  type BeadChanging,
  changeBead,
  endBead,
  importBeads,
  makeBead,
  widenBead,
} from '../operations/change.ts';
import { exportBeads, listProjectBeads, nextBead, showBead } from '../operations/read.ts';
import type { BeadView } from '../operations/view-schema.ts';
import { beadTables } from '../table-module.ts';
import { beadLines, listLines, nextLines } from './bead-lines.ts';
import { BEAD_ACTIONS, type BeadAction } from './command.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input, environment, output } = context;
  const action = input.argument('ACTION') as BeadAction;
  if (BEAD_ACTIONS[action].access === 'person') refuseInsideRun(`bead ${action}`, environment);
  const modules = [coordinationTables, beadTables];
  await using reader = await openStoreReader({ environment, onWait: output.talk, modules });
  const { store, redactor } = reader;
  const ids = { nowMs: Date.now, randomBytes };
  const beads: BeadChanging = { engine: { store, ids }, git: createCliGit(environment), redactor };
  await ACTIONS[action](beads, context);
  return 0;
}

const ACTIONS: Record<BeadAction, (beads: BeadChanging, context: CommandContext) => Promise<void>> = {
  async create(beads, context) {
    refuseWord(context);
    requireOption(context, 'title');
    const given = await readInput(BEAD_ACTIONS.create, context, { ...here(context), ...commands(context) });
    showOne(context, await makeBead(beads, given));
  },
  async list(beads, context) {
    refuseWord(context);
    const given = await readInput(BEAD_ACTIONS.list, context, here(context));
    const { beads: found } = await listProjectBeads(beads, given);
    const { output } = context;
    if (output.isJson) output.json({ beads: found });
    else if (found.length === 0) output.talk('There are no such beads. pulse bead create makes one.');
    else for (const line of listLines(found, output.stdout)) output.data(line);
  },
  async show(beads, context) {
    showOne(context, await showBead(beads, { ...here(context), beadId: word(context) }));
  },
  async next(beads, context) {
    refuseWord(context);
    const given = await readInput(BEAD_ACTIONS.next, context, here(context));
    const next = await nextBead(beads, given);
    const { output } = context;
    if (output.isJson) output.json(next);
    else for (const line of nextLines(next, output.stdout)) output.data(line);
  },
  async update(beads, context) {
    const about = { ...here(context), ...commands(context), beadId: word(context) };
    showOne(context, await changeBead(beads, await readInput(BEAD_ACTIONS.update, context, about)));
  },
  async close(beads, context) {
    const given = await readInput(BEAD_ACTIONS.close, context, { ...here(context), beadId: word(context) });
    showOne(context, await endBead(beads, given));
  },
  async scope(beads, context) {
    requireOption(context, 'add');
    const given = await readInput(BEAD_ACTIONS.scope, context, { ...here(context), beadId: word(context) });
    showOne(context, await widenBead(beads, given));
  },
  async import(beads, context) {
    const file = word(context);
    const content = await readFileHere(file, context);
    const given = await readInput(BEAD_ACTIONS.import, context, { ...here(context), content, file });
    const imported = await importBeads(beads, given);
    const { output } = context;
    const { created, updated, unchanged, kept } = imported;
    if (output.isJson) output.json(imported);
    else
      output.data(
        `${created.length} made, ${updated.length} changed, ${unchanged} as they were, ${kept} other lines kept`,
      );
  },
  async export(beads, context) {
    const { output, cwd, input } = context;
    const { text } = await exportBeads(beads, here(context));
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

/** The project in whose repository one stands, or that of `--path`. */
function here({ input, cwd }: CommandContext): { project_key: string } {
  return { project_key: resolve(cwd, input.text('path') ?? '.') };
}

function word({ input }: CommandContext): string {
  const given = input.argument('WHAT');
  if (given !== undefined) return given;
  const action = input.argument('ACTION');
  const what = action === 'import' ? 'a file' : 'the id of a bead';
  throw new PulseError('usage', `pulse bead ${action} needs ${what}.`, { hint: 'pulse help bead' });
}

function refuseWord({ input }: CommandContext): void {
  const given = input.argument('WHAT');
  if (given === undefined) return;
  throw new PulseError(
    'usage',
    `pulse bead ${input.argument('ACTION')} does not know what to do with "${given.slice(0, 100)}".`,
    { hint: 'Put a text of several words in quotation marks.' },
  );
}

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
  const steps = { ...(expect === undefined ? {} : { expect }) };
  return {
    ...(checks ? { verify: checks } : {}),
    ...(red !== undefined && green !== undefined ? { tdd_steps: { red, green, ...steps } } : {}),
  };
}

async function readFileHere(file: string, { cwd }: CommandContext): Promise<string> {
  const path = resolve(cwd, file);
  const content = await readRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof PulseError) throw cause;
    throw new PulseError('invalid_input', `${path} cannot be read: ${cause.code ?? cause.message}.`, {
      cause,
    });
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

function showOne({ output }: CommandContext, { bead }: { bead: BeadView }): void {
  if (output.isJson) output.json({ bead });
  else for (const line of beadLines(bead, output.stdout)) output.data(line);
}
