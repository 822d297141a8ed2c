/** The referee on real rooms, real git and real processes. One room a session; the attempt's lease is its lock. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import { isSuspicious } from '../../referee/canary/suspicion.ts';
import {
  type ChangedFile,
  type ClaimedChanges,
  compareChecks,
  listChangedFiles,
  makeReplayTree,
  readChangedTexts,
  readTreeFiles,
} from '../../referee/claim-trees.ts';
import { type ClaimFacts, decideClaim, needsReplay } from '../../referee/decide-claim.ts';
import { decideHeldOut } from '../../referee/decide-held-out.ts';
import { findNotes } from '../../referee/notes/notes.ts';
import { findPins, type Pins } from '../../referee/pins/pins.ts';
import type { RoomTree } from '../../referee/room/room-git.ts';
import { type CheckRun, runKey } from '../../referee/run-commands.ts';
import type { AgentHost, Claim, ExaminedClaim, HeldAttempt, Referee } from '../ports.ts';
import type { Clock } from '../wake/clock.ts';
import { type BaseReading, findBaseReading, saveBaseReading } from './base-reading.ts';
import { type Bench, type CheckPlan, openBench, type RefereeMeans, runChecksIn, runSetup } from './bench.ts';
import { askCanaries } from './canary-runs.ts';
import { missingHeldOut, runHeldOut } from './held-out-runs.ts';
import { proveUnit } from './prove.ts';
import { askSecondOpinion } from './second-opinion.ts';
import { refereeSettings } from './settings.ts';

/** What a claim is judged by, while it is judged. */
interface Examination extends Pick<ClaimedChanges, 'restored'> {
  base: BaseReading | null;
  /** The code of the claim could end or rewrite the run that tests it. */
  isSuspicious: boolean;
  facts: Omit<ClaimFacts, 'replay'>;
}

/** `openAgents`: those that give second opinions; they are made after the referee. */
export function createReferee(means: RefereeMeans & { clock: Clock; openAgents(): AgentHost }): Referee {
  /** By base tree and commands: the agent cannot change either. */
  const knownPins = new Map<string, Promise<Pins>>();

  return {
    async readBase(attempt, { source, commands: own, baseSha, signal }) {
      const commands = own ?? attempt.spec.verify;
      const reader = { ...onBase(attempt, baseSha), commands };
      const known = await findBaseReading(means.store, reader);
      if (known) return known.failure;
      const reading = await readBase(
        await openBench(means, attempt, { signal, claim: { commands, baseSha } }),
        source,
      );
      if (signal.aborted) return null;
      // What stands in the way may be mended before the next attempt.
      if (reading.failure === null)
        await saveBaseReading(means.store, reader, { reading, isTold: own === undefined });
      return reading.failure;
    },

    async examine(attempt, claim, signal) {
      const bench = await openBench(means, attempt, { signal, claim });
      const { commands } = bench;
      // A part of a larger work has a base of its own, or that of the whole.
      const base =
        (await findBaseReading(means.store, { ...onBase(attempt, claim.baseSha), commands })) ??
        (await findBaseReading(means.store, { ...attempt, commands }));
      const pins = await pinsOf(bench, knownPins);
      const examined = await examineClaim(bench, { claim, base, pins });
      return examined.needsReplay ? examined : askLast(bench, { examined, tree: null, pins });
    },

    async replay(attempt, examined, signal) {
      const bench = await openBench(means, attempt, { signal, claim: examined.claim });
      const pins = await pinsOf(bench, knownPins);
      const { tree, ...replayed } = await replayClaim(bench, { examined, pins });
      return askLast(bench, { examined: replayed, tree, pins });
    },

    async review(attempt, examined, signal) {
      const { review: reviewer } = refereeSettings(attempt.spec);
      if (!reviewer || examined.judgement.verdict === 'rejected') return examined;
      const bench = await openBench(means, attempt, { signal, claim: examined.claim });
      const { store, clock } = means;
      return askSecondOpinion({ store, clock, agents: means.openAgents() }, bench, { examined, reviewer });
    },

    prove: (unit) => proveUnit(means, unit),

    close: (sessionId) => rm(join(means.rooms, sessionId), { recursive: true, force: true, maxRetries: 3 }),
  };
}

