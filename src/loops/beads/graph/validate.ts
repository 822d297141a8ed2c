/** What a bead may be. Everything here throws `invalid_input`, `not_found` or `path_outside`, and changes nothing. */
import { MOST_HELD } from '../../../coordination/bounds.ts';
import { parsePattern } from '../../../coordination/reservations/pattern.ts';
import { PulseError } from '../../../domain/errors.ts';
import { isStorable, NOT_STORABLE } from '../../../domain/storable.ts';
import type { Db } from '../../../store/store.ts';
import {
  type BeadFields,
  type Check,
  type Dependency,
  EPIC,
  isBeadId,
  MOST_PRIORITY,
  PARENT,
  type TddSteps,
  TESTING_MODES,
  type TestingMode,
} from './bead.ts';
import { parseExpect } from './expect.ts';
import { typesOf } from './rows.ts';

const MOST_ITEMS = 500;
const MOST_EVIDENCE = 20;
const MOST_FILES = MOST_HELD - MOST_EVIDENCE;
export const MOST_TITLE = 500;
const MOST_COMMAND = 10_000;
const MOST_WORD = 100;

export function checkId(id: string): string {
  if (isBeadId(id)) return id;
  throw invalid(
    `"${id.slice(0, 100)}" cannot be the id of a bead`,
    'An id has letters, digits and . _ : @ + ~ -, and no blanks.',
  );
}

export function checkTitle(title: string): string {
  const text = checkText(title, 'The title', MOST_TITLE).trim();
  if (text === '') throw invalid('The title is empty');
  return text;
}

export function checkPriority(priority: unknown): number {
  if (Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= MOST_PRIORITY)
    return Number(priority);
  throw invalid(
    `The priority must be 0 to ${MOST_PRIORITY}, not ${String(priority).slice(0, 50)}`,
    '0 is the most urgent.',
  );
}

/** A type, a label or a feature: one word. */
export function checkWord(word: string, what: string): string {
  if (/^[^\s\p{C}]+$/u.test(word) && word.length <= MOST_WORD) return word;
  throw invalid(`${what} "${word.slice(0, 100)}" must be one word of at most ${MOST_WORD} characters`);
}

/** A folder's name. */
function checkFeature(feature: string): string {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}._-]{0,99}$/u.test(feature)) return feature;
  throw invalid(
    `The feature "${feature.slice(0, 100)}" cannot be the name of a folder`,
    'Use letters, digits, . _ and -.',
  );
}

export function checkText(text: string, what: string, most: number): string {
  if (!isStorable(text)) throw invalid(`${what} ${NOT_STORABLE}`);
  if (text.length > most) throw invalid(`${what} has more than ${most} characters`);
  return text;
}

/** Each as it is stored: relative to the top of the repository. `root`: the top, for absolute paths. */
function checkFiles(files: readonly string[], what: string, root?: string): string[] {
  const texts = checkList(files, what).map((file) => parsePattern(file, root).text);
  const inGit = texts.find((text) => text === '.git' || text.startsWith('.git/'));
  if (inGit !== undefined)
    throw new PulseError('path_outside', `"${inGit}" belongs to git, not to the files of the repository.`);
  return [...new Set(texts)];
}

/** All of them are reserved for its worker at once. */
function checkFewFiles(files: readonly string[], root?: string): string[] {
  const texts = checkFiles(files, 'files', root);
  if (texts.length <= MOST_FILES) return texts;
  throw new PulseError('too_large', `A bead has at most ${MOST_FILES} files.`, {
    hint: 'Name a pattern that covers several, such as "src/**", or make several beads.',
  });
}

function checkTestingMode(mode: string): TestingMode {
  const known = TESTING_MODES.find((each) => each === mode);
  if (known) return known;
  throw invalid(`"${mode.slice(0, 100)}" is no testing mode`, `It is one of ${TESTING_MODES.join(', ')}.`);
}

function checkChecks(checks: readonly Check[], root?: string): Check[] {
  return checkList(checks, 'verify').map(({ command, expect, report }) => ({
    command: checkCommand(command),
    ...(expect === undefined ? {} : { expect: checkExpect(expect) }),
    ...(report === undefined ? {} : { report: checkFiles([report], 'verify', root)[0]! }),
  }));
}

