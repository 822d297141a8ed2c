/**
 * What the demo agent does next, decided from what is really there: its files and its brief. In the demo's own
 * repository that is a first try, a claim that the tests refute, a repair with a question, and the end.
 */
import { failingTests, readAnswer, readChoice } from './brief.ts';
import { DEMO_PACKAGE_NAME, demoRepositoryFiles } from './repository.ts';
import {
  ACCENTS_SLUGIFY,
  exportsSlugify,
  finalSlugify,
  NAIVE_SLUGIFY,
  sharpSExample,
  slugifyStage,
  withExport,
  withSharpSTest,
  withUsage,
} from './sources.ts';

export type DemoAction =
  | { do: 'say'; text: string }
  | { do: 'read'; path: string }
  | { do: 'write'; path: string; content: string };

export interface DemoSituation {
  brief: string;
  iteration: number;
  /** A file's text by its path below the working directory, or `null`. */
  read(path: string): string | null;
}

/** The last action is the final message. */
export function planDemo(situation: DemoSituation): DemoAction[] {
  const place = findPlace(situation);
  switch (slugifyStage(place.read('src/slugify.js'))) {
    case 'missing':
      return firstTry(place);
    case 'naive':
      return isClaimDue(place, situation) ? claim(place) : repair(place, situation.brief);
    case 'accents':
      return complete(place, situation.brief);
    case 'final':
      return nothingLeft(place);
  }
}

/** Where the package is: here, or below a folder of its own in a repository that is not the demo's. */
export interface Place {
  prefix: string;
  read(path: string): string | null;
}

export function findPlace({ read }: Pick<DemoSituation, 'read'>): Place {
  const isDemo = read('package.json')?.includes(`"name": "${DEMO_PACKAGE_NAME}"`) ?? false;
  const prefix = isDemo ? '' : 'slugify-demo/';
  return { prefix, read: (path) => read(prefix + path) };
}

/** Not yet claimed, or claimed in an attempt whose work was kept and that nobody has judged. */
function isClaimDue(place: Place, { iteration, brief }: DemoSituation): boolean {
  if (!exportsSlugify(place.read('src/index.js') ?? '')) return true;
  return iteration <= 2 && failingTests(brief).length === 0;
}

function firstTry(place: Place): DemoAction[] {
  const { prefix, read } = place;
  const missing = Object.entries(demoRepositoryFiles()).filter(([path]) => read(path) === null);
  const isGuest = prefix !== '';
  return [
    say(isGuest ? GUEST_INTRODUCTION : 'I will look at the package and its tests first.'),
    ...missing.map(([path, content]) => write(place, path, content)),
    readFile(place, 'src/index.js'),
    readFile(place, 'test/slugify.test.js'),
    write(place, 'src/slugify.js', NAIVE_SLUGIFY),
    say(`Wrote a first slugify in ${prefix}src/slugify.js: lower case, with dashes between the words.

Next I will export it from ${prefix}src/index.js.

<signal>CONTINUE</signal>`),
  ];
}

const GUEST_INTRODUCTION = `I am Pulse's demo agent: a script that can do one thing, write a slugify function. \
Your files stay as they are; I work in slugify-demo/.`;

function claim(place: Place): DemoAction[] {
  const index = place.read('src/index.js') ?? '';
  return [
    say('The function is there. What is missing is its export.'),
    readFile(place, 'src/slugify.js'),
    readFile(place, 'src/index.js'),
    write(place, 'src/index.js', withExport(index)),
    say(`Exported slugify from ${place.prefix}src/index.js. "Hello World" becomes "hello-world", so the goal is reached.

<signal>COMPLETE</signal>`),
  ];
}

function repair(place: Place, brief: string): DemoAction[] {
  const failing = failingTests(brief);
  const names = failing.map((name) => `"${name}"`).join(' and ');
  return [
    say(
      failing.length === 0
        ? 'I said it was done without running the tests. Let me look at what they ask for.'
        : `I said it was done, Pulse ran the tests, and it is not: ${names} ${failing.length === 1 ? 'fails' : 'fail'}.`,
    ),
    readFile(place, 'test/slugify.test.js'),
    readFile(place, 'src/slugify.js'),
    write(place, 'src/slugify.js', ACCENTS_SLUGIFY),
    say(`Fixed accents and repeated dashes: "Crème Brûlée!" becomes "creme-brulee".

One case has no test, and I should not guess it: the German ß is no accented letter, so "Straße" still becomes "stra-e".

<signal>BLOCKED: Should ß become "ss" (Straße → strasse) or be dropped (Straße → strae)?</signal>`),
  ];
}

function complete(place: Place, brief: string): DemoAction[] {
  const answer = readAnswer(brief);
  const choice = readChoice(answer ?? '');
  const result = choice === 'ss' ? 'ß becomes "ss"' : 'ß is dropped';
  const why = answer === null ? 'the usual spelling' : 'as you decided';
  return [
    say(
      answer === null ? 'There is no answer about ß, so I take the usual spelling.' : `Thank you: ${result}.`,
    ),
    readFile(place, 'src/slugify.js'),
    write(place, 'src/slugify.js', finalSlugify(choice)),
    write(place, 'test/slugify.test.js', withSharpSTest(place.read('test/slugify.test.js') ?? '', choice)),
    write(place, 'README.md', withUsage(place.read('README.md') ?? '')),
    say(`${result.replace(/^ß/, 'Now ß')}, ${why}: "Straße" gives "${sharpSExample(choice)}". \
Added a test for it, and a usage example to the README.

<signal>COMPLETE</signal>`),
  ];
}

function nothingLeft(place: Place): DemoAction[] {
  return [
    readFile(place, 'src/slugify.js'),
    say(`Nothing is left to do: slugify handles dashes, accents and ß, and its tests are in ${place.prefix}test/.

<signal>COMPLETE</signal>`),
  ];
}

export const say = (text: string): DemoAction => ({ do: 'say', text });
export const readFile = ({ prefix }: Place, path: string): DemoAction => ({
  do: 'read',
  path: prefix + path,
});
export const write = ({ prefix }: Place, path: string, content: string): DemoAction => ({
  do: 'write',
  path: prefix + path,
  content,
});
