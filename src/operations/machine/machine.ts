/** What this machine has: projects, agents, settings, daemons, figures. Nothing here changes anything. */
import { stat } from 'node:fs/promises';
import { detectAgents } from '../../agents/registry.ts';
import { loadConfig } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import type { FigureKey } from '../../domain/figure-keys.ts';
import { openRepository } from '../../git/repository.ts';
import { listDaemons } from '../../store/daemons.ts';
import { listProjects, NO_SUMS, type ProjectSums, type Sums, sumUp } from '../../store/spending.ts';
import { type Trust, trustOf } from '../../trust.ts';
import type { Operations } from '../context.ts';
import { readTime } from '../dashboard/time.ts';

const MOST_PROJECTS = 200;

export async function viewProjects({
  engine: { store },
  redactor,
}: Operations): Promise<{ projects: (ProjectSums & { isThere: boolean })[] }> {
  const found = await store.read((db) => listProjects(db, MOST_PROJECTS));
  const projects = await Promise.all(
    found.map(async (project) => {
      const isThere = await stat(project.path).then(
        (folder) => folder.isDirectory(),
        () => false,
      );
      return { ...project, isThere };
    }),
  );
  return redactor.redactJson({ projects });
}

export interface AgentView {
  name: string;
  isInstalled: boolean;
  version: string | null;
  path: string | null;
  /** Why it cannot be used, or what is uncertain about it. */
  hint: string | null;
}

export async function viewAgents({ environment, redactor }: Operations): Promise<{ agents: AgentView[] }> {
  const found = await detectAgents(environment);
  return redactor.redactJson({
    agents: found.map(({ name, isSupported, detection: { available, version, path, hint } }) => ({
      ...{ name, isInstalled: isSupported && available, version, path, hint },
    })),
  });
}

export interface ConfigView {
  settings: Record<string, { value: unknown; source: string }>;
  project: { path: string; sha256: string; trust: Trust } | null;
}

/** Throws `not_a_repository` and what a config that cannot be read throws. */
export async function viewConfig(
  { git, home, environment, redactor }: Operations,
  path?: string,
): Promise<ConfigView> {
  const repository = path === undefined ? null : await openRepository(git, path);
  const { values, sources, project } = await loadConfig(repository?.root ?? null, environment);
  const settings = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      { value: shownValue(name, value), source: sources[name as keyof typeof sources] ?? 'not set' },
    ]),
  );
  const trust = repository && project ? await trustOf(home, repository, project) : null;
  const file = project && trust ? { path: project.path, sha256: project.sha256, trust } : null;
  return redactor.redactJson({ settings, project: file });
}

/** Whom Pulse tells is nobody's business: of the channels only the names are shown. */
function shownValue(name: string, value: unknown): unknown {
  if (name !== 'notify') return value ?? null;
  return typeof value === 'object' && value !== null ? Object.keys(value) : null;
}

export async function viewDaemons({ engine: { store } }: Operations) {
  return { daemons: await store.read(listDaemons) };
}

export interface FiguresView {
  from: string;
  to: string;
  by: FigureKey;
  total: Sums;
  rows: ({ key: string } & Sums)[];
}

const DAY_MS = 86_400_000;
const MOST_DAYS = 3_660;

/** The last 30 days, by day, where nothing else is asked for. */
export async function viewSums(
  { engine: { store, clock }, redactor }: Operations,
  { from, to, by = 'day' }: { from?: string; to?: string; by?: FigureKey },
): Promise<FiguresView> {
  const until = to === undefined ? new Date(clock.nowMs() + 1).toISOString() : readTime('to', to);
  const since =
    from === undefined ? new Date(Date.parse(until) - 30 * DAY_MS).toISOString() : readTime('from', from);
  const days = (Date.parse(until) - Date.parse(since)) / DAY_MS;
  if (days < 0 || days > MOST_DAYS)
    throw new PulseError('invalid_input', '`from` must be before `to`, and at most ten years.', {
      hint: 'Like ?from=2026-11-01&to=2026-12-01.',
    });
  const sums = await store.read((db) => sumUp(db, { from: since, to: until, by }));
  const rows = [...sums].map(([key, sum]) => ({ key, ...sum })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const names = Object.keys(NO_SUMS) as (keyof Sums)[];
  const total = Object.fromEntries(
    names.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as unknown as Sums;
  return redactor.redactJson({ from: since, to: until, by, total, rows });
}
