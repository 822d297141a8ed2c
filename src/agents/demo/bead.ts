/**
 * How the demo agent plays a bead: what a script can do of it, within the files that the bead names. It says too early
 * that the bead is done, reads the reasons why not, and mends it.
 */
import type { PulseReply } from './pulse.ts';
import { type DemoAction, type DemoSituation, findPlace, readFile, say, write } from './scenario.ts';
import { ACCENTS_SLUGIFY, NAIVE_SLUGIFY, slugifyStage, withExport, withUsage } from './sources.ts';

const MOST_TRIES = 3;

export type BeadAction = DemoAction | { do: 'call'; tool: 'bead_done'; input: { summary: string } };
/** What comes back of an action is the reply to a call; the last action is the final message. */
type BeadPlay = Generator<BeadAction, void, PulseReply | undefined>;

export function playBead(situation: DemoSituation & { unit: string }): BeadPlay {
  const { title, files } = readBead(situation.brief);
  if (/\bslugify\b/i.test(title) && files.includes('src/slugify.js')) return playSlugify(situation);
  if (/\b(?:readme|usage)\b/i.test(title) && files.includes('README.md')) return playUsage(situation);
  return playNote(situation, { title, files });
}

/** The line `Title:` and the list of files, as the brief has them. */
function readBead(brief: string): { title: string; files: string[] } {
  const [, title = ''] = /^Title: `+ ?(.*?) ?`+$/m.exec(brief) ?? [];
  const [, list = ''] = /^- Files in scope: (.*)$/m.exec(brief) ?? [];
  return { title, files: [...list.matchAll(/`([^`]+)`/g)].map(([, file]) => file!) };
}

/** Its first try has two faults that the tests find. */
function* playSlugify(situation: DemoSituation): BeadPlay {
  const place = findPlace(situation);
  const isFirst = slugifyStage(place.read('src/slugify.js')) === 'missing';
  yield say('I will write the function that the tests ask for.');
  yield readFile(place, 'src/index.js');
  yield write(place, 'src/index.js', withExport(place.read('src/index.js') ?? ''));
  yield write(place, 'src/slugify.js', isFirst ? NAIVE_SLUGIFY : ACCENTS_SLUGIFY);
  const summary = 'turn titles into slugs';
  yield* finish(yield done(summary), {
    summary,
    *mend() {
      yield write(place, 'src/slugify.js', ACCENTS_SLUGIFY);
    },
  });
}

function* playUsage(situation: DemoSituation): BeadPlay {
  const place = findPlace(situation);
  yield readFile(place, 'README.md');
  yield write(place, 'README.md', withUsage(place.read('README.md') ?? ''));
  const summary = 'show how to make a slug';
  yield* finish(yield done(summary), { summary });
}

/** What a script cannot do: it writes down what was asked, in the first file that the bead names. */
function* playNote(
  { unit }: { unit: string },
  { title, files }: { title: string; files: readonly string[] },
): BeadPlay {
  const path = files.find((file) => !/[*?[{]/.test(file));
  if (path === undefined) {
    yield say(
      `I am a script, and cannot do this.\n\n<signal>BLOCKED: ${unit} names no single file.</signal>`,
    );
    return;
  }
  yield say(`I am Pulse's demo agent, a script: I write down in ${path} what the bead asks for.`);
  yield { do: 'write', path, content: `# ${title}\n` };
  const summary = `note what ${unit} asks for`;
  yield* finish(yield done(summary), { summary });
}

function* finish(
  reply: PulseReply | undefined,
  { summary, mend }: { summary: string; mend?(): BeadPlay },
): BeadPlay {
  let answer = reply;
  for (let tries = 1; !answer?.ok && tries < MOST_TRIES; tries++) {
    yield say(`Not accepted: ${(answer?.reasons ?? []).map((reason) => reason.split('\n')[0]).join(' ')}`);
    if (tries === 1 && mend) yield* mend();
    answer = yield done(summary);
  }
  yield say(answer?.ok ? `The bead is accepted: ${summary}.` : 'I cannot mend this.');
}

function done(summary: string): BeadAction {
  return { do: 'call', tool: 'bead_done', input: { summary } };
}
