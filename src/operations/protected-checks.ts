/** What says what the checks of a repository are, told to a person before any agent runs (docs/referee.md). */
import { quoteWord } from '../domain/shell-words.ts';
import type { Git } from '../git/exec.ts';
import { readTreeFiles } from '../referee/claim-trees.ts';
import { findPins } from '../referee/pins/pins.ts';

export interface ProtectedChecks {
  /** One line each: a file, a part of it, or a pattern of tests. */
  described: readonly string[];
  /** Programs of which nothing is known beyond what the command names, and the tests. */
  unknown: readonly string[];
}

interface Request {
  root: string;
  /** Or a tree. */
  commit: string;
  commands: readonly string[];
  /** The setting `checks`. */
  paths: readonly string[];
  exclude: readonly string[];
  /** The setting `tests`. */
  tests?: readonly string[];
}

export async function findProtected(git: Git, request: Request): Promise<ProtectedChecks> {
  return (await findWithin(git, request, Number.POSITIVE_INFINITY))!;
}

/** A larger tree is looked at when a claim is judged, or by `pulse doctor`. */
const FILES_AT_START = 50_000;
const LONGEST_AT_START_MS = 1_000;

interface NoteRequest extends Pick<Request, 'root' | 'commit' | 'commands' | 'tests'> {
  checks: Partial<Pick<Request, 'paths' | 'exclude'>>;
  /** `pulse doctor` knows the commands, too. */
  isFromConfig: boolean;
}

/** What a person should know at a start, in a line; `null`: there are no checks. */
export async function protectsNote(git: Git, request: NoteRequest): Promise<string | null> {
  const { commands, isFromConfig, checks, ...where } = request;
  if (commands.length === 0) return null;
  const { paths = [], exclude = [] } = checks;
  const found = await findProtectedQuickly(git, { ...where, commands, paths, exclude });
  return protectedLine(found, { commands, isFromConfig });
}

/** As `findProtected`; `null` where a start would have to wait for it. Never throws: it is a note. */
async function findProtectedQuickly(git: Git, request: Request): Promise<ProtectedChecks | null> {
  const late = AbortSignal.timeout(LONGEST_AT_START_MS);
  const bound = git.bind({ signal: late });
  const tooLate = new Promise<null>((resolve) => late.addEventListener('abort', () => resolve(null)));
  // What cannot be read here fails the claim, with its own words.
  return Promise.race([findWithin(bound, request, FILES_AT_START).catch(() => null), tooLate]);
}

async function findWithin(
  git: Git,
  { root, commit, ...wanted }: Request,
  maxFiles: number,
): Promise<ProtectedChecks | null> {
  const tree = await readTreeFiles(git, { cwd: root, tree: commit });
  if (tree.paths.length > maxFiles) return null;
  const { described, unknown } = await findPins({ ...wanted, tree });
  return { described, unknown };
}

const NAMED = 4;

function protectedLine(
  found: ProtectedChecks | null,
  { commands, isFromConfig }: { commands: readonly string[]; isFromConfig: boolean },
): string {
  const doctor = isFromConfig ? 'pulse doctor' : `pulse doctor ${commands.map(asOption).join(' ')}`;
  if (found === null) return `protected: see ${doctor}`;
  const { definitions, testFiles } = summarize(found.described);
  const more = definitions.length - NAMED;
  const named = [
    ...definitions.slice(0, NAMED),
    ...(more > 0 ? [`${more} more`] : []),
    ...(testFiles > 0 ? [`${testFiles} test ${testFiles === 1 ? 'file' : 'files'}`] : []),
  ];
  const open = found.unknown.length > 0 ? `; of ${found.unknown.join(', ')} nothing else is known` : '';
  if (named.length === 0) return `protected: nothing, the checks name no file${open}`;
  return `protected: ${named.join(', ')}${open}; ${doctor} lists it`;
}

function asOption(command: string): string {
  return `--verify ${quoteWord(command)}`;
}

/** `package.json: scripts` becomes `package.json (scripts)`; files of tests are counted. */
function summarize(described: readonly string[]): { definitions: string[]; testFiles: number } {
  const definitions: string[] = [];
  let testFiles = 0;
  for (const line of described) {
    const tests = /^tests: .* \((\d+) files?\)$/.exec(line);
    if (tests) testFiles += Number(tests[1]);
    else definitions.push(line.replace(/: (.+)$/, ' ($1)'));
  }
  return { definitions, testFiles };
}
