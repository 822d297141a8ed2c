/** The few lines of a failing command's output that say what is wrong. */

/** What testers, compilers and shells write where something failed. */
const TELLING =
  /\bnot ok\b|\bFAIL(ED|URE)?\b|^\s*[✖✗×✕]|\berror\b|\bpanicked\b|AssertionError|Exception\b|not found|No such file|cannot find|Traceback/i;
/** Sums and headings that have such a word and name nothing. */
const EMPTY =
  /^\W*(fail(ed|ures?|ing)?( tests?)?|errors?)?\W*\d*\W*$|npm (ERR!|error) (code|errno|path|A complete log)|^\s*at /i;

/** The first that name a failure, in order; where none does, the last that say anything. */
export function tellingLines(output: string, most: number): string[] {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const telling = lines.filter((line) => TELLING.test(line) && !EMPTY.test(line));
  return telling.length > 0 ? [...new Set(telling)].slice(0, most) : lines.slice(-most);
}
