/** The fields of a bead as YAML before the text of its description, for programs that know no such fields. */
import { isMap, parseDocument, stringify } from 'yaml';
import { PulseError } from '../../../domain/errors.ts';
import type { BeadFields, Check, TddSteps, TestingMode } from '../graph/bead.ts';

/** In the order in which they are written. */
const FIELDS = [
  ...(['feature', 'files', 'verify', 'verification_evidence', 'testing_mode', 'tdd_steps'] as const),
  ...(['decision_refs', 'learning_refs', 'changesChecks'] as const),
] as const satisfies readonly (keyof BeadFields)[];
/** Read as well; Pulse writes them where issue files have a place for them. */
const RELATIONS = ['dependencies', 'epic'] as const;

export interface Description {
  fields: BeadFields;
  /** Ids that the bead waits for. */
  dependencies: string[];
  epic: string | null;
  /** All after the front matter. */
  body: string;
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/;
const KNOWN = new RegExp(`^(?:${[...FIELDS, ...RELATIONS].join('|')})[ \\t]*:`, 'm');

/** A block that names none of the fields is a part of the text. Throws `invalid_input` for one that cannot be read. */
export function readDescription(description: string): Description {
  const block = FRONT_MATTER.exec(description);
  const plain = { fields: {}, dependencies: [], epic: null, body: description };
  if (!block || !KNOWN.test(block[1]!)) return plain;
  const document = parseDocument(block[1]!);
  if (document.errors.length > 0)
    throw invalid(`the front matter is no YAML: ${document.errors[0]!.message.split('\n')[0]}`);
  if (!isMap(document.contents)) return plain;
  const values = document.toJS() as Record<string, unknown>;
  return {
    fields: readFields(values),
    dependencies: values.dependencies === undefined ? [] : readTexts(values.dependencies, 'dependencies'),
    epic: values.epic === undefined || values.epic === null ? null : readText(values.epic, 'epic'),
    body: description.slice(block[0].length),
  };
}

/** The description with these fields and this body. What else stands in its front matter stays, comments too. */
export function writeDescription(
  before: string,
  { fields, body }: { fields: BeadFields; body: string },
  { dropRelations }: { dropRelations: boolean },
): string {
  const block = FRONT_MATTER.exec(before);
  const isOurs = block !== null && KNOWN.test(block[1]!);
  const names = FIELDS.filter((name) => fields[name] !== undefined);
  if (!isOurs) {
    if (names.length === 0) return body;
    const own = Object.fromEntries(names.map((name) => [name, fields[name]]));
    return `---\n${stringify(own, { lineWidth: 0 })}---\n${body}`;
  }
  const document = parseDocument(block[1]!);
  const known = readFields(document.toJS() as Record<string, unknown>);
  for (const name of FIELDS) {
    if (JSON.stringify(known[name]) === JSON.stringify(fields[name])) continue;
    if (fields[name] === undefined) document.delete(name);
    else document.set(name, document.createNode(fields[name]));
  }
  if (dropRelations) for (const name of RELATIONS) document.delete(name);
  return `---\n${document.toString({ lineWidth: 0 })}---\n${body}`;
}

function readFields(values: Record<string, unknown>): BeadFields {
  const fields: BeadFields = {};
  const {
    files,
    verify,
    verification_evidence,
    testing_mode,
    tdd_steps,
    decision_refs,
    learning_refs,
    feature,
    changesChecks,
  } = values;
  if (isGiven(feature)) fields.feature = readText(feature, 'feature');
  if (isGiven(files)) fields.files = readTexts(files, 'files');
  if (isGiven(verify)) fields.verify = readChecks(verify);
  if (isGiven(verification_evidence))
    fields.verification_evidence = Array.isArray(verification_evidence)
      ? readTexts(verification_evidence, 'verification_evidence')
      : readText(verification_evidence, 'verification_evidence');
  if (isGiven(testing_mode)) fields.testing_mode = readText(testing_mode, 'testing_mode') as TestingMode;
  if (isGiven(tdd_steps)) fields.tdd_steps = readSteps(tdd_steps);
  if (isGiven(decision_refs)) fields.decision_refs = readTexts(decision_refs, 'decision_refs');
  if (isGiven(learning_refs)) fields.learning_refs = readTexts(learning_refs, 'learning_refs');
  if (typeof changesChecks === 'boolean') fields.changesChecks = changesChecks;
  return fields;
}

/** A name without a value is as good as none. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** One text stands for a list of one. */
function readTexts(value: unknown, what: string): string[] {
  return (Array.isArray(value) ? value : [value]).map((each) => readText(each, what));
}

function readText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  // Without quotation marks YAML reads the command `true` as a truth value.
  if (isPlain(value)) return String(value);
  throw invalid(`${what} must be text`);
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function readChecks(value: unknown): Check[] {
  return (Array.isArray(value) ? value : [value]).map((each) => {
    if (isPlain(each)) return { command: readText(each, 'verify') };
    const { command, expect, report } = asObject(each, 'verify');
    return {
      command: readText(command, 'verify.command'),
      ...readExpect(expect),
      ...(isGiven(report) ? { report: readText(report, 'verify.report') } : {}),
    };
  });
}

function readSteps(value: unknown): TddSteps {
  const { red, green, expect } = asObject(value, 'tdd_steps');
  return {
    red: readText(red, 'tdd_steps.red'),
    green: readText(green, 'tdd_steps.green'),
    ...readExpect(expect),
  };
}

function readExpect(expect: unknown): { expect?: string } {
  return isGiven(expect) ? { expect: readText(expect, 'expect') } : {};
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw invalid(`${what} must have names and values`);
}

function invalid(why: string): PulseError {
  return new PulseError('invalid_input', why);
}
