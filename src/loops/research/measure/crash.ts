/** What kind of crash a measurement ended in, and what follows from it (docs/protocol/research.md, Crashes). */

export const CRASH_KINDS = ['syntax', 'runtime', 'oom', 'hang', 'external'] as const;
export type CrashKind = (typeof CRASH_KINDS)[number];

export interface CrashSigns {
  exit: number | null;
  signal: string | null;
  /** Ended by the time limit. */
  isOverTime: boolean;
  /** The kernel says that it killed for want of memory, where that is known. */
  isOutOfMemory?: boolean;
  outputTail: string;
}

interface CrashPolicy {
  /** Fix runs within the same experiment. */
  fixes: number;
  /** What the next brief says of it; `null`: nothing. */
  advice: string | null;
  /** The idea may not come again. */
  isBanned: boolean;
}

export const CRASH_POLICIES: Record<CrashKind, CrashPolicy> = {
  syntax: { fixes: 10, advice: null, isBanned: false },
  runtime: { fixes: 3, advice: null, isBanned: false },
  oom: { fixes: 0, advice: 'It ran out of memory: try a smaller variant.', isBanned: false },
  hang: { fixes: 0, advice: 'It ran over the time limit: avoid that approach.', isBanned: true },
  external: {
    fixes: 0,
    advice: 'Something outside the repository failed: try a different approach.',
    isBanned: false,
  },
};

/** Read from the end of the output, the last line that tells counts: earlier ones are often what a program got over. */
const TELLING: [CrashKind, RegExp][] = [
  [
    'oom',
    /\bout[ -]of[ -]memory\b|\bOutOfMemoryError\b|\bMemoryError\b|\bbad_alloc\b|\bcannot allocate memory\b|\bENOMEM\b|\boom[- ]?kill/i,
  ],
  [
    'external',
    /\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|AI_AGAIN|TIMEDOUT|NETUNREACH|HOSTUNREACH|NOSPC|DQUOT)\b|could not resolve host|name resolution|connection (?:refused|reset|timed out)|network is unreachable|no space left on device|too many requests|service unavailable|rate limit|command not found|certificate (?:has expired|verify failed)/i,
  ],
  [
    'syntax',
    /\b(?:Syntax|Indentation|Tab)Error\b|\bsyntax error\b|\bparse error\b|\bParseError\b|\berror TS\d+\b|\berror\[E\d+\]|\bunexpected token\b|\berror: expected\b|\bcompilation failed\b|\bcould not compile\b|\bcannot find symbol\b/i,
  ],
];
const TOOL_MISSING = 127;
/** 128 + SIGKILL: what a shell reports of a child that the kernel ended. */
const KILLED = 137;
const LINES_READ = 60;

/** `null`: it did not crash. */
export function crashKind(signs: CrashSigns): CrashKind | null {
  if (signs.isOverTime) return 'hang';
  if (signs.exit === 0 && signs.signal === null) return null;
  if (signs.isOutOfMemory) return 'oom';
  const told = kindTold(signs.outputTail);
  if (told !== null) return told;
  if (signs.exit === TOOL_MISSING) return 'external';
  return signs.signal === 'SIGKILL' || signs.exit === KILLED ? 'oom' : 'runtime';
}

function kindTold(output: string): CrashKind | null {
  for (const line of output.trimEnd().split('\n').slice(-LINES_READ).reverse()) {
    const found = TELLING.find(([, sign]) => sign.test(line));
    if (found) return found[0];
  }
  return null;
}

/** What a crash's reason (`kind: output`) comes to in one line: the last that names an error, else the last. */
export function crashLine(reason: string): string {
  const [, kind = '', output = ''] = /^(\w+): ?([\s\S]*)$/.exec(reason) ?? ['', '', reason];
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const telling = lines.findLast((line) => NAMES_ERROR.test(line)) ?? lines.at(-1) ?? '';
  return [kind, telling].filter(Boolean).join(': ').slice(0, 200);
}

const NAMES_ERROR = /^\w*(?:Error|Exception)\b|\b(?:error|fatal|failed|killed|out of memory)\b/i;

/** Whether the experiment gets another fix, given its crashes so far. Syntax errors do not use up the tries of others. */
export function mayFix(crashes: readonly CrashKind[]): boolean {
  const newest = crashes.at(-1);
  if (newest === undefined) return false;
  return crashes.filter((kind) => kind === newest).length <= CRASH_POLICIES[newest].fixes;
}
