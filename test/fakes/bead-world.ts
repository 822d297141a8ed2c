/** The small model's side of a swarm: beads that go together, that clash in a file, and that are red when merged. */
import { coordinationTables } from '../../src/coordination/tables.ts';
import { act } from '../../src/engine/actions.ts';
import type { Referee } from '../../src/engine/ports.ts';
import { createBead } from '../../src/loops/beads/graph/change.ts';
import { lockProject } from '../../src/loops/beads/graph/rows.ts';
import type { BeadsLoopOptions } from '../../src/loops/beads/index.ts';
import { beadTables } from '../../src/loops/beads/table-module.ts';
import { findWorker, insertSwarm, updateWorker } from '../../src/loops/beads/worker/rows.ts';
import { appendEvents } from '../../src/store/events.ts';
import type { Store } from '../../src/store/store.ts';
import { createFakeReferee } from './referee.ts';
import type { AgentScript, World, WorldAccess } from './world.ts';

export interface SimulatedBead {
  id: string;
  needs?: string[];
  /** Instead of one of its own. */
  file?: string;
}

export interface SimulatedSwarm {
  workers: number;
  beads: readonly SimulatedBead[];
}

export const BEAD_MODULES = [coordinationTables, beadTables];
const PROJECT = 'project';

export async function admitSwarm(
  store: Store,
  world: World,
  { sessionId, workers, beads }: SimulatedSwarm & { sessionId: string },
): Promise<void> {
  world.clashes = clashes;
  world.isRed = isRed;
  await store.tx('admit', async (db) => {
    const lock = await lockProject(db, PROJECT);
    const ids = { nowMs: () => 0, randomBytes: (count: number) => new Uint8Array(count) };
    const create = (bead: Parameters<typeof createBead>[2]['bead']) => createBead(db, lock, { bead, ids });
    await create({ id: 'app', title: 'The app', prefix: 'app', type: 'epic' });
    for (const { id, needs = [], file = `${id}.txt` } of beads) {
      const fields = { files: [file], verify: [{ command: id.startsWith('keep') ? 'keeps' : 'check' }] };
      await create({ id, title: id, prefix: 'app', epic: 'app', dependencies: needs, fields });
    }
    await insertSwarm(db, {
      ...{ session_id: sessionId, project_id: PROJECT, epic: 'app', feature: 'app', mode: 'worker' },
      ...{ workers, coordinator: 'coordinator', hint: null },
    });
  });
}

/** The first runs of two beads whose names begin alike do not go together in one file. */
function clashes(onto: string, added: string): boolean {
  const [, pair] = /(?:^|,)(clash\d*)-\w\.1,/.exec(added) ?? [];
  return pair !== undefined && new RegExp(`(^|,)${pair}-\\w\\.1,`).test(onto);
}

/** One of the commands fails there. */
export function isRed(content: string): boolean {
  return isRedTogether(content) || isBroken(content);
}

/** What verifies each of two holds no longer: the first runs of both are there, and nobody has mended it. */
function isRedTogether(content: string): boolean {
  const done = content.split(',');
  return done.some((one) => {
    const [, pair] = /^(red\d*)-a\.1$/.exec(one) ?? [];
    return (
      pair !== undefined &&
      done.includes(`${pair}-b.1`) &&
      !done.some((other) => other.startsWith(`${pair}-`) && !other.endsWith('.1'))
    );
  });
}

/** The same, where the one breaks what verifies the other, and nothing is wrong with what verifies itself. */
function isBroken(content: string): boolean {
  const done = content.split(',');
  return done.some((one) => {
    const [, number] = /^spoil(\d*)\.1$/.exec(one) ?? [];
    if (number === undefined || !done.includes(`keep${number}.1`)) return false;
    return !done.some((other) => new RegExp(`^(?:spoil|keep)${number}\\.(?!1$)`).test(other));
  });
}

const FAILS: Record<string, (content: string) => boolean> = { check: isRedTogether, keeps: isBroken };

