/** What `pulse verify COMMIT` found, in words. All of it may have been written by somebody else. */
import { formatDuration } from '../domain/durations.ts';
import type {
  CheckReport,
  CommitReport,
  ProofReport,
  ProofVerdict,
} from '../operations/proof/verify-proofs.ts';
import type { ExaminedProof } from '../referee/proof/bundle.ts';
import type { Style } from '../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../terminal/text.ts';

const COLORS = {
  fresh: 'green',
  signed: 'green',
  covered: 'green',
  skipped: 'dim',
  stale: 'yellow',
  refused: 'yellow',
  false: 'red',
  unproven: 'red',
} as const;

const MEANING: Record<ProofVerdict, string> = {
  fresh: 'a known key has signed it, and the commands end as it says',
  signed: 'a known key has signed it; nothing was run',
  covered: 'a later commit of its session is proven',
  stale: 'work was added after the proof',
  false: 'the same tree, and the result is another',
  unproven: 'there is no proof that can be believed',
};

export function proofLines(report: ProofReport, style: Style): string[] {
  const { verdict, base, keys, commits } = report;
  const from = base
    ? `${sanitizeLine(base.name)} (${base.commit.slice(0, 10)})`
    : 'none found, name it with --base';
  return [
    ...commits.flatMap((commit) => commitLines(commit, style)),
    `${style[COLORS[verdict]](verdict)}: ${MEANING[verdict]}`,
    style.dim(`keys: ${keys.length === 0 ? 'none is known' : keys.map(short).join(', ')}; base: ${from}`),
  ];
}

function commitLines(
  { commit, verdict, why, proofs, checks, missing }: CommitReport,
  style: Style,
): string[] {
  const words = why === null ? '' : `: ${why}`;
  return [
    `${style[COLORS[verdict]](verdict.padEnd(8))}  ${commit.slice(0, 10)}${words}`,
    ...proofs.flatMap((proof) => workLines(proof, style)),
    ...checks.flatMap((check) => checkLines(check, style)),
    ...missing.map((command) =>
      style.yellow(`          not in the proof, but in verify of the base: ${sanitizeLine(command)}`),
    ),
  ];
}

const TRUST = {
  verified: 'verified',
  verified_checks_changed: 'verified, checks changed',
  unverified: 'unverified',
} as const;

function workLines({ state, problem, keyId, work }: ExaminedProof, style: Style): string[] {
  const key = keyId === null ? 'no key' : `key ${short(keyId)}`;
  if (state === 'wrong' || !work) return [style.red(`          wrong, ${key}: ${problem}`)];
  const { trust, session, agent, decision, checksChanged } = work;
  const who = decision.by === 'person' ? `, accepted by ${decision.name ?? 'a person'}` : '';
  const model = agent.model === null ? '' : ` (${agent.model})`;
  const text = `${state} ${key}: ${TRUST[trust]}, session ${session}, agent ${agent.name}${model}${who}`;
  return [
    style.dim(`          ${sanitizeLine(text)}`),
    ...checksChanged.map(({ path, reason }) =>
      style.yellow(`          checks changed: ${sanitizeLine(`${path}: ${reason}`)}`),
    ),
  ];
}

function checkLines({ command, verdict, why, recorded, again }: CheckReport, style: Style): string[] {
  const was = recorded.exit === null ? 'unfinished' : `exit ${recorded.exit}`;
  const end = again && (again.exit === null ? 'did not finish' : `exit ${again.exit}`);
  const ran = again && `${end}${end === was ? '' : `, was ${was}`}, ${formatDuration(again.durationMs)}`;
  const head = `          ${style[COLORS[verdict]](verdict.padEnd(7))}  ${sanitizeLine(command)}  ${style.dim(ran ?? why ?? '')}`;
  if (verdict !== 'false' || !again) return [head];
  const tail = sanitizeForTerminal(again.outputTail).trimEnd().split('\n').slice(-15);
  return [head, ...tail.map((line) => style.dim(`                   ${line}`))];
}

/** What is shown of a key's id comes from a proof, so it may be anything. */
function short(id: string): string {
  return sanitizeLine(id).slice(0, 16);
}
