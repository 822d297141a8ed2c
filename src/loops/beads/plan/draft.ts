/** An epic and its beads as an agent drafts them: a file that a person reads, edits and imports. */
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { isPulseError, PulseError } from '../../../domain/errors.ts';
import { isStorable, NOT_STORABLE } from '../../../domain/storable.ts';
import {
  type BeadFields,
  BLOCKS,
  EPIC,
  evidencePath,
  MOST_PRIORITY,
  missingFields,
  PARENT,
  slug,
  TESTING_MODES,
  USUAL_PRIORITY,
} from '../graph/bead.ts';
import { findCycle } from '../graph/cycles.ts';
import type { BeadContent } from '../graph/rows.ts';
import { checkFields, checkId, checkWord, MOST_TITLE } from '../graph/validate.ts';

const MOST_BEADS = 200;
const MOST_BODY = 64 * 1024;
const MOST_COMMAND = 10_000;

const text = (most: number) =>
  z.string().trim().min(1, 'must say something').max(most).refine(isStorable, NOT_STORABLE);
const texts = (most: number) => z.array(text(most)).max(500);
const id = text(200);
const title = text(MOST_TITLE);
const body = z.string().max(MOST_BODY).refine(isStorable, NOT_STORABLE);
/** Without quotation marks YAML reads the command `true` as a truth value. */
const command = z.preprocess(
  (value) => (typeof value === 'boolean' || typeof value === 'number' ? String(value) : value),
  text(MOST_COMMAND),
);
const check = z.union([
  command.transform((only) => ({ command: only })),
  z.strictObject({ command, expect: command.optional(), report: text(1024).optional() }),
]);

const draftedBeadSchema = z.strictObject({
  id,
  title,
  type: text(100).optional(),
  priority: z.int().min(0).max(MOST_PRIORITY).optional(),
  body: body.optional(),
  labels: texts(100).optional(),
  dependencies: texts(200).optional(),
  files: texts(1024),
  verify: z.array(check).max(50),
  testing_mode: z.enum(TESTING_MODES).optional(),
  tdd_steps: z.strictObject({ red: command, green: command, expect: command.optional() }).optional(),
  decision_refs: texts(200).optional(),
  learning_refs: texts(1024).optional(),
  changesChecks: z.boolean().optional(),
});
export type DraftedBead = z.infer<typeof draftedBeadSchema>;

const draftSchema = z.strictObject({
  epic: z.strictObject({ id, title, body: body.optional(), feature: text(100).optional() }),
  beads: z.array(draftedBeadSchema).min(1, 'an epic needs a bead').max(MOST_BEADS),
});
export type BeadDraft = z.infer<typeof draftSchema>;

/** What is in the project's graph already. Where it is not known, nothing is said of it. */
export interface KnownBeads {
  has(id: string): boolean;
}

/**
 * `known`: beads may wait for those, and may not have their ids. Throws `invalid_input` with every fault as a line of
 * its hint.
 */
export function parseDraft(value: unknown, known?: KnownBeads): BeadDraft {
  const parsed = draftSchema.safeParse(value);
  const faults = parsed.success
    ? draftFaults(parsed.data, known)
    : parsed.error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (parsed.success && faults.length === 0) return parsed.data;
  const told = [...new Set(faults)];
  throw new PulseError('invalid_input', `The draft has ${told.length} fault(s).`, {
    hint: told.join('\n'),
    data: { violations: told },
  });
}

function formatPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.join('').replace(/^\./, '') || 'draft';
}