function onBase(attempt: HeldAttempt, baseSha: string | undefined): HeldAttempt {
  return baseSha === undefined ? attempt : { ...attempt, spec: { ...attempt.spec, baseSha } };
}

async function readBase(bench: Bench, source: string | null): Promise<BaseReading> {
  const { room, attempt, base } = bench;
  const { key, setupFailure, isNew } = await room.enter(base, {
    source,
    runSetup: (commands) => runSetup(bench, commands),
  });
  const { tree } = base;
  if (setupFailure) return { failure: setupFailure, tree, runs: [] };
  const isRun = refereeSettings(attempt.spec).baseWaitMs !== null;
  const plan: CheckPlan = { at: base, roomKey: key, pins: null, isRepeated: false, phase: 'base' };
  const runs = isRun ? await runChecksIn(bench, plan) : [];
  if (bench.signal.aborted) return { failure: null, tree, runs: [] };
  if (isNew || isRun) await room.keep(base, key);
  const failure = runs.find(isNotFound)?.record ?? (await missingHeldOut(bench));
  const heldOut = isRun && !failure ? await runHeldOut(bench, { ...plan, phase: 'held_out' }) : [];
  return {
    failure: failure ?? heldOut.flatMap(({ run }) => run ?? []).find(isNotFound)?.record ?? null,
    tree,
    runs,
    heldOut,
  };
}

/** The shell's own codes for a command that it could not start, and npm's words for a script that is not there. */
function isNotFound({ record: { exit, outputTail } }: CheckRun): boolean {
  return exit === 127 || exit === 126 || (exit !== 0 && /missing script:/i.test(outputTail));
}

function pinsOf(
  { placed, room, attempt, base, commands }: Bench,
  known: Map<string, Promise<Pins>>,
): Promise<Pins> {
  const { paths, exclude, tests } = refereeSettings(attempt.spec);
  const key = JSON.stringify([base.tree, commands, paths, exclude, tests]);
  const found = known.get(key);
  if (found) return found;
  const pins = readTreeFiles(placed, { cwd: room.folders.tree, tree: base.tree }).then((tree) =>
    findPins({ commands, tree, paths, exclude, tests }),
  );
  known.set(key, pins);
  pins.catch(() => known.delete(key));
  return pins;
}

async function examineClaim(
  bench: Bench,
  { claim, base, pins }: { claim: Claim; base: BaseReading | null; pins: Pins },
): Promise<ExaminedClaim> {
  const { room, placed, attempt } = bench;
  const { runs, roomKey } = await judgeTree(bench, { at: claim, pins, phase: 'verifying' });
  const trees = { cwd: room.folders.tree, base: bench.base.tree, claim: claim.tree };
  const files = await listChangedFiles(placed, trees);
  const { changes, restored } = await compareChecks(placed, { trees, pins, files });
  const texts = await textsOf(bench, files);
  const { policy, known } = refereeSettings(attempt.spec);
  const facts = {
    baseSha: bench.base.commit,
    policy,
    known,
    base: await baseRuns(bench, base, roomKey),
    claim: runs,
    changes,
    declared: claim.declared,
    changesChecks: claim.changesChecks ?? false,
    notes: await findNotes(texts),
  };
  return {
    claim,
    records: runs.map(({ record }) => record),
    failed: runs.filter(({ holds }) => !holds).map(({ record }) => record.command),
    needsReplay: needsReplay(facts),
    judgement: decideClaim({ ...facts, replay: null }),
    facts: { facts, restored, base, isSuspicious: isSuspicious(texts) } satisfies Examination,
  };
}

/** More files than a person reads are not looked through. */
const FILES_READ = 500;

function textsOf({ placed, room }: Bench, files: readonly ChangedFile[]) {
  const cwd = room.folders.tree;
  return readChangedTexts(placed, { cwd, files: files.slice(0, FILES_READ) });
}

