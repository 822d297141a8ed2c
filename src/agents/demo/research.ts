/** How the demo agent plays an experiment of research: one idea of its list, announced before the change. */
import type { PulseReply } from './pulse.ts';
import { IDEAS, type Idea } from './research-ideas.ts';
import type { DemoAction, DemoSituation } from './scenario.ts';

export type ExperimentAction =
  | DemoAction
  | { do: 'call'; tool: 'experiment_describe'; input: { description: string } };

/** What comes back of an action is the reply to a call; the last action is the final message. */
type ExperimentPlay = Generator<ExperimentAction, void, PulseReply | undefined>;

export function isExperiment(unit: string): boolean {
  return UNIT.test(unit);
}

const UNIT = /^exp-(\d+)$/;
const MENDING = /^# Mend this experiment\s+The change "(.*)" is in the tree/m;

export function playExperiment(situation: DemoSituation & { unit: string }): ExperimentPlay {
  const { brief, unit, read } = situation;
  if (!read('src/primes.js')?.includes('countPrimes')) return playStranger();
  const mended = IDEAS.find(({ description }) => description === MENDING.exec(brief)?.[1]);
  if (mended) return playMending(situation, mended);
  const idea = IDEAS[Number(UNIT.exec(unit)![1]) - 1];
  return idea ? playIdea(situation, idea) : playEnd();
}

function* playIdea({ read }: DemoSituation, idea: Idea): ExperimentPlay {
  yield { do: 'read', path: idea.path };
  for (const description of [idea.firstThought, idea.description]) {
    if (description === undefined) continue;
    const reply = yield { do: 'call', tool: 'experiment_describe', input: { description } };
    if (reply?.ok) break;
    yield { do: 'say', text: `Refused: ${reply?.output ?? 'no answer'}` };
  }
  yield { do: 'write', path: idea.path, content: idea.change(read(idea.path) ?? '') };
  yield { do: 'say', text: idea.remark };
}

function* playEnd(): ExperimentPlay {
  yield { do: 'say', text: 'My script is at its end.\n\n<signal>BLOCKED: I have no more ideas.</signal>' };
}

function* playMending({ read }: DemoSituation, { path, mend }: Idea): ExperimentPlay {
  const source = read(path) ?? '';
  yield { do: 'read', path };
  yield { do: 'write', path, content: mend?.(source) ?? source };
  yield { do: 'say', text: 'I have read what was printed and changed that place.' };
}

/** A script has ideas for one function only. */
function* playStranger(): ExperimentPlay {
  yield {
    do: 'say',
    text: `I am Pulse's demo agent, a script: I have ideas for the repository of examples/research only.

<signal>BLOCKED: The demo agent has no ideas for this repository. Name another agent.</signal>`,
  };
}