function draftFaults(draft: BeadDraft, known?: KnownBeads): string[] {
  const { epic, beads } = draft;
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const one of [epic, ...beads]) {
    if (ids.has(one.id)) faults.push(`the id "${one.id}" is given twice`);
    if (known?.has(one.id))
      faults.push(`there is a bead "${one.id}" in the project already: take another id`);
    ids.add(one.id);
  }
  for (const { id: bead, dependencies = [] } of beads)
    for (const needed of dependencies) {
      if (needed === epic.id) faults.push(`"${bead}" waits for its epic: every bead belongs to it anyhow`);
      else if (!ids.has(needed) && known?.has(needed) === false)
        faults.push(`"${bead}" waits for "${needed}", which does not exist`);
    }
  const cycle = findCycle(new Map(beads.map(({ id: bead, dependencies = [] }) => [bead, dependencies])));
  if (cycle) faults.push(`a circle: ${[...cycle, cycle[0]].join(' waits for ')}`);
  for (const content of draftToBeads(draft, EPOCH)) faults.push(...contentFaults(content));
  return faults;
}

const EPOCH = new Date(0).toISOString();

function contentFaults({ id: bead, type, labels, fields }: BeadContent): string[] {
  const faults: string[] = [];
  const tell = (check: () => unknown): void => {
    try {
      check();
    } catch (error) {
      if (!isPulseError(error)) throw error;
      faults.push(`"${bead}": ${error.message}`);
    }
  };
  tell(() => checkId(bead));
  tell(() => checkWord(type, 'The type'));
  for (const label of labels) tell(() => checkWord(label, 'The label'));
  tell(() => checkFields(fields));
  if (type === EPIC && fields.files) faults.push(`"${bead}" is an epic: there is one, and it is \`epic\``);
  const missing = missingFields(type, fields);
  if (missing.length > 0) faults.push(`"${bead}" lacks ${missing.join(', ')}`);
  return faults;
}

/** The epic first, then the beads in their order, which their age keeps. */
export function draftToBeads({ epic, beads }: BeadDraft, now: string): BeadContent[] {
  const feature = epic.feature ?? slug(epic.title);
  const began = Date.parse(now);
  const content = (index: number) => {
    const at = new Date(began + index).toISOString();
    return {
      ...{ status: 'open', assignee: null, claim: null, closed_at: null, close_reason: null },
      ...{ created_at: at, updated_at: at },
    };
  };
  const head: BeadContent = {
    ...{ ...content(0), id: epic.id, title: epic.title, type: EPIC, priority: USUAL_PRIORITY },
    ...{ body: epic.body ?? '', labels: [], dependencies: [], fields: { feature } },
  };
  return [
    head,
    ...beads.map((bead, index): BeadContent => {
      const waits = [...new Set(bead.dependencies ?? [])].map((needed) => ({ id: needed, type: BLOCKS }));
      return {
        ...{ ...content(index + 1), id: bead.id, title: bead.title, type: bead.type ?? 'task' },
        ...{ priority: bead.priority ?? USUAL_PRIORITY, body: bead.body ?? '', labels: bead.labels ?? [] },
        dependencies: [...waits, { id: epic.id, type: PARENT }],
        fields: fieldsOf(bead, feature),
      };
    }),
  ];
}

function fieldsOf(bead: DraftedBead, feature: string): BeadFields {
  const { files, verify, tdd_steps, testing_mode = 'standard', changesChecks } = bead;
  return {
    files,
    verify,
    verification_evidence: evidencePath(feature, bead.id),
    testing_mode,
    ...(tdd_steps ? { tdd_steps } : {}),
    decision_refs: bead.decision_refs ?? [],
    learning_refs: bead.learning_refs ?? [],
    ...(changesChecks === undefined ? {} : { changesChecks }),
  };
}

const HEAD = `# Beads that an agent has drafted. Nothing is in the graph yet: read this, the commands above all, change
# it as you like, and import it (pulse help bead).
`;

export function writeDraft(draft: BeadDraft): string {
  return `${HEAD}${stringify(draft, { lineWidth: 0 })}`;
}

/** Whether it is meant to be a draft. */
export function isDraft(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'epic' in value && 'beads' in value;
}

/** `undefined`: it is no YAML. JSON is YAML too. */
export function parseYaml(content: string): unknown {
  try {
    return parse(content);
  } catch {
    return undefined;
  }
}
