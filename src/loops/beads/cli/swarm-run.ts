import type { CommandContext } from '../../../cli/command-spec.ts';
import { goOn } from '../../../cli/follow/go-on.ts';
import { openPulse } from '../../../cli/open-pulse.ts';
import { readInput } from '../../../cli/operation-command.ts';
import { refuseInsideRun } from '../../../cli/person-only.ts';
import { askingForTrust } from '../../../cli/trusting.ts';
import { PulseError } from '../../../domain/errors.ts';
import type { Pulse } from '../../../pulse.ts';
import { sanitizeLine } from '../../../terminal/text.ts';
import * as swarm from '../operations/swarm-definitions.ts';
import { waitingLine } from '../operations/swarm-operations.ts';
import { readEpic } from './read-epic.ts';
import type { SwarmAction } from './swarm-command.ts';

export async function run(context: CommandContext): Promise<number> {
  const { input } = context;
  await using pulse = await openPulse(context);
  const action = input.argument('ACTION') as SwarmAction;
  if (action === 'start') return await start(pulse, context, readEpic(input));
  const target = input.argument('TARGET');
  if (target === undefined)
    throw new PulseError('usage', 'Name the session: its id, a part of it, or last.', {
      hint: 'pulse help swarm shows how it is used.',
    });
  const actions = { show, queue, handoffs, stop, reassign };
  return await actions[action](pulse, context, target);
}

async function start(pulse: Pulse, context: CommandContext, epic: string): Promise<number> {
  const asked = await readInput(swarm.start, context, { epic });
  const started = await askingForTrust(context, asked.path, () => pulse.swarm.start(asked));
  const { swarm: row } = await pulse.swarm.show(started.session.id);
  if (row.mode === 'standalone' && !asked.standalone)
    context.output.talk('One worker alone: .pulse/tooling-status.json recommends single-worker.');
  return goOn(pulse, context, started);
}

async function show(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const { session, swarm: row, workers, beads } = await pulse.swarm.show(id);
  if (output.isJson) {
    output.json({ session, swarm: row, workers, beads });
    return 0;
  }
  const { style } = output.stdout;
  const closed = beads.filter(({ status }) => status === 'closed').length;
  output.data(style.bold(sanitizeLine(session.goal)));
  output.data(
    style.dim(`${session.id} · ${session.status} · epic ${row.epic} · ${closed} of ${beads.length} closed`),
  );
  for (const { nickname, status, bead, leftFor } of workers)
    output.data(`  ${sanitizeLine(nickname)}  ${bead ? `works on ${bead}` : (leftFor ?? status)}`);
  for (const { owner_id: owner, summary } of (await pulse.swarm.handoffs(session.id)).handoffs)
    output.data(`  ${style.yellow('waits to be resumed:')} ${sanitizeLine(`${owner}: ${summary}`)}`);
  for (const { id: bead, title, status, commit, reason } of beads) {
    const mark = status === 'closed' ? style.green('✓') : status === 'blocked' ? style.red('✗') : '·';
    const told = [commit?.slice(0, 7), status === 'blocked' ? reason?.split('\n')[0] : null].filter(Boolean);
    output.data(`  ${mark} ${bead}  ${sanitizeLine(title)}  ${style.dim(sanitizeLine(told.join(' · ')))}`);
  }
  return 0;
}

async function queue(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const { queue: waiting } = await pulse.swarm.queue(id);
  if (output.isJson) output.json({ queue: waiting });
  else if (waiting.length === 0) output.talk('Nothing waits to be merged.');
  else for (const one of waiting) output.data(sanitizeLine(waitingLine(one)));
  return 0;
}

async function handoffs(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const { handoffs: left } = await pulse.swarm.handoffs(id);
  if (output.isJson) output.json({ handoffs: left });
  else if (left.length === 0) output.talk('Nothing waits to be resumed.');
  for (const { owner_id: owner, reason, summary, next_action: next } of output.isJson ? [] : left) {
    output.data(sanitizeLine(`${owner} (${reason}): ${summary}`));
    output.data(`  ${output.stdout.style.dim(sanitizeLine(`next: ${next}`))}`);
  }
  return 0;
}

async function reassign(pulse: Pulse, context: CommandContext, id: string): Promise<number> {
  const { output, environment, input } = context;
  refuseInsideRun('swarm reassign', environment);
  for (const name of ['from', 'to'])
    if (input.text(name) === undefined)
      throw new PulseError('usage', `pulse swarm reassign needs --${name}.`, { hint: 'pulse help swarm' });
  const { sessionId, ...asked } = await readInput(swarm.reassign, context, { sessionId: id });
  const { handoff } = await pulse.swarm.reassign(sessionId, asked);
  if (output.isJson) output.json({ handoff });
  else output.data(sanitizeLine(`${asked.to} resumes what ${asked.from} left.`));
  return 0;
}

async function stop(pulse: Pulse, { output }: CommandContext, id: string): Promise<number> {
  const { session } = await pulse.swarm.stop(id);
  if (output.isJson) output.json({ session });
  else output.data(session.status === 'paused' ? `${session.id} is paused.` : `${session.id} stops now.`);
  return 0;
}
