/** What a report shows beside the session's own rows: what works for it, and what its loop keeps. All of it redacted. */
import { isPulseError } from '../domain/errors.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Pulse } from '../pulse.ts';

type ResearchView = Awaited<ReturnType<Pulse['research']['show']>>;
type SwarmView = Awaited<ReturnType<Pulse['swarm']['show']>>;
type Card = Awaited<ReturnType<Pulse['listCards']>>['sessions'][number];
type Verification = SessionExport['verifications'][number];

export interface ReportSources {
  research: ResearchView | null;
  swarm: SwarmReport | null;
  children: Child[];
}

export interface Child
  extends Pick<
    Card,
    | 'id'
    | 'status'
    | 'goal'
    | 'agent'
    | 'spent_usd'
    | 'total_tokens_used'
    | 'running_ms'
    | 'current_iteration'
  > {
  /** As its swarm calls it; `null`: it has none. */
  nickname: string | null;
}

export interface SwarmReport {
  epic: string;
  /** Those that were merged in the order in which they were, then the others. */
  beads: BeadReport[];
  workers: SwarmView['workers'];
}

export interface BeadReport {
  id: string;
  title: string;
  status: string;
  /** Its place among those that were merged; `null`: it was not. */
  merged: number | null;
  worker: string | null;
  commit: string | null;
  /** Files of the repository. */
  evidence: string[];
  /** What was run to judge it, in the run that counted last. */
  checks: Pick<Verification, 'command' | 'exit' | 'passed'>[];
  reason: string | null;
}

export const NO_SOURCES: ReportSources = { research: null, swarm: null, children: [] };

export type SourcesPulse = Pick<
  Pulse,
  'research' | 'swarm' | 'bead' | 'listCards' | 'show' | 'showVerifications'
>;

export async function readSources(pulse: SourcesPulse, content: SessionExport): Promise<ReportSources> {
  const { id, kind, parent_session_id: parent } = content.session;
  const isLead = parent === null;
  const swarm = kind === 'beads' && isLead ? await pulse.swarm.show(id) : null;
  const names = new Map(swarm?.workers.map(({ sessionId, nickname }) => [sessionId, nickname]));
  const children = await readChildren(pulse, id);
  return {
    research: kind === 'research' && isLead ? await pulse.research.show(id) : null,
    swarm: swarm && (await readSwarm(pulse, content, swarm)),
    children: children.map((child) => ({ ...child, nickname: names.get(child.id) ?? null })),
  };
}

const PAGE = 200;

/** Oldest first. */
async function readChildren(pulse: SourcesPulse, parent: string): Promise<Card[]> {
  const found: Card[] = [];
  for (let cursor: string | undefined, isMore = true; isMore; ) {
    const page = await pulse.listCards({ parent, limit: PAGE, cursor });
    found.push(...page.sessions);
    cursor = page.nextCursor ?? undefined;
    isMore = cursor !== undefined;
  }
  return found.reverse();
}

async function readSwarm(
  pulse: SourcesPulse,
  { session, events, iterations, verifications }: SessionExport,
  { swarm, workers, beads }: SwarmView,
): Promise<SwarmReport> {
  const closed = events.filter(({ type }) => type === 'bead.closed').map(({ data }) => data);
  const order = new Map(closed.map(({ bead }, at) => [String(bead), at + 1]));
  const workedOnBy = new Map(closed.map(({ bead, worker }) => [String(bead), String(worker ?? '')]));
  const known = await readBeads(pulse, session.project_path, swarm.epic);
  const checks = new Map<string, BeadReport['checks']>();
  for (const { sessionId } of workers) {
    const { iterations: runs } = await pulse.show(sessionId);
    const { verifications: records } = await pulse.showVerifications(sessionId);
    for (const run of runs) if (run.unit !== null) keepChecks(checks, run.unit, newestOf(records, run));
  }
  // What was merged onto something else was judged there once more, with others that were merged by the same run.
  for (const run of iterations)
    for (const bead of run.unit?.startsWith(MERGE) ? run.unit.slice(MERGE.length).split(' ') : [])
      keepChecks(
        checks,
        bead,
        newestOf(verifications, run).filter(({ command }) => known.get(bead)?.commands.has(command)),
      );
  const reports = beads.map(({ id, title, status, worker, commit, reason }) => ({
    ...{ id, title, status, commit, reason },
    merged: order.get(id) ?? null,
    worker: workedOnBy.get(id) || worker,
    evidence: known.get(id)?.evidence ?? [],
    checks: checks.get(id) ?? [],
  }));
  const place = ({ merged }: BeadReport): number => merged ?? Number.POSITIVE_INFINITY;
  return { epic: swarm.epic, workers, beads: reports.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)) };
}

const MERGE = 'merge ';

/** Of the attempt that counted. */
function newestOf(
  records: readonly Verification[],
  run: { iteration_number: number; attempt: number },
): Verification[] {
  return records.filter(
    ({ iteration, attempt }) => iteration === run.iteration_number && attempt === run.attempt,
  );
}

/** The newest run that has any says it. */
function keepChecks(
  checks: Map<string, BeadReport['checks']>,
  bead: string,
  records: readonly Verification[],
): void {
  if (records.length > 0) checks.set(bead, [...records]);
}

interface KnownBead {
  evidence: string[];
  commands: ReadonlySet<string>;
}

/** A repository that is gone has no beads to ask for: the rest of the report is true without them. */
async function readBeads(pulse: SourcesPulse, root: string, epic: string): Promise<Map<string, KnownBead>> {
  try {
    const { beads } = await pulse.bead.list({ project_key: root, epic });
    return new Map(
      beads.map(({ id, verification_evidence: paths, verify }) => {
        const evidence = typeof paths === 'string' ? [paths] : (paths ?? []);
        return [id, { evidence, commands: new Set(verify.map(({ command }) => command)) }];
      }),
    );
  } catch (error) {
    if (!isPulseError(error)) throw error;
    return new Map();
  }
}
