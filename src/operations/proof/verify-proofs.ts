/**
 * `pulse verify COMMIT | BRANCH | RANGE`: do the proofs hold? Needs a clone that has `refs/attestations/commits`, and
 * nothing else of Pulse (docs/proof.md, Checking a proof).
 */
import type { VerificationRecord } from '../../domain/attempt.ts';
import type { Redactor } from '../../domain/redact.ts';
import type { Git } from '../../git/exec.ts';
import { isAncestor } from '../../git/refs.ts';
import { type ExaminedProof, examineProof } from '../../referee/proof/bundle.ts';
import type { PublicProofKey } from '../../referee/proof/key.ts';
import { plainGit } from '../../referee/proof/proof-ref.ts';
import type { ProofCommand } from '../../referee/proof/statement.ts';
import { listProven, readProofs } from '../../referee/proof/store.ts';
import { type AskedCommit, type AskedCommits, findCommits } from './asked-commits.ts';
import { type BaseConfig, readBaseConfig } from './base-config.ts';
import { runAgain } from './run-again.ts';

/**
 * `fresh`: a known key has signed it, and its commands end as it says. `signed`: the same, but they were not run again.
 * `covered`: a later commit of its session is proven. `stale`: work was added after the proof. `false`: a command ends
 * otherwise. `unproven`: no proof by a known key, or none that can be tried.
 */
export type ProofVerdict = 'fresh' | 'signed' | 'covered' | 'stale' | 'false' | 'unproven';

export interface CommitReport {
  commit: string;
  tree: string;
  verdict: ProofVerdict;
  why: string | null;
  proofs: ExaminedProof[];
  checks: CheckReport[];
  /** Commands of the base's `verify` that no known proof names. */
  missing: string[];
}

export interface CheckReport {
  command: string;
  /** `skipped`: nobody but its owner can run it. `refused`: it is not run here. */
  verdict: 'fresh' | 'false' | 'skipped' | 'refused';
  why: string | null;
  recorded: { exit: number | null; passed: boolean };
  again: VerificationRecord | null;
}

export interface ProofReport {
  what: string;
  base: AskedCommits['base'];
  /** The ids of the keys that are believed. */
  keys: string[];
  verdict: ProofVerdict;
  /** Oldest first; the last one is the tip. */
  commits: CommitReport[];
}

export interface ProofQuestion {
  root: string;
  what: string;
  base?: string;
  /** Believed beside those of the base's config. */
  keys: readonly PublicProofKey[];
  /** `tip`: the commands of the last commit run again. */
  run: 'tip' | 'all' | 'none';
}

export interface ProofMeans {
  git: Git;
  environment: NodeJS.ProcessEnv;
  pass: readonly string[];
  redactor: Redactor;
  signal?: AbortSignal;
}

/** `null`: `what` names no commit of the repository. Changes nothing there. */
export async function verifyProofs(means: ProofMeans, question: ProofQuestion): Promise<ProofReport | null> {
  const { root, what } = question;
  const git = plainGit(means.git);
  const asked = await findCommits(git, question);
  if (asked === null) return null;
  const config = await readBaseConfig(git, root, asked.base);
  const keys = [...config.keys, ...question.keys];
  const proven = await listProven(git, root);
  const examined: Examined[] = [];
  for (const commit of asked.commits) {
    const stored = proven.has(commit.commit) ? await readProofs(git, { root, commit: commit.commit }) : [];
    examined.push({ ...commit, proofs: stored.map((proof) => examineProof(proof, { ...commit, keys })) });
  }
  const commits: CommitReport[] = [];
  for (const [index, commit] of examined.entries()) {
    const isTip = index === examined.length - 1;
    const runs = question.run === 'all' || (question.run === 'tip' && isTip);
    const judge = { ...means, git, root, config, runs };
    const report = await judgeCommit(judge, commit);
    const lacksOwn = !isKnown(commit);
    const later = lacksOwn && !isTip ? await findCover(git, root, { commit, later: examined }) : null;
    const older = lacksOwn && isTip ? await findOlder(git, root, { commit: commit.commit, proven }) : null;
    commits.push({ ...report, ...(later && covered(later)), ...(older && addedAfter(older)) });
  }
  return { what, base: asked.base, keys: keys.map(({ id }) => id), verdict: worst(commits), commits };
}

type Examined = AskedCommit & { proofs: ExaminedProof[] };
type Judge = ProofMeans & { root: string; config: BaseConfig; runs: boolean };