async function replayClaim(
  bench: Bench,
  { examined, pins }: { examined: ExaminedClaim; pins: Pins },
): Promise<ExaminedClaim & { tree: string }> {
  const { room, placed } = bench;
  const { facts, restored } = examined.facts as Examination;
  const { tree: cwd, git: folder } = room.folders;
  const tree = await makeReplayTree(placed, { cwd, folder, claim: examined.claim.tree, restored });
  const { runs } = await judgeTree(bench, { at: { tree, commit: null }, pins, phase: 'replay' });
  return { ...examined, tree, judgement: decideClaim({ ...facts, replay: { tree, runs } }) };
}

/**
 * What is asked of a claim that nothing speaks against. With the checks of the base where those hold: a claim could have
 * changed how tests are run.
 */
async function askLast(
  bench: Bench,
  { examined, tree, pins }: { examined: ExaminedClaim; tree: string | null; pins: Pins },
): Promise<ExaminedClaim> {
  const { claim, judgement } = examined;
  if (judgement.verdict === 'rejected' || bench.signal.aborted) return examined;
  const isReplayed = tree !== null && judgement.replay?.passed;
  const at: RoomTree = isReplayed ? { tree, commit: null } : { tree: claim.tree, commit: claim.commit };
  const { facts, isSuspicious } = examined.facts as Examination;
  const reasons = isSuspicious ? await askCanaries(bench, { runs: facts.claim, at, pins }) : [];
  if (reasons.length > 0) return { ...examined, judgement: { ...judgement, verdict: 'rejected', reasons } };
  return withHeldOut(bench, { examined, at });
}

async function withHeldOut(
  bench: Bench,
  { examined, at }: { examined: ExaminedClaim; at: RoomTree },
): Promise<ExaminedClaim> {
  const { claim, judgement } = examined;
  const { heldOut = [] } = refereeSettings(bench.attempt.spec);
  if (heldOut.length === 0 || bench.signal.aborted) return examined;
  const { base } = examined.facts as Examination;
  const { key: roomKey, setupFailure } = await bench.room.enter(at, {
    runSetup: (commands) => runSetup(bench, commands),
  });
  if (setupFailure) return examined;
  const plan: CheckPlan = { at, roomKey, pins: null, isRepeated: true, phase: 'held_out' };
  const runs = await runHeldOut(bench, plan);
  const facts = { base: base?.heldOut ?? [], claim: runs, mayFailAsBefore: claim.isPart ?? false };
  return {
    ...examined,
    heldOut: runs.flatMap(({ run }) => run?.record ?? []),
    judgement: decideHeldOut(judgement, facts),
  };
}

/** The checks on a tree. Where setup fails on it, that is the only one, and it failed. */
async function judgeTree(
  bench: Bench,
  { at, pins, phase }: { at: RoomTree; pins: Pins; phase: CheckPlan['phase'] },
): Promise<{ runs: CheckRun[]; roomKey: string }> {
  const { room } = bench;
  const { key, setupFailure, isNew } = await room.enter(at, {
    runSetup: (commands) => runSetup(bench, commands),
  });
  if (setupFailure) return { runs: [notSetUp(setupFailure)], roomKey: key };
  if (isNew) await room.keep(at, key);
  return {
    runs: await runChecksIn(bench, { at, roomKey: key, pins, isRepeated: true, phase }),
    roomKey: key,
  };
}

function notSetUp(record: VerificationRecord): CheckRun {
  const tests = { counts: null, names: null, ranNoTest: false };
  return { record, holds: false, tests, swallowed: 0, tampered: [] };
}

/** What the checks said on the base of the unit: read first, or judged there as the claim before this one. */
async function baseRuns(bench: Bench, base: BaseReading | null, roomKey: string): Promise<CheckRun[]> {
  const { commands, runs, environmentKey, base: at } = bench;
  if (base?.tree === at.tree) return base.runs;
  const found = commands.map((command) => runs.find(runKey({ at, roomKey, environmentKey }, command)));
  return (await Promise.all(found)).filter((run) => run !== null);
}
