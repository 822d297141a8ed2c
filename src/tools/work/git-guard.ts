/** What an agent may not ask git for: to publish, and to change what belongs to the user's own checkout. */

export interface GitFacts {
  /** The local branches, which are the user's. */
  branches: ReadonlySet<string>;
  /** Whether HEAD is on one of them; a worktree of Pulse is on none. */
  isOnBranch: boolean;
}

export interface GitVerdict {
  /** Why it is refused; `null`: it is not. */
  refusal: string | null;
  /** Where it is told to work (`-C`, `--git-dir`, `--work-tree`). */
  folders: string[];
  /** What it is told to run in turn. */
  script: string | null;
}

/** `words` without the `git` itself. */
export function judgeGit(words: readonly string[], facts: GitFacts): GitVerdict {
  const { subcommand, args, folders, hasAlias } = readGlobalOptions(words);
  if (hasAlias) return { refusal: 'an alias made on the spot can hide what it does', folders, script: null };
  const refusal = RULES[subcommand]?.(args, facts) ?? null;
  return { refusal, folders, script: scriptOf(subcommand, args) };
}

type Rule = (args: readonly string[], facts: GitFacts) => string | null;

const PUBLISHES = 'Pulse publishes the work; an agent does not push';
const SHARED = 'refs, stash, configuration and worktrees are shared with the user’s own checkout';
const always =
  (reason: string): Rule =>
  () =>
    reason;
const withOption =
  (options: string, reason: string): Rule =>
  (args) =>
    args.some((arg) => hasOption(arg, options.split(' '))) ? reason : null;
const unlessFirst =
  (harmless: string, reason: string): Rule =>
  (args) => {
    const first = args.find((arg) => !arg.startsWith('-'));
    return first !== undefined && harmless.split(' ').includes(first) ? null : reason;
  };
const ifFirst =
  (harmful: string, reason: string): Rule =>
  (args) => {
    const first = args.find((arg) => !arg.startsWith('-')) ?? '';
    return harmful.split(' ').includes(first) ? reason : null;
  };

const RULES: Record<string, Rule | undefined> = {
  push: always(PUBLISHES),
  'send-pack': always(PUBLISHES),
  'http-push': always(PUBLISHES),
  lfs: ifFirst('push', PUBLISHES),
  subtree: ifFirst('push', PUBLISHES),
  svn: ifFirst('dcommit', PUBLISHES),
  p4: ifFirst('submit', PUBLISHES),
  'update-ref': always(SHARED),
  'filter-branch': always(SHARED),
  'filter-repo': always(SHARED),
  replace: always(SHARED),
  prune: always(SHARED),
  gc: always(SHARED),
  'pack-refs': always(SHARED),
  remote: ifFirst('add remove rm rename set-url set-head set-branches prune', SHARED),
  reflog: ifFirst('expire delete drop', SHARED),
  worktree: unlessFirst('list', SHARED),
  stash: unlessFirst('list show create', SHARED),
  branch: withOption('-d -D -m -M -f -c -C -u --delete --move --force --copy --set-upstream-to', SHARED),
  tag: withOption('-d -f --delete --force', SHARED),
  fetch: (args) =>
    args.some((arg) => hasOption(arg, ['-f', '--force'])) || namesLocalRef(args) ? SHARED : null,
  pull: withOption('-f --force', SHARED),
  'symbolic-ref': (args) => (args.filter((arg) => !arg.startsWith('-')).length > 1 ? SHARED : null),
  config: (args) => (isConfigRead(args) ? null : `${SHARED}; for one command use git -c NAME=VALUE`),
  checkout: (args, facts) => switchRefusal(args, { facts, force: '-B' }),
  switch: (args, facts) => switchRefusal(args, { facts, force: '-C' }),
  reset: (args, facts) =>
    facts.isOnBranch && args.some((arg) => hasOption(arg, ['--hard', '--merge', '--keep']))
      ? 'HEAD is on a branch of the user, and a reset would move it'
      : null,
};

function switchRefusal(
  args: readonly string[],
  { facts, force }: { facts: GitFacts; force: string },
): string | null {
  if (args.some((arg) => hasOption(arg, [force, '--force-create']))) return SHARED;
  if (args.some((arg) => hasOption(arg, ['--detach', '-d', '--']) || /^-[bc]$/.test(arg))) return null;
  const branch = args.find((arg) => facts.branches.has(arg));
  return branch === undefined
    ? null
    : `${branch} is a branch of the user; use --detach to look at what it points to`;
}

/** `git fetch origin main:main`: what stands behind the colon is a ref of the user's. */
function namesLocalRef(args: readonly string[]): boolean {
  const [, ...refspecs] = args.filter((arg) => !arg.startsWith('-'));
  return refspecs.some((refspec) => refspec.includes(':'));
}

function isConfigRead(args: readonly string[]): boolean {
  if (args.some((arg) => /^(--get(-\w+)*|--list|-l|--name-only|--show-\w+)$/.test(arg))) return true;
  const words = args.filter((arg) => !arg.startsWith('-'));
  return words[0] === 'get' || words[0] === 'list' || (words.length === 1 && words[0]!.includes('.'));
}

/** `-rf` has `-f`; `--force=x` has `--force`. */
function hasOption(arg: string, options: readonly string[]): boolean {
  const isBundle = /^-[a-zA-Z]+$/.test(arg);
  return options.some((option) =>
    /^-[a-zA-Z]$/.test(option)
      ? isBundle && arg.includes(option.slice(1))
      : arg === option || arg.startsWith(`${option}=`),
  );
}

function scriptOf(subcommand: string, args: readonly string[]): string | null {
  if (subcommand === 'submodule') {
    const at = args.indexOf('foreach');
    return at === -1
      ? null
      : args
          .slice(at + 1)
          .filter((arg) => arg !== '--recursive')
          .join(' ');
  }
  if (subcommand === 'bisect') return args[0] === 'run' ? args.slice(1).join(' ') : null;
  if (subcommand !== 'rebase') return null;
  const scripts = args.flatMap((arg, index) => {
    if (arg === '-x' || arg === '--exec') return args[index + 1] ?? [];
    return arg.startsWith('--exec=') ? arg.slice('--exec='.length) : [];
  });
  return scripts.join('\n') || null;
}

const TAKES_VALUE = ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env'];

function readGlobalOptions(words: readonly string[]) {
  const folders: string[] = [];
  let hasAlias = false;
  let at = 0;
  for (; at < words.length && words[at]!.startsWith('-'); at++) {
    const [name, joined] = splitOption(words[at]!);
    if (!TAKES_VALUE.includes(name)) continue;
    const value = joined ?? words[++at] ?? '';
    if (['-C', '--git-dir', '--work-tree'].includes(name)) folders.push(value);
    if (/^alias\./i.test(value)) hasAlias = true;
  }
  return { subcommand: words[at] ?? '', args: words.slice(at + 1), folders, hasAlias };
}

function splitOption(word: string): [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
