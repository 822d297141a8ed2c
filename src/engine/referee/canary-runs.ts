/** The checks of a claim with a test that must fail beside each test: once on the base, once on the claim. */
import { randomBytes } from 'node:crypto';
import {
  type Canary,
  type CanaryResult,
  findSilenced,
  hasCanary,
  plantCanaries,
} from '../../referee/canary/canaries.ts';
import { findTests } from '../../referee/canary/find-tests.ts';
import { readTreeFiles } from '../../referee/claim-trees.ts';
import type { Pins } from '../../referee/pins/pins.ts';
import { layFiles } from '../../referee/room/lay-files.ts';
import type { RoomTree } from '../../referee/room/room-git.ts';
import { type CheckRun, readRun } from '../../referee/run-commands.ts';
import { type Bench, type CheckPlan, executeIn, requestFor, runSetup } from './bench.ts';

interface CanaryRequest {
  /** What ran on the claim. */
  runs: readonly CheckRun[];
  at: RoomTree;
  pins: Pins;
}

/** What speaks against a claim: commands that do not tell of a test that must fail, although they do on the base. */
export async function askCanaries(bench: Bench, { runs, at, pins }: CanaryRequest): Promise<string[]> {
  const reasons: string[] = [];
  for (const { record, tests } of runs) {
    if (tests.counts === null || bench.signal.aborted) continue;
    const { command } = record;
    const base = await runWith(bench, { at: bench.base, command, pins });
    if (base.told.length === 0 || bench.signal.aborted) continue;
    const silenced = findSilenced(base, await runWith(bench, { at, command, pins }));
    const canary = await confirmSilence(bench, { at, command, pins, silenced });
    if (canary !== null) reasons.push(reasonFor(command, canary));
  }
  return reasons;
}

function reasonFor(command: string, { of, by }: Canary): string {
  const how =
    by === 'throws' || by === 'function'
      ? 'the code under test ends the run of the tests, or writes its report'
      : `it fails by ${by.replaceAll('_', '.')}, and the code under test changes how that compares`;
  return `${command} does not tell of a test that must fail, which Pulse put into ${of}: ${how}.`;
}

/** So many of them are asked one by one. */
const CONFIRMED = 3;

/** A runner that stops at its first failure tells of one of many, and not always of the same: each is asked alone. */
async function confirmSilence(
  bench: Bench,
  { silenced, ...request }: CanaryRun & { silenced: readonly Canary[] },
): Promise<Canary | null> {
  for (const canary of silenced.slice(0, CONFIRMED)) {
    if (bench.signal.aborted) return null;
    const { laid, told } = await runWith(bench, { ...request, only: canary });
    if (laid.length > 0 && told.length === 0) return canary;
  }
  return null;
}

interface CanaryRun {
  at: RoomTree;
  command: string;
  pins: Pins;
  /** The only one that is laid. */
  only?: Canary;
}

async function runWith(bench: Bench, { at, command, pins, only }: CanaryRun): Promise<CanaryResult> {
  const { room, placed } = bench;
  const enter = () => room.enter(at, { runSetup: (setup) => runSetup(bench, setup) });
  const { key: roomKey, setupFailure } = await enter();
  if (setupFailure) return { laid: [], told: [] };
  const tree = await readTreeFiles(placed, { cwd: room.folders.tree, tree: at.tree });
  const isAsked = only && ((canary: Canary) => hasCanary([only], canary));
  const planted = plantCanaries(await findTests(tree, pins), tokenOf(), isAsked);
  const canaries = planted.flatMap((file) => file.canaries);
  const plan: CheckPlan = { at, roomKey, pins: null, isRepeated: false, phase: 'canary' };
  const request = await requestFor(bench, plan);
  try {
    await layFiles(
      room.folders.tree,
      planted.map(({ path, text }) => ({ path, content: Buffer.from(text), mode: null })),
    );
    const { tests } = await readRun(
      { ...request, execute: (asked) => executeIn(bench, plan, asked) },
      command,
    );
    const failed = tests.names?.failed ?? [];
    return {
      laid: canaries,
      told: canaries.filter(({ name }) => failed.some((test) => test.includes(name))),
    };
  } finally {
    if (!bench.signal.aborted) await enter();
  }
}

/** Letters alone: digits in the names of tests are not compared. */
function tokenOf(): string {
  return [...randomBytes(16)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('');
}
