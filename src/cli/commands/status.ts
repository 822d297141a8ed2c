import { wayBack } from '../../domain/after-words.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { Doing } from '../../domain/phase.ts';
import { wordsFor } from '../../loops/words.ts';
import type { Overview } from '../../operations/overview.ts';
import type { SessionView } from '../../operations/view.ts';
import { mayOpenStore, openReader, type Reader } from '../../reader.ts';
import type { Iteration } from '../../store/iterations.ts';
import { sanitizeLine, shorten, wrap } from '../../terminal/text.ts';
import type { CommandContext } from '../command-spec.ts';
import { formatUsd, resultBlock, shownTrust } from '../follow/result.ts';
import { readSessionRefs } from '../kept-refs.ts';
import type { Output } from '../output.ts';
import { overviewLines } from '../overview-lines.ts';
import { isOrphan } from '../session-table.ts';
import { requestText, waitingText } from '../waiting-text.ts';

export async function run({ input, output, environment, cwd }: CommandContext): Promise<number> {
  const id = input.argument('ID');
  // Agents are told to run it, and most of what they want to know lies in the checkout.
  if (id === undefined && !mayOpenStore(environment))
    return await showAll({ overview: async () => NO_SESSIONS }, output, { cwd, environment });
  await using pulse = await openReader({ environment, onWait: output.talk });
  if (id === undefined) return await showAll(pulse, output, { cwd, environment });
  const view = await pulse.show(id);
  const { session, iterations, unresolved, doing } = view;
  const { kept, branchHead } = await readSessionRefs(session, environment);
  // One that lags behind its session is not what the evidence is of.
  const isMoved =
    session.status !== 'running' &&
    session.branch_lags_at === null &&
    branchHead !== null &&
    view.head !== null &&
    branchHead !== view.head;
  if (output.isJson) {
    const keptAs = kept.map((ref) => ({ ref, command: wayBack(ref) }));
    output.json({ ...view, trust: shownTrust(session, { isMoved }), kept: keptAs });
    return 0;
  }
  const { style } = output.stdout;
  const isLost = isOrphan(session, await pulse.runner(session.id));
  output.data(style.bold(sanitizeLine(session.goal.split('\n', 1)[0] ?? '')));
  output.data(
    style.dim(
      `${session.id} · ${sanitizeLine(session.project_name)} · ${session.agent} on ${session.branch_name}`,
    ),
  );
  if (view.issue) output.data(style.dim(`issue ${sanitizeLine(view.issue.url)}`));
  if (view.from) {
    const from = view.from === '-' ? 'standard input' : sanitizeLine(view.from);
    output.data(style.dim(`goal from ${from}`));
  }
  const live = iterations.findLast(({ status }) => status === 'running');
  const nowMs = Date.now();
  const liveMs = live?.started_at && !isLost ? Math.max(0, nowMs - Date.parse(live.started_at)) : 0;
  if (iterations.length > 0)
    output.data(
      `\n${iterations.flatMap((row) => [iterationLine(row, output), ...rejectionLines(row, view, output)]).join('\n')}`,
    );
  const team = wordsFor(session.kind).countsTeam ? await pulse.children(session.id) : [];
  const { unreadNotes } = view;
  const told = { style, cwd, isOrphan: isLost, unresolved, liveMs, kept, isMoved, team, unreadNotes };
  output.data(`\n${resultBlock(session, told)}`);
  if (doing && !isLost && !view.waiting) output.data(`\n  ${doingLine(doing, nowMs)}`);
  const asked = session.status === 'running' ? requestText(view.request) : null;
  if (asked) output.data(`  it ${asked}`);
  if (view.waiting && !isLost) output.talk(`\n${waitingText(view.waiting, Date.now())}`);
  if (isLost) output.talk(`\nhint: nobody runs it: pulse resume ${session.id}`);
  return 0;
}

const NO_SESSIONS: Overview = {
  groups: { needs_you: [], failed: [], no_runner: [], waiting: [], running: [], done: [] },
  counts: { needs_you: 0, failed: 0, no_runner: 0, waiting: 0, running: 0, done: 0 },
};