function checkTddSteps({ red, green, expect }: TddSteps): TddSteps {
  return {
    red: checkCommand(red),
    green: checkCommand(green),
    ...(expect === undefined ? {} : { expect: checkExpect(expect) }),
  };
}

function checkCommand(command: string): string {
  if (checkText(command, 'A command', MOST_COMMAND).trim() === '') throw invalid('A command is empty');
  return command;
}

function checkExpect(expect: string): string {
  parseExpect(checkText(expect, 'An expectation', MOST_COMMAND));
  return expect;
}

function checkList<T>(items: readonly T[], what: string): readonly T[] {
  if (items.length > MOST_ITEMS) throw invalid(`${what} has more than ${MOST_ITEMS} entries`);
  return items;
}

export function checkTexts(texts: readonly string[], what: string): string[] {
  return checkList(texts, what).map((text) => checkText(text, what, 1_000));
}

/** All fields that are given, as they are stored. */
export function checkFields(fields: BeadFields, root?: string): BeadFields {
  const {
    files,
    verify,
    verification_evidence: evidence,
    testing_mode,
    tdd_steps,
    decision_refs,
    learning_refs,
    feature,
    changesChecks,
  } = fields;
  return {
    ...(files && { files: checkFewFiles(files, root) }),
    ...(verify && { verify: checkChecks(verify, root) }),
    ...(evidence !== undefined && { verification_evidence: checkEvidence(evidence, root) }),
    ...(testing_mode !== undefined && { testing_mode: checkTestingMode(testing_mode) }),
    ...(tdd_steps && { tdd_steps: checkTddSteps(tdd_steps) }),
    ...(decision_refs && { decision_refs: checkTexts(decision_refs, 'decision_refs') }),
    ...(learning_refs && { learning_refs: checkFiles(learning_refs, 'learning_refs', root) }),
    ...(changesChecks !== undefined && { changesChecks }),
    ...(feature !== undefined && { feature: checkFeature(feature) }),
  };
}

/** Pulse writes there itself: each is the path of one file. */
function checkEvidence(evidence: string | string[], root?: string): string | string[] {
  const patterns = checkList([evidence].flat(), 'verification_evidence').map((path) =>
    parsePattern(path, root),
  );
  const texts = [...new Set(patterns.map(({ text }) => text))];
  if (texts.length > MOST_EVIDENCE)
    throw invalid(`verification_evidence has more than ${MOST_EVIDENCE} paths`);
  for (const { text, readings } of patterns) {
    const told = text.slice(0, 100);
    const isOne =
      readings.length === 1 && readings[0]!.every((name) => name !== '**' && name.literal !== null);
    if (!isOne || /\p{Cc}/u.test(text))
      throw invalid(
        `"${told}" in verification_evidence is a pattern`,
        'Name one file, such as history/x/a.md.',
      );
    const names = text.toLowerCase().split('/');
    if (names.includes('.git') || names[0] === '.pulse')
      throw new PulseError(
        'path_outside',
        `"${told}" in verification_evidence is no file of the repository.`,
        {
          hint: 'What is in .git and .pulse is not committed.',
        },
      );
  }
  return typeof evidence === 'string' ? texts[0]! : texts;
}

/** Throws `not_found` for a bead that is not there, and for an epic that is none. */
export async function checkDependencies(
  db: Db,
  projectId: string,
  dependencies: readonly Dependency[],
): Promise<void> {
  const types = await typesOf(
    db,
    projectId,
    dependencies.map(({ id }) => id),
  );
  for (const { id, type } of dependencies) {
    const found = types.get(id);
    if (found === undefined)
      throw new PulseError(
        'not_found',
        `There is no ${type === PARENT ? 'epic' : 'bead'} ${id.slice(0, 200)}.`,
        {
          hint: '`pulse bead list` shows the beads of this project. Nothing was changed.',
        },
      );
    if (type === PARENT && found !== EPIC) throw invalid(`${id} is no epic: it is of type ${found}`);
  }
}

function invalid(message: string, hint?: string): PulseError {
  return new PulseError('invalid_input', `${message}.`, hint === undefined ? {} : { hint });
}
