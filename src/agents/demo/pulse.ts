/**
 * How the demo agent plays a pulse of a workflow: it does what the kickoff asks for as far as a script can, says that it
 * is done too early, reads the reasons why not, and mends it.
 */
import { FENCE } from './brief.ts';
import { demoRepositoryFiles } from './repository.ts';
import type { DemoAction, DemoSituation } from './scenario.ts';
import { findPlace, type Place, readFile, say, write } from './scenario.ts';
import { ACCENTS_SLUGIFY, NAIVE_SLUGIFY, slugifyStage, withExport, withUsage } from './sources.ts';

export interface PulseReply {
  ok: boolean;
  output?: string;
  reasons?: string[];
}

export type PulseAction =
  | DemoAction
  | { do: 'call'; tool: 'pulse_done'; input: PulseDone }
  | { do: 'call'; tool: 'shell' | 'record_baseline' | 'preflight_done'; input: Record<string, unknown> };

interface PulseDone {
  summary: string;
  filesChanged: string[];
}

const MOST_TRIES = 4;

/** What comes back of an action is the reply to a call; the last action is the final message. */
export type PulsePlay = Generator<PulseAction, void, PulseReply | undefined>;

export function playPulse(situation: DemoSituation & { unit: string }): PulsePlay {
  const { title, task } = readKickoff(situation);
  const asked = `${title}\n${task}`;
  if (/\bslugify\b/i.test(asked) && !/\b(?:readme|usage|document)/i.test(title))
    return playSlugify(situation);
  if (/\b(?:readme|usage)\b/i.test(asked)) return playUsage(situation);
  return playNote(situation, { title, task });
}

/** The heading `# Pulse id: title` and the description below it, quoted in a fence. */
function readKickoff({ brief, unit }: { brief: string; unit: string }): { title: string; task: string } {
  const [, title = unit, rest = ''] = /^#[ \t]+Pulse[ \t]+[^\s:]+:[ \t]*(.*)\n([\s\S]*)$/m.exec(brief) ?? [];
  const section = rest.split(/^#{1,6}[ \t]/m)[0]!;
  const task = FENCE.exec(section)?.[2] ?? section;
  return { title: title.trim(), task: task.trim() };
}

/** Its first try has two faults that the tests find, and it is careless about how it says that it is done. */
function* playSlugify(situation: DemoSituation): PulsePlay {
  const place = findPlace(situation);
  const isFirst = slugifyStage(place.read('src/slugify.js')) === 'missing';
  yield say('I will write the function and the tests that the plan asks for.');
  const missing = Object.entries(demoRepositoryFiles()).filter(([path]) => place.read(path) === null);
  const files = new Set(missing.map(([path]) => path));
  for (const [path, content] of missing) yield write(place, path, content);
  yield readFile(place, 'src/index.js');
  yield put(place, files, 'src/index.js', withExport(place.read('src/index.js') ?? ''));
  yield put(place, files, 'src/slugify.js', isFirst ? NAIVE_SLUGIFY : ACCENTS_SLUGIFY);
  const summary = 'feat: turn titles into slugs';
  const rejected = yield done(isFirst ? 'Added slugify' : summary, inPlace(place, ['src/slugify.js']));
  yield* finish({
    reply: rejected,
    summary,
    files: inPlace(place, [...files, 'src/slugify.js']),
    *mend() {
      yield readFile(place, 'src/slugify.js');
      yield write(place, 'src/slugify.js', ACCENTS_SLUGIFY);
    },
  });
}

function* playUsage(situation: DemoSituation): PulsePlay {
  const place = findPlace(situation);
  const readme = place.read('README.md') ?? '';
  yield readFile(place, 'README.md');
  yield write(place, 'README.md', withUsage(readme));
  const summary = 'docs: show how to make a slug';
  const files = readme === withUsage(readme) ? [] : inPlace(place, ['README.md']);
  yield* finish({ reply: yield done(summary, files), summary, files });
}

/** What a script cannot do: it writes down what was asked, so that a person sees what the pulse was about. */
function* playNote({ unit }: { unit: string }, { title, task }: { title: string; task: string }): PulsePlay {
  yield say(
    "I am Pulse's demo agent, a script: I cannot do this pulse, so I write down in pulse-demo/ what it asks for.",
  );
  const path = `pulse-demo/${unit}.md`;
  yield { do: 'write', path, content: `# ${title}\n\n${task}\n` };
  const summary = `docs(pulse-demo): note what ${unit} asks for`;
  yield* finish({ reply: yield done(summary, [path]), summary, files: [path] });
}

interface Finish {
  reply: PulseReply | undefined;
  summary: string;
  files: string[];
  /** Done once, after the first refusal. */
  mend?(): PulsePlay;
}

/** Reads every reason, mends what it can, and asks again; in the end it asks a person. */
function* finish({ reply, summary, files, mend }: Finish): PulsePlay {
  let answer = reply;
  for (let tries = 1; !answer?.ok && tries < MOST_TRIES; tries++) {
    yield say(`Not accepted: ${sentence(answer?.reasons ?? [])}`);
    if (tries === 1 && mend) yield* mend();
    answer = yield done(summary, corrected(files, answer?.reasons ?? []));
  }
  yield say(
    answer?.ok
      ? `The pulse is accepted: ${summary}.`
      : `I cannot mend this.\n\n<signal>BLOCKED: ${sentence(answer?.reasons ?? ['Pulse gave no reason.'])}</signal>`,
  );
}

/** Each reason's first line. */
function sentence(reasons: readonly string[]): string {
  return reasons
    .map((reason) => reason.split('\n')[0]!.trim())
    .join(' ')
    .slice(0, 1_000);
}

/** Git knows better: what the refusal calls missing is added, what it calls unchanged is left out. */
function corrected(files: readonly string[], reasons: readonly string[]): string[] {
  const said = reasons.find((reason) => reason.startsWith('filesChanged')) ?? '';
  const listed = (label: string): string[] =>
    new RegExp(`${label}: ([^;\\n]*)`)
      .exec(said)?.[1]
      ?.split(', ')
      .map((path) => path.trim()) ?? [];
  const extra = new Set(listed('not changed'));
  const all = [...files, ...listed('missing')].filter((path) => !extra.has(path));
  return [...new Set(all)].sort();
}

function inPlace({ prefix }: Place, paths: readonly string[]): string[] {
  return [...new Set(paths)].map((path) => prefix + path);
}

function put(place: Place, files: Set<string>, path: string, content: string): DemoAction {
  files.add(path);
  return write(place, path, content);
}

const done = (summary: string, filesChanged: string[]): PulseAction => ({
  do: 'call',
  tool: 'pulse_done',
  input: { summary, filesChanged },
});
