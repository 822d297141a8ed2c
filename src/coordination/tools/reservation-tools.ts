import * as z from 'zod';
import { defineTool, type Tool } from '../../tools/contract.ts';
import { LONGEST_TTL_MS, MOST_IN_AGENT_NAME, MOST_IN_REASON, MOST_PATHS } from '../bounds.ts';
import { viewConflict } from '../reservations/conflicts.ts';
import { listReservations, viewReservation } from '../reservations/held.ts';
import { withoutLinks } from '../reservations/real-path.ts';
import { releaseReservations, reservePaths } from '../reservations/reservations.ts';
import { answering, type CoordinationRun } from './coordination-run.ts';
import { ownName, projectKey } from './mail-tools.ts';

const paths = z.array(z.string().min(1).max(4_096)).min(1).max(MOST_PATHS);

export function reservationTools(run: CoordinationRun): Tool[] {
  return [reserveTool(run), releaseTool(run), listTool(run)];
}

function reserveTool(run: CoordinationRun): Tool {
  const { store, project, root, holder, ids, redact, record, onConflict } = run;
  return defineTool({
    name: 'file_reservation_paths',
    description:
      'Reserve files before you edit them: paths or patterns (* ? [a] [!a] {a,b} **). All are granted, or none where ' +
      'another agent holds some. Reserving again renews. They end with this run.',
    input: z.object({
      project_key: projectKey,
      agent_name: ownName,
      paths,
      exclusive: z.boolean().optional().describe('Nobody else may reserve them (true).'),
      ttl_seconds: z
        .int()
        .min(1)
        .max(LONGEST_TTL_MS / 1_000)
        .optional()
        .describe('For how long (3600).'),
      reason: z.string().max(MOST_IN_REASON).optional(),
    }),
    call: ({ agent_name, exclusive, ttl_seconds, reason, ...given }) =>
      answering(async () => {
        const asked = {
          ...{ project, root, holder, ids, redact, reason },
          agent: run.ownName(agent_name),
          paths: await Promise.all(given.paths.map(withoutLinks)),
          isShared: exclusive === false,
          ttlMs: ttl_seconds === undefined ? undefined : ttl_seconds * 1_000,
        };
        const answer = await store.tx('reserve', async (db) => {
          const reserved = await reservePaths(db, asked);
          await record?.(db, { type: 'reserved', agent: asked.agent, answer: reserved });
          return reserved;
        });
        const output = {
          granted: answer.granted.map(viewReservation),
          conflicts: answer.conflicts.map(viewConflict),
        };
        if (output.conflicts.length === 0) return output;
        await onConflict?.(output.conflicts);
        const reasons = output.conflicts.map(
          ({ path, pattern, holder: by, expires_at }) =>
            `${path}: ${by} holds ${pattern} until ${expires_at}`,
        );
        return { ok: false, output, reasons };
      }),
  });
}

function releaseTool(run: CoordinationRun): Tool {
  const { store, project, root, record } = run;
  return defineTool({
    name: 'release_file_reservations',
    description: 'Give back what you have reserved: these paths, as they were reserved, or all.',
    input: z.object({ project_key: projectKey, agent_name: ownName, paths: paths.optional() }),
    call: ({ agent_name, paths: given }) =>
      answering(async () => {
        const agent = run.ownName(agent_name);
        const named = given && (await Promise.all(given.map(withoutLinks)));
        const ended = await store.tx('release', async (db) => {
          const released = await releaseReservations(db, { project, agent, paths: named, root });
          await record?.(db, { type: 'released', released });
          return released;
        });
        return { released: ended.map(viewReservation) };
      }),
  });
}

function listTool({ store, project }: CoordinationRun): Tool {
  return defineTool({
    name: 'list_file_reservations',
    description: 'Who has reserved which files of this project, and until when.',
    input: z.object({
      project_key: projectKey,
      agent_name: z.string().max(MOST_IN_AGENT_NAME).optional().describe('Only those of this agent.'),
    }),
    call: ({ agent_name: agent }) =>
      answering(async () => {
        const held = await store.read((db) => listReservations(db, { project, agent }));
        return { reservations: held.map(viewReservation) };
      }),
  });
}
