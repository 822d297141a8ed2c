import { PulseError } from '../../domain/errors.ts';
import type { Schedule } from '../../store/schedules.ts';
import { sanitizeLine, shorten } from '../../terminal/text.ts';
import { localTime } from '../../terminal/time.ts';
import type { CommandContext } from '../command-spec.ts';
import { openPulse } from '../open-pulse.ts';
import type { Output } from '../output.ts';
import { readPlannedStart } from '../planned-start.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input } = context;
  const actions: Record<string, () => Promise<number>> = {
    add: () => add(context),
    list: () => list(context),
    remove: () => remove(context),
  };
  return await actions[input.argument('ACTION')!]!();
}

async function add(context: CommandContext): Promise<number> {
  const { input, output } = context;
  const when = input.argument('WHAT');
  const words = input.words('ARGS');
  if (when === undefined || words.length === 0) {
    throw new PulseError('usage', 'pulse schedule add needs a time and what to start.', {
      hint: 'pulse schedule add "0 22 * * mon-fri" -- start "Fix the flaky tests" --verify "npm test"',
    });
  }
  const start = await readPlannedStart(context, words);
  await using pulse = await openPulse(context);
  const { schedule, note } = await pulse.schedule.add({
    ...{ when, words, ...start },
    ...(input.text('zone') === undefined ? {} : { zone: input.text('zone') }),
    ...(input.text('missed') === undefined ? {} : { missed: input.text('missed') as 'run' | 'skip' }),
  });
  if (output.isJson) {
    output.json({ schedule, note });
    return 0;
  }
  if (note) output.talk(output.stderr.style.yellow(`note: ${sanitizeLine(note)}`));
  output.data(`${schedule.id}  ${shownTime(schedule)}`);
  output.talk('`pulse serve` starts it; `pulse service install` keeps that running.');
  return 0;
}

async function list(context: CommandContext): Promise<number> {
  refuseMore(context);
  const { input, output } = context;
  await using pulse = await openPulse(context);
  const { schedules } = await pulse.schedule.list({ all: input.has('all') });
  if (output.isJson) {
    output.json({ schedules });
    return 0;
  }
  if (schedules.length === 0) output.talk('Nothing is planned: pulse schedule add "in 2h" -- start GOAL');
  for (const schedule of schedules) for (const line of linesOf(schedule, output)) output.data(line);
  return 0;
}

async function remove(context: CommandContext): Promise<number> {
  const { input, output } = context;
  const id = input.argument('WHAT');
  if (id === undefined)
    throw new PulseError('usage', 'pulse schedule remove needs an id.', { hint: 'pulse schedule list' });
  if (input.words('ARGS').length > 0) throw new PulseError('usage', 'pulse schedule remove takes one id.');
  await using pulse = await openPulse(context);
  const { schedule } = await pulse.schedule.remove({ scheduleId: id });
  if (output.isJson) output.json({ schedule });
  else output.data(`Removed ${schedule.id}: ${sanitizeLine(schedule.words.join(' '))}`);
  return 0;
}

function refuseMore({ input }: CommandContext): void {
  if (input.argument('WHAT') !== undefined)
    throw new PulseError('usage', 'pulse schedule list takes no more words.');
}

function linesOf(schedule: Schedule, { stdout: { style, isTerminal, columns } }: Output): string[] {
  const room = (isTerminal ? columns() : 200) - 4;
  const { id, expression, words, lastAt, lastSession, lastError, missedCount, missedAt } = schedule;
  return [
    `${id.slice(-4)}  ${style.bold(sanitizeLine(expression))} (${sanitizeLine(schedule.zone)})  ${shownTime(schedule)}`,
    `    ${shorten(sanitizeLine(words.join(' ')), room)}`,
    ...(lastSession && lastAt ? [style.dim(`    last ${localTime(lastAt)}: ${lastSession}`)] : []),
    ...(lastError ? [style.red(shorten(`    not started: ${sanitizeLine(lastError)}`, room))] : []),
    ...(missedCount > 0 && missedAt
      ? [style.yellow(`    missed ${missedCount}, the last after ${localTime(missedAt)}: nobody was there`)]
      : []),
  ];
}

function shownTime({ nextAt }: Schedule): string {
  return nextAt === null ? 'over' : `next ${localTime(nextAt)} (local time)`;
}
