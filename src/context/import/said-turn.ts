/** Phase and salience of a turn of which only the words are known (docs/protocol/context.md, Imported turns). */
import type { Signal } from '../../domain/attempt.ts';
import { type Phase, salienceOf } from '../turns.ts';

export interface SaidTurn {
  role: 'user' | 'assistant';
  content: string;
}

/** More of a text says nothing new about what it is, and every pattern here is tried on all of it. */
const MOST_READ = 20_000;
const MOST_FILES = 15;

const SIGNAL = /<signal>\s*(CONTINUE|COMPLETE|BLOCKED)\b[^<]{0,400}<\/signal>/g;
const FAILED =
  /\b(?:fails?|failed|failing|failure|error|errors|exception|traceback|panic(?:ked)?|crash(?:es|ed)?|broken|stack trace|segfault|bug)\b/i;
const PASSED =
  /\b(?:all (?:\w{1,20} )?(?:tests|checks) (?:now )?pass|tests? (?:now )?pass(?:es|ed)?|(?:build|lint|types?) (?:is|are) (?:clean|green)|verified)\b/i;
const PLANNED =
  /\b(?:plan|plans|design|approach|proposal|options?|trade-?offs?|decide|decision|should we|next steps?|requirements?|want|need)\b/i;
const CHANGED =
  /\b(?:added|created|wrote|written|implemented|changed|updated|renamed|removed|deleted|moved|refactored|replaced|fixed|merged|committed)\b/i;
const CONCLUDED =
  /\b(?:in summary|to summari[sz]e|summary:|in conclusion|(?:is|are) (?:now )?(?:complete|done|finished)|everything works|all done)\b/i;
const COMMIT = /\bcommit(?:ted)?\s{1,4}(?:as\s{1,4})?`?([0-9a-f]{7,40})\b/i;
const FILE = /(?<![\w/.-])(?:[\w.-]{1,60}\/){0,8}[\w.-]{1,60}\.[a-z][a-z0-9]{0,4}(?![\w/-])/gi;

/**
 * The first that holds. Of a user: something failed, `debugging`; otherwise `planning`. Of an assistant: the signal
 * COMPLETE or a conclusion, `synthesis`; BLOCKED, `planning`; changes, `consolidation`; a failure, `debugging`; a plan,
 * `planning`; otherwise `exploration`.
 */
export function phaseOfWords({ role, content }: SaidTurn): Phase {
  const text = content.slice(0, MOST_READ);
  if (role === 'user') return FAILED.test(text) ? 'debugging' : 'planning';
  const signal = signalIn(text);
  if (signal === 'COMPLETE' || CONCLUDED.test(text)) return 'synthesis';
  if (signal === 'BLOCKED') return 'planning';
  if (CHANGED.test(text)) return 'consolidation';
  if (FAILED.test(text)) return 'debugging';
  return PLANNED.test(text) ? 'planning' : 'exploration';
}

/** The same sum as of a run, of what the words claim: a signal, a commit's hash, names of files, checks that passed. */
export function salienceOfWords({ content }: SaidTurn): number {
  const text = content.slice(0, MOST_READ);
  return salienceOf({
    signal: signalIn(text),
    commit: COMMIT.exec(text)?.[1] ?? null,
    filesTouched: filesIn(text),
    verification: PASSED.test(text) ? 'passed' : FAILED.test(text) ? 'failed' : null,
    hinted: false,
  });
}

function signalIn(text: string): Signal | null {
  let last: Signal | null = null;
  for (const [, signal] of text.matchAll(SIGNAL)) last = signal as Signal;
  return last;
}

function filesIn(text: string): number {
  const files = new Set<string>();
  for (const [file] of text.matchAll(FILE)) if (files.add(file).size === MOST_FILES) break;
  return files.size;
}
