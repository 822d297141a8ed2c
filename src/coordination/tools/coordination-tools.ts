/** The tools of a run for mail and reservations: always in the run's own project, and under its own name alone. */
import { PulseError } from '../../domain/errors.ts';
import type { Tool } from '../../tools/contract.ts';
import { registerAgent } from '../mail/agents.ts';
import type { CoordinationOptions, CoordinationRun } from './coordination-run.ts';
import { mailTools } from './mail-tools.ts';
import { reservationTools } from './reservation-tools.ts';

export function createCoordinationTools(options: CoordinationOptions): Tool[] {
  const { store, project, ids } = options;
  let name = options.agentName;
  const run: CoordinationRun = {
    ...options,
    ownName(given) {
      if (name === undefined)
        throw new PulseError('invalid_input', 'This run has no mail name yet.', {
          hint: 'Call register_agent first.',
        });
      if (given === undefined || given === name) return name;
      throw new PulseError('invalid_input', `This run is ${name}, not ${given.slice(0, 64)}.`, {
        hint: `Use ${name}, or leave the name out.`,
      });
    },
    async register(wanted) {
      // Asking twice gives the same name: one run is one agent.
      name ??= await store.tx('mail', async (db) => {
        const registered = await registerAgent(db, { project, name: wanted, ids });
        await options.record?.(db, { type: 'registered', name: registered.name });
        return registered.name;
      });
      return name;
    },
  };
  return [...mailTools(run), ...reservationTools(run)];
}
