/** The actions of `pulse bead` that change nothing. They load little: they are asked in a hurry. */
import { readInput } from '../../../cli/operation-command.ts';
import { PulseError } from '../../../domain/errors.ts';
import { type BeadReading, listProjectBeads, nextBead, showBead } from '../operations/read.ts';
import { type Action, refuseWord, showOne, word } from './action.ts';
import { BEAD_ACTIONS } from './command.ts';

export type LookAction = 'list' | 'show' | 'next' | 'graph';

export const LOOKS: Record<LookAction, Action> = {
  async list({ beads, project: { id: project_key }, context }) {
    refuseWord(context);
    const given = await readInput(BEAD_ACTIONS.list, context, { project_key });
    const { beads: found } = await listProjectBeads(beads, given);
    const { output } = context;
    if (output.isJson) output.json({ beads: found });
    else if (found.length === 0) output.talk('There are no such beads. pulse bead create makes one.');
    else {
      const { listLines } = await import('./bead-lines.ts');
      for (const line of listLines(found, output.stdout)) output.data(line);
    }
  },
  async show({ beads, project: { id: project_key }, context }) {
    await showOne(context, await showBead(beads, { project_key, beadId: word(context) }));
  },
  async graph({ beads, project: { id: project_key }, context }) {
    refuseWord(context);
    const { output } = context;
    const { showGraph } = await import('../operations/graph-view.ts');
    const graph = await showGraph(beads, await readInput(BEAD_ACTIONS.graph, context, { project_key }));
    if (output.isJson) output.json(graph);
    else if (graph.nodes.length === 0) output.talk('There are no such beads.');
    else {
      const { graphLines } = await import('./bead-lines.ts');
      for (const line of graphLines(graph, output.stdout)) output.data(line);
    }
  },
  async next({ beads, project: { id: project_key }, context }) {
    refuseWord(context);
    const { output, environment } = context;
    if (environment.PULSE_SESSION_ID) await refuseUnreported(beads, environment.PULSE_SESSION_ID);
    const next = await nextBead(beads, await readInput(BEAD_ACTIONS.next, context, { project_key }));
    if (output.isJson) output.json(next);
    else {
      const { nextLines } = await import('./bead-lines.ts');
      for (const line of nextLines(next, output.stdout)) output.data(line);
    }
  },
};

/** A worker that asks from its shell has reported in and read its mail, as one that asks by a tool. */
async function refuseUnreported({ engine }: BeadReading, sessionId: string): Promise<void> {
  const { reasonsNotToAsk } = await import('../worker/next-gate.ts');
  const reasons = await engine.store.read((db) => reasonsNotToAsk(db, sessionId));
  if (reasons.length === 0) return;
  throw new PulseError('invalid_transition', 'What comes next is not told yet.', { hint: reasons.join(' ') });
}
