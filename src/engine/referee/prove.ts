/** The proof of an accepted unit: what its rows and its trees say, signed and kept beside the history. */
import { createHash } from 'node:crypto';
import { DEFAULT_REFEREE } from '../../domain/judgement.ts';
import { treeOf } from '../../git/git-dir.ts';
import { readTreeFiles } from '../../referee/claim-trees.ts';
import { hashPins } from '../../referee/pinned-parts.ts';
import { findPins } from '../../referee/pins/pins.ts';
import { openProofKey } from '../../referee/proof/key.ts';
import type { ProofCommand, ProofInput } from '../../referee/proof/statement.ts';
import { writeProof } from '../../referee/proof/store.ts';
import { packageVersion } from '../../tools/package-version.ts';
import type { AcceptedUnit } from '../ports.ts';
import type { RefereeMeans } from './bench.ts';

export async function proveUnit({ git, keyFolder }: RefereeMeans, unit: AcceptedUnit): Promise<string> {
  const { session } = unit;
  const root = session.project_path;
  const input = await proofInput(git, unit);
  const key = await openProofKey(keyFolder);
  const { path } = await writeProof(git, { root, input, key });
  return path;
}

async function proofInput(
  git: RefereeMeans['git'],
  { session, settings, iteration, commit, judgement, records }: AcceptedUnit,
): Promise<ProofInput> {
  const cwd = session.project_path;
  const baseCommit = judgement.base?.commit ?? session.base_sha;
  const tree = await treeOf(git, { cwd, commit });
  const base = await treeOf(git, { cwd, commit: baseCommit });
  const { paths, exclude, tests } = settings.referee ?? DEFAULT_REFEREE;
  const commands = records.filter(({ isHeldOut }) => !isHeldOut).map(({ command }) => command);
  const files = await readTreeFiles(git, { cwd, tree: base });
  const pins = await findPins({ commands, tree: files, paths, exclude, tests });
  return {
    commit,
    tree,
    base: baseCommit,
    session: session.id,
    unit: { kind: iteration.unit === null ? 'iteration' : session.kind, id: unitName(iteration) },
    goalSha256: createHash('sha256').update(session.goal).digest('hex'),
    trust: judgement.trust,
    commands: records.map((record) => proofCommand(record, judgement)),
    pins: await hashPins(git, { cwd, base, claim: tree, pins }),
    replay: judgement.replay && {
      tree: judgement.replay.tree,
      passed: judgement.replay.passed,
      commands: judgement.replay.commands.map(({ outputHash, ...command }) => ({
        ...command,
        outputSha256: outputHash,
      })),
    },
    checksChanged: judgement.declared,
    decision: decisionOf(judgement, iteration),
    agent: { name: session.agent, model: settings.model ?? null },
    pulse: { version: packageVersion() },
  };
}

function unitName({ unit, iteration_number }: AcceptedUnit['iteration']): string {
  return unit ?? String(iteration_number);
}

function proofCommand(
  record: AcceptedUnit['records'][number],
  { base }: AcceptedUnit['judgement'],
): ProofCommand {
  const { command, exit, durationMs, outputHash, environment, at, tests, isReused, isHeldOut } = record;
  const before = base?.tests[command];
  return {
    command,
    exit,
    passed: true,
    outputSha256: outputHash,
    durationMs,
    environment,
    at,
    tests: tests ? { base: before ? countsOf(before) : null, claim: countsOf(tests) } : null,
    ...(isReused ? { isReused } : {}),
    ...(isHeldOut ? { isHeldOut } : {}),
  };
}

function countsOf({
  ran,
  passed,
  failed,
  skipped,
}: {
  ran: number;
  passed: number;
  failed: number;
  skipped: number;
}) {
  return { run: ran, passed, failed, skipped };
}

function decisionOf(
  { decidedBy, decidedAt, allowedBy }: AcceptedUnit['judgement'],
  { ended_at: endedAt }: AcceptedUnit['iteration'],
): ProofInput['decision'] {
  const at = new Date(decidedAt ?? endedAt ?? 0).toISOString();
  if (decidedBy !== null) return { by: 'person', name: decidedBy, at };
  return { by: allowedBy ?? 'pulse', name: null, at };
}
