/**
 * Forgets work in submodules that was kept beside the repository (`keepSubmodules`) and that nobody needs. As long as a
 * commit of the repository names such a commit and no other ref has it, it stays: it exists nowhere else.
 */
import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Git } from './exec.ts';
import type { CollectRequest } from './gc.ts';
import { readCommonDir, readGitDir } from './git-dir.ts';
import { GITLINK } from './stage.ts';
import { OWN_FOLDER } from './submodules.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the names below `refs/pulse/submodules/` that are gone. 0 git processes where no submodule was ever kept, else
 * 1 for each repository of one, and a few where something is past its time.
 */
export async function collectSubmodules(
  git: Git,
  { root, nowMs, olderThanMs = 30 * DAY_MS }: CollectRequest,
): Promise<string[]> {
  const commonDir = await readCommonDir(await readGitDir(root));
  const own = findRepositories(join(commonDir, OWN_FOLDER));
  const keepers = [...findRepositories(join(commonDir, 'modules')), ...own];
  const old: KeptWork[] = [];
  for (const keeper of keepers) {
    const kept = await listKept(git, keeper);
    old.push(...kept.filter(({ atMs }) => nowMs - atMs > olderThanMs));
  }
  const gone = await dropUnneeded(git, old, () => namedCommits(git, { root, keepers, old }));
  for (const keeper of own)
    if (nowMs - statSync(keeper).mtimeMs > DAY_MS && (await isEmpty(git, keeper)))
      await removeRepository(keeper, join(commonDir, OWN_FOLDER));
  return gone;
}

/** What one attempt has left in one submodule. */
interface KeptWork {
  repository: string;
  /** Such as `<session>/<iteration>.<attempt>`. */
  name: string;
  refs: string[];
  /** Where its HEAD was: what a commit around it can name. The tips of its branches lie beside that. */
  head: string | null;
  /** Of its newest commit. */
  atMs: number;
}

const KEPT = 'refs/pulse/submodules/';

async function listKept(git: Git, repository: string): Promise<KeptWork[]> {
  const format = '--format=%(objectname) %(committerdate:unix) %(refname)';
  const listed = await inRepository(git, repository, ['for-each-ref', format, KEPT]);
  const found = new Map<string, KeptWork>();
  for (const line of listed?.split('\n').filter(Boolean) ?? []) {
    const [commit, seconds, ref] = line.split(' ') as [string, string, string];
    const name = ref.slice(KEPT.length).replace(/-heads\/.*$/, '');
    const work = found.get(name) ?? { repository, name, refs: [], head: null, atMs: 0 };
    found.set(name, {
      ...work,
      refs: [...work.refs, ref],
      head: ref === `${KEPT}${name}` ? commit : work.head,
      // One without a date is no commit: nothing is known of it.
      atMs: Math.max(work.atMs, seconds === '' ? Number.POSITIVE_INFINITY : Number(seconds) * 1000),
    });
  }
  return [...found.values()];
}

async function dropUnneeded(
  git: Git,
  old: readonly KeptWork[],
  findNamed: () => Promise<ReadonlySet<string> | null>,
): Promise<string[]> {
  let named: ReadonlySet<string> | null | undefined;
  const gone: string[] = [];
  for (const work of old) {
    const { head } = work;
    if (head !== null && !(await isElsewhere(git, work, head))) {
      named ??= await findNamed();
      // Nothing goes where git could not tell.
      if (named === null || named.has(head)) continue;
    }
    const lines = work.refs.map((ref) => `delete ${ref}\n`).join('');
    if ((await inRepository(git, work.repository, ['update-ref', '--stdin'], lines)) !== null)
      gone.push(work.name);
  }
  return gone;
}

/** Another ref has it, the user's or that of a later attempt. */
async function isElsewhere(git: Git, { repository, refs }: KeptWork, commit: string): Promise<boolean> {
  const question = ['for-each-ref', '--format=%(refname)', `--contains=${commit}`];
  const holders = (await inRepository(git, repository, question))?.split('\n') ?? [];
  return holders.some((ref) => ref !== '' && !refs.includes(ref));
}

/** Clocks are not exact: a commit that names another is looked for from well before that one. */
const SKEW_MS = 7 * DAY_MS;

/** The commits of submodules that commits of the repository, or of one of its submodules, name; `null`: not known. */
async function namedCommits(
  git: Git,
  { root, keepers, old }: { root: string; keepers: readonly string[]; old: readonly KeptWork[] },
): Promise<ReadonlySet<string> | null> {
  const fromMs = Math.min(...old.map(({ atMs }) => atMs)) - SKEW_MS;
  const since = `--since=@${Math.floor(fromMs / 1000)}`;
  const diff = ['-m', '--root', '--raw', '--no-abbrev', '--no-renames', '--ignore-submodules=none'];
  const log = ['log', '--all', ...diff, '--format=', since];
  const shown = await git.attempt(log, { cwd: root });
  const texts = [shown.code === 0 ? shown.stdout.toString('latin1') : null];
  for (const keeper of keepers) texts.push(await inRepository(git, keeper, log));
  if (texts.includes(null)) return null;
  // `:<mode before> <mode> <id before> <id> …`
  const lines = texts.flatMap((text) => text!.split('\n')).filter((line) => line[0] === ':');
  const entries = lines.map((line) => line.slice(1).split(' '));
  return new Set(
    entries.flatMap(([before, mode, idBefore, id]) => [
      ...(before === GITLINK ? [idBefore!] : []),
      ...(mode === GITLINK ? [id!] : []),
    ]),
  );
}

async function isEmpty(git: Git, repository: string): Promise<boolean> {
  return (await inRepository(git, repository, ['for-each-ref', '--count=1'])) === '';
}

/** And the folders around it that held nothing else. */
async function removeRepository(repository: string, folder: string): Promise<void> {
  await rm(repository, { recursive: true, force: true, maxRetries: 3 });
  for (let above = dirname(repository); above.length >= folder.length; above = dirname(above)) {
    if (readdirSync(above).length > 0) return;
    rmdirSync(above);
  }
}

/** `null` where git refuses. The user's copy may name a checkout that is not there. */
async function inRepository(
  git: Git,
  repository: string,
  args: string[],
  stdin?: string,
): Promise<string | null> {
  const env = { GIT_DIR: repository, GIT_WORK_TREE: repository };
  const { code, stdout } = await git.attempt(args, { cwd: repository, env, stdin });
  return code === 0 ? stdout.toString('latin1').trimEnd() : null;
}

/** Bare ones too. The name of a submodule may be a path, and a submodule may have submodules. */
function findRepositories(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const path = join(folder, name);
    const isRepository = ['HEAD', 'objects', 'refs'].every((part) => existsSync(join(path, part)));
    return isRepository ? [path, ...findRepositories(join(path, 'modules'))] : findRepositories(path);
  });
}
