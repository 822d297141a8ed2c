/** The held-out checks of a session, run in its room. */
import type { VerificationRecord } from '../../domain/attempt.ts';
import type { HeldOut } from '../../domain/judgement.ts';
import type { HeldOutRun } from '../../referee/decide-held-out.ts';
import { heldOutFolder, readHeldOut } from '../../referee/held-out.ts';
import { runCommands } from '../../referee/run-commands.ts';
import { type Bench, type CheckPlan, executeIn, requestFor, runSetup } from './bench.ts';
import { refereeSettings } from './settings.ts';

/** After the visible checks, on the tree that the room stands on. Leaves nothing of them in the room. */
export async function runHeldOut(bench: Bench, plan: CheckPlan): Promise<HeldOutRun[]> {
  const done: HeldOutRun[] = [];
  for (const check of heldOutOf(bench)) {
    if (bench.signal.aborted) break;
    done.push(await runOne(bench, plan, check));
  }
  return done;
}

/** The first whose files are not there, as a check that failed; `null`: all are. */
export async function missingHeldOut(bench: Bench): Promise<VerificationRecord | null> {
  for (const check of heldOutOf(bench)) {
    const folder = heldOutFolder(bench.attempt.spec.projectPath, check);
    if ((await readHeldOut(folder, check)) === null) return missing(bench, { check, folder });
  }
  return null;
}

function heldOutOf({ attempt }: Bench): readonly HeldOut[] {
  return refereeSettings(attempt.spec).heldOut ?? [];
}

async function runOne(bench: Bench, plan: CheckPlan, check: HeldOut): Promise<HeldOutRun> {
  const { room, attempt, signal } = bench;
  const files = await readHeldOut(heldOutFolder(attempt.spec.projectPath, check), check);
  if (files === null) return { check, run: null, digest: null };
  const { digest } = files;
  const request = await requestFor(bench, plan);
  try {
    const [run = null] = await runCommands({
      ...request,
      commands: [check.command],
      roomKey: JSON.stringify([plan.roomKey, digest, check.to]),
      // What is protected speaks of the visible checks; these files are put back in any case.
      pins: null,
      passes: undefined,
      async execute(command) {
        await files.lay(room.folders.tree);
        const { record, output } = await executeIn(bench, plan, command);
        const outputTail = check.reveal === 'output' ? record.outputTail : '';
        return { record: { ...record, outputTail, isHeldOut: true }, output };
      },
    });
    return { check, run, digest };
  } finally {
    // Also before the next of them: each sees its own files alone.
    if (!signal.aborted) await room.enter(plan.at, { runSetup: (setup) => runSetup(bench, setup) });
  }
}

function missing(
  { base, room }: Bench,
  { check, folder }: { check: HeldOut; folder: string },
): VerificationRecord {
  return {
    command: check.command,
    cwd: room.folders.tree,
    exit: null,
    passed: false,
    durationMs: 0,
    outputHash: '',
    outputTail: `There are no held-out files in ${folder}. Put them there, or take the entry out of heldOut in .pulse/config.yaml.`,
    tree: base.tree,
    commit: base.commit,
    environment: '',
    at: new Date().toISOString(),
    isHeldOut: true,
  };
}