async function showAll(
  pulse: Pick<Reader, 'overview'>,
  output: Output,
  here: Pick<CommandContext, 'cwd' | 'environment'>,
): Promise<number> {
  const overview = await pulse.overview();
  const { groups, counts } = overview;
  if (output.isJson) {
    const sessions = [...groups.no_runner, ...groups.waiting, ...groups.running];
    output.json({ sessions, ...(await scoutHere(here)), groups, counts });
    return 0;
  }
  const lines = overviewLines(overview, output.stdout, Date.now());
  for (const line of lines) output.data(line);
  if (counts.running + counts.waiting + counts.no_runner === 0)
    output.talk(
      lines.length > 0 ? '\nNothing is running.' : 'Nothing is running. pulse list shows what was.',
    );
  if (counts.no_runner > 1)
    output.talk('\nhint: pulse serve --adopt continues all that nobody runs, for as long as it runs.');
  return 0;
}

/** For agents, which are told to look before they begin: loaded for them alone. */
async function scoutHere({ cwd, environment }: Pick<CommandContext, 'cwd' | 'environment'>) {
  const { openHere } = await import('../repository-here.ts');
  const repository = await openHere(cwd, environment);
  if (!repository) return { onboarding: null, state: null, handoffs: [] };
  const { scoutRepository } = await import('../../loops/beads/files/scout.ts');
  return await scoutRepository(repository.root);
}

/** `now  verifying: npm test for 12s, last heard of 3s ago` */
function doingLine({ text, since, lastSign }: Doing, nowMs: number): string {
  const ago = (at: string): string => formatDuration(Math.max(0, nowMs - Date.parse(at)));
  const quiet = lastSign === since ? '' : `, last heard of ${ago(lastSign)} ago`;
  return `now: ${sanitizeLine(text)} for ${ago(since)}${quiet}`;
}

function iterationLine(row: Iteration, { stdout }: Output): string {
  const { style } = stdout;
  const isBad = row.outcome === 'rejected' || row.outcome === 'crashed' || row.status === 'failed';
  const word = row.outcome === 'rejected' ? 'COMPLETE rejected' : (row.signal ?? row.outcome ?? row.status);
  const took = row.started_at && row.ended_at ? Date.parse(row.ended_at) - Date.parse(row.started_at) : null;
  const facts = [
    row.commit_hash?.slice(0, 7) ?? 'no commit',
    `${row.files_changed.length} ${row.files_changed.length === 1 ? 'file' : 'files'}`,
    ...(took === null ? [] : [formatDuration(took)]),
    ...(row.cost_usd ? [formatUsd(row.cost_usd)] : []),
  ].join('  ');
  const head = `  ${String(row.iteration_number).padStart(2)} ${word.padEnd(9)}`;
  const room = Math.max(20, (stdout.isTerminal ? stdout.columns() : 200) - head.length - facts.length - 4);
  const summary = shorten(sanitizeLine(row.output_summary ?? ''), room);
  return `${isBad ? style.red(head) : head} ${style.dim(facts)}  ${summary}`.trimEnd();
}

/** So much of one reason; `pulse checks` shows all of it. */
const REASON_LINES = 4;

/** Why a completion was not accepted: all that the referee said of the newest claim, in a line of those before it. */
function rejectionLines(row: Iteration, { session, judgement }: SessionView, { stdout }: Output): string[] {
  if (row.outcome !== 'rejected') return [];
  const { iteration_number: number } = row;
  const logged = session.progress_log.find(({ iteration }) => iteration === number)?.reason;
  const reasons = judgement?.iteration === number ? judgement.reasons : logged ? [logged] : [];
  // What stopped the session is told below.
  const told = reasons.filter((reason) => !session.blocked_reason?.includes(reason));
  const columns = (stdout.isTerminal ? stdout.columns() : 200) - 7;
  return told
    .flatMap((reason) => wrap(sanitizeLine(reason), columns, REASON_LINES))
    .map((line) => stdout.style.dim(`      ${line}`));
}
