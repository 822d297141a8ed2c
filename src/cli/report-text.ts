/** A session as people read it: as a page that needs nothing else, or as Markdown. */
import { isPulseError } from '../domain/errors.ts';
import { unifiedDiff } from '../git/diff.ts';
import { headRef } from '../git/session-head.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Pulse } from '../pulse.ts';
import { evidenceReport } from './evidence-report.ts';
import { createCliGit } from './repository-here.ts';
import { type PageChange, sessionPage } from './session-page.ts';
import { readRuns } from './session-page-runs.ts';
import { readSources, type SourcesPulse } from './session-page-sources.ts';

export async function reportText(
  format: 'html' | 'md',
  content: SessionExport,
  { pulse, environment }: { pulse: SourcesPulse & Pick<Pulse, 'transcript'>; environment: NodeJS.ProcessEnv },
): Promise<string> {
  const sources = await readSources(pulse, content);
  if (format === 'md') return evidenceReport(content, sources);
  const [change, runs] = await Promise.all([readChange(content, environment), readRuns(pulse, content)]);
  return sessionPage(content, { change, sources, runs });
}

/** More than anybody reads in a report. */
const MOST_DIFF_BYTES = 2 * 1024 * 1024;

async function readChange(
  { session: { id, project_path: root, base_sha: from, branch_name: branch } }: SessionExport,
  environment: NodeJS.ProcessEnv,
): Promise<PageChange> {
  const git = createCliGit(environment);
  for (const to of [headRef(id), `refs/heads/${branch}`]) {
    try {
      const { text, truncated } = await unifiedDiff(git, { root, from, to, maxBytes: MOST_DIFF_BYTES });
      return { diff: text, isTruncated: truncated };
    } catch (error) {
      // The ref is gone, or the whole repository: the rest of the report is true without it.
      if (!isPulseError(error)) throw error;
    }
  }
  return { diff: null, isTruncated: false };
}