async function judgeCommit(judge: Judge, { commit, tree, proofs }: Examined): Promise<CommitReport> {
  const known = proofs.filter(isBelieved);
  const believed = known.length > 0 ? known : proofs.filter(({ state }) => state === 'unknown');
  const checks = await runRecorded(judge, {
    ...{ commit, tree, isKnown: known.length > 0 },
    commands: believed.flatMap(({ work }) => work?.commands ?? []),
  });
  const named = known.flatMap(({ work }) => work?.commands.map(({ command }) => command) ?? []);
  const missing = known.length > 0 ? judge.config.verify.filter((command) => !named.includes(command)) : [];
  const report = { commit, tree, proofs, checks, missing };
  if (known.length === 0) return { ...report, verdict: 'unproven', why: whyUnproven(proofs) };
  if (!judge.runs) return { ...report, verdict: 'signed', why: null };
  if (checks.some(({ verdict }) => verdict === 'false')) return { ...report, verdict: 'false', why: null };
  if (checks.some(({ verdict }) => verdict === 'refused'))
    return { ...report, verdict: 'unproven', why: 'not all of its commands can be run' };
  if (!checks.some(({ verdict }) => verdict === 'fresh'))
    return { ...report, verdict: 'unproven', why: 'its proof names no command that can be run here' };
  return { ...report, verdict: 'fresh', why: null };
}

/** What the installation itself calls unverified is no proof of anything, although its signature is right. */
function isBelieved({ state, work }: ExaminedProof): boolean {
  return state === 'known' && work?.trust !== 'unverified';
}

function whyUnproven(proofs: readonly ExaminedProof[]): string {
  if (proofs.length === 0) return 'it has no proof';
  if (proofs.some(({ state }) => state === 'known')) return 'its own proof says that it is unverified';
  return proofs.some(({ state }) => state === 'unknown')
    ? 'its proof is signed by an unknown key'
    : 'its proof is wrong';
}

const UNKNOWN = 'an unknown key says so, and the verify list of the base does not: it is not run';
const REDACTED = 'it held a secret, which was taken out of the proof: it cannot be run';
const HELD_OUT = 'its files are held out, so they are in no clone';

/** Each command runs once, no matter how many proofs name it. */
async function runRecorded(
  judge: Judge,
  about: { commit: string; tree: string; isKnown: boolean; commands: readonly ProofCommand[] },
): Promise<CheckReport[]> {
  const { runs, config } = judge;
  const { isKnown, commands } = about;
  if (!runs) return [];
  const obstacle = ({ command, isHeldOut, isRedacted }: ProofCommand): CheckReport['why'] => {
    // Text that anybody may have written is not executed.
    if (!isKnown && !config.verify.includes(command)) return UNKNOWN;
    if (isHeldOut) return HELD_OUT;
    return isRedacted ? REDACTED : null;
  };
  const wanted = [...new Set(commands.filter((it) => obstacle(it) === null).map(({ command }) => command))];
  const records = wanted.length === 0 ? [] : await runAgain({ ...judge, ...about, commands: wanted });
  const reports = commands.map((recorded): CheckReport => {
    const { command, exit, passed } = recorded;
    const why = obstacle(recorded);
    const again = why === null ? (records[wanted.indexOf(command)] ?? null) : null;
    const verdict = again
      ? again.exit === exit
        ? 'fresh'
        : 'false'
      : why === HELD_OUT
        ? 'skipped'
        : 'refused';
    return { command, verdict, why, recorded: { exit, passed }, again };
  });
  const keyOf = ({ command, verdict, recorded }: CheckReport) => JSON.stringify([command, verdict, recorded]);
  return [...new Map(reports.map((report) => [keyOf(report), report])).values()];
}

function isKnown({ proofs }: Examined): boolean {
  return proofs.some(isBelieved);
}

/** A unit of several commits has its proof at the last one. */
async function findCover(
  git: Git,
  root: string,
  { commit, later }: { commit: Examined; later: readonly Examined[] },
): Promise<string | null> {
  const ofSession = later.filter(({ proofs }) =>
    proofs.some((proof) => isBelieved(proof) && proof.work?.session === commit.session),
  );
  for (const candidate of ofSession)
    if (await isAncestor(git, root, commit.commit, candidate.commit)) return candidate.commit;
  return null;
}

const FAR_BACK = 1_000;

/** The nearest commit before this one that has proofs, of any key. */
async function findOlder(
  git: Git,
  root: string,
  { commit, proven }: { commit: string; proven: ReadonlySet<string> },
): Promise<string | null> {
  if (proven.has(commit)) return null;
  const args = ['rev-list', '--first-parent', `--max-count=${FAR_BACK}`, commit];
  const line = (await git.text(args, { cwd: root })).split('\n');
  return line.find((id) => proven.has(id)) ?? null;
}

function covered(by: string): Pick<CommitReport, 'verdict' | 'why'> {
  return { verdict: 'covered', why: `${by.slice(0, 10)} of the same session is proven` };
}

function addedAfter(older: string): Pick<CommitReport, 'verdict' | 'why'> {
  return { verdict: 'stale', why: `it has no proof; ${older.slice(0, 10)} before it has one` };
}

const ORDER: readonly ProofVerdict[] = ['false', 'unproven', 'stale'];

/** Of what must not be; else the tip's. */
function worst(commits: readonly CommitReport[]): ProofVerdict {
  const bad = ORDER.find((verdict) => commits.some((commit) => commit.verdict === verdict));
  return bad ?? commits.at(-1)!.verdict;
}
