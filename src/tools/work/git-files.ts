/** What the searches ask git: which files are the project's (tracked, or new and not ignored), and what stands in them. */
import { runProcess } from '../../process/run.ts';
import { startProcess } from '../../process/spawn.ts';
import type { Work } from './context.ts';
import { ToolRefusal } from './refusal.ts';

/** Reads only: nothing that the repository's own configuration names is run. */
const BASE = [
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.quotePath=false',
  '-c',
  'core.pager=cat',
];

/** Takes one record; `false` ends the search. */
export type OnRecord = (record: string) => boolean;

export interface GitEnd {
  code: number | null;
  stderr: string;
  /** Ended by us, because there was enough. */
  isCut: boolean;
  isLate: boolean;
}

/** Of a run's work, what a search needs. */
export type Searched = Pick<Work, 'root' | 'environment' | 'limits' | 'signal'>;

/** One read-only git process, its output handed out line by line and never held. */
export async function streamGit(work: Searched, args: readonly string[], onLine: OnRecord): Promise<GitEnd> {
  const enough = new AbortController();
  const deadline = AbortSignal.timeout(work.limits.searchTimeoutMs);
  let stderr = '';
  await using running = startProcess({
    ...gitProcess(work, args),
    signal: AbortSignal.any([enough.signal, deadline, work.signal]),
    stopSignals: ['SIGKILL'],
    maxLineBytes: 4096,
    onLine(stream, line) {
      if (stream === 'stderr') stderr = `${stderr}${line}\n`.slice(0, 2000);
      else if (!enough.signal.aborted && !onLine(line)) enough.abort();
    },
  });
  const { code } = await running.exited;
  const isCut = enough.signal.aborted;
  return { code, stderr: stderr.trim(), isCut, isLate: deadline.aborted && !isCut };
}

/** What git ignores below a folder, from the root; of a folder that is ignored whole only its own name. */
export async function ignoredBelow(work: Work, folder: string): Promise<Set<string>> {
  const { code, stdout, stderr } = await runProcess({
    ...gitProcess(work, [
      'ls-files',
      '-oi',
      '-z',
      '--exclude-standard',
      '--directory',
      '--',
      `:(literal)${folder}`,
    ]),
    timeoutMs: work.limits.searchTimeoutMs,
    signal: work.signal,
  });
  if (code !== 0) throw new ToolRefusal(`git could not say what is ignored: ${stderr.trim()}`);
  return new Set(stdout.split('\0').map((name) => name.replace(/\/$/, '')));
}

function gitProcess(work: Searched, args: readonly string[]) {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = work.environment;
  return {
    runId: null,
    file: 'git',
    args: [...BASE, ...args],
    cwd: work.root,
    env: { ...env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C.UTF-8' },
  };
}