interface BeadMeans extends Pick<BeadsLoopOptions, 'store' | 'ids'> {
  referee: Referee;
}

export function createFakeBeads(access: WorldAccess, { store, ids, referee }: BeadMeans): BeadsLoopOptions {
  const { gate } = access;
  const green = createFakeReferee(access);
  const red = createFakeReferee({ ...access, script: () => ({ verifies: false }) });
  return {
    ...{ store, ids },
    referee: {
      ...referee,
      async examine(attempt, claim, signal) {
        const failed = (claim.commands ?? []).filter((command) => FAILS[command]?.(claim.tree));
        const examined = await (failed.length > 0 ? red : green).examine(attempt, claim, signal);
        return { ...examined, failed };
      },
      review: async (_, examined) => examined,
    },
    treeOf: async (_, commit) => access.world.commits.get(commit)?.content ?? '',
    judge: {
      completion: () => Promise.reject(new Error('the scripted agent is not judged')),
      red: () => Promise.reject(new Error('the scripted agent is not judged')),
    },
    compose: async ({ state }) => ({
      ...{ text: `bead ${state.own.current?.bead.id}`, tokens: 1 },
      anchor: { turnId: null, strategy: null, resolutionMs: 0, salience: null, depth: null, invalid: [] },
    }),
    unknownDecisions: async ({ own }) => (isUnplanned(own.current!.bead.id) ? ['D9'] : []),
    coordinationTools: () => [],
    writeState: () => gate('state'),
    handOff: ({ trace }, { session, own }, token) =>
      act(trace, 'hand_off', {
        async perform() {
          await gate('handoff file');
          await store.tx('hand_off', async (db) => {
            if ((await findWorker(db, session.id))?.left_for != null) return;
            await updateWorker(db, session.id, { left_for: 'context_critical' });
            const data = { nickname: own.worker!.nickname };
            await appendEvents(db, session.id, [{ type: 'worker.left', data }], { token });
          });
        },
      }),
  };
}

export type BeadTrouble = 'crashes' | 'stalls' | 'says nothing';

/** It names a decision that nobody wrote down. */
export function isUnplanned(bead: string): boolean {
  return bead.startsWith('unplanned');
}

/** As often as it takes to lose the worker: the first run, and the retries of a crash. */
const RUNS_TO_LOSE = 3;

/**
 * Each run is accepted unless it is in trouble. After a bead whose name begins with `full` the context is full; one that
 * begins with `lose` costs its first worker, and that of one that begins with `over` is full in the middle of it.
 */
export function swarmScript(trouble: () => BeadTrouble | null): AgentScript {
  const crashes = new Map<string, number>();
  const overflown = new Set<string>();
  const isToCrash = (bead: string): boolean => {
    const count = crashes.get(bead) ?? 0;
    if (!bead.startsWith('lose') || count === RUNS_TO_LOSE) return false;
    crashes.set(bead, count + 1);
    return true;
  };
  return (_, __, unit) => {
    const bead = unit ?? '';
    const contextUsed = bead.startsWith('full') ? 0.9 : 0.1;
    const isBead = bead !== '' && !bead.startsWith('merge ');
    const told = !isBead ? null : isToCrash(bead) ? 'crashes' : trouble();
    if (isBead && bead.startsWith('over') && !overflown.has(bead)) {
      overflown.add(bead);
      return { failure: { class: 'context_overflow', message: 'the context is full', resetAt: null } };
    }
    if (told === 'says nothing')
      return {
        finalMessage: 'Not yet.',
        own: { contextUsed, completion: null, reasons: ['red'], failures: 1 },
      };
    if (told !== null) {
      const failureClass = told === 'crashes' ? 'crashed' : 'timeout_idle';
      return { failure: { class: failureClass, message: told, resetAt: null } };
    }
    return {
      finalMessage: 'Done.',
      accepted: { tree: '' },
      own: {
        contextUsed,
        completion: { summary: 'done', decisions: [], followUps: [], tree: '', evidence: `${bead}.md` },
      },
    };
  };
}
