/** A bead: one small piece of work, with what says when it is done. */
import { createHash } from 'node:crypto';

/** The statuses that a person may give. Pulse also closes; an issue file may bring others, which are kept. */
export const GIVEN_STATUSES = ['open', 'in_progress', 'blocked'] as const;
export const TESTING_MODES = ['standard', 'tdd-required'] as const;
export type TestingMode = (typeof TESTING_MODES)[number];

export const EPIC = 'epic';
/** The one type of dependency that a bead waits for. */
export const BLOCKS = 'blocks';
/** Names the epic that a bead belongs to. */
export const PARENT = 'parent-child';
export const NEEDS_PLANNING = 'needs-planning';
export const MOST_PRIORITY = 4;
export const USUAL_PRIORITY = 2;

export interface Check {
  command: string;
  /** See `parseExpect`. */
  expect?: string;
  /** A file that the command writes, by which its tests are counted. */
  report?: string;
}

export interface TddSteps {
  red: string;
  green: string;
  expect?: string;
}

/** What a worker must know of a bead. Each may be missing: then nobody works on the bead. */
export interface BeadFields {
  /** Paths and patterns of the repository: what may be changed. */
  files?: string[];
  verify?: Check[];
  /** Where the evidence is written besides its usual place: one path, or several. */
  verification_evidence?: string | string[];
  testing_mode?: TestingMode;
  tdd_steps?: TddSteps;
  decision_refs?: string[];
  learning_refs?: string[];
  /** Its work is to change what defines the checks. */
  changesChecks?: boolean;
  /** Of an epic: the name of its folder in `history`. */
  feature?: string;
}

export interface Dependency {
  id: string;
  /** `blocks`, `parent-child`, or any that an issue file brought. */
  type: string;
}

export interface Claim {
  worker: string;
  /** Each change by the worker carries it; a later claim has a higher one. */
  fence: number;
  at: string;
}

export interface Bead {
  id: string;
  title: string;
  type: string;
  status: string;
  priority: number;
  epic: string | null;
  body: string;
  labels: string[];
  dependencies: Dependency[];
  fields: BeadFields;
  /** The required fields that it lacks. */
  missing: string[];
  assignee: string | null;
  claim: Claim | null;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
  close_reason: string | null;
  revision: number;
}

/**
 * In the order in which they are told. An empty list of files or checks is as good as none; others may be empty: without
 * a path of its own the evidence is in its usual place alone.
 */
export function missingFields(type: string, fields: BeadFields): string[] {
  if (type === EPIC) return [];
  const missing: (keyof BeadFields)[] = [];
  if (!fields.files?.length) missing.push('files');
  if (!fields.verify?.length) missing.push('verify');
  if (!fields.verification_evidence) missing.push('verification_evidence');
  if (!fields.testing_mode) missing.push('testing_mode');
  if (fields.testing_mode === 'tdd-required' && !fields.tdd_steps) missing.push('tdd_steps');
  if (!fields.decision_refs) missing.push('decision_refs');
  if (!fields.learning_refs) missing.push('learning_refs');
  return missing;
}

/**
 * What nobody else may hold while it is worked on: its files, and the places of its evidence that another bead may name
 * too. Two that write their evidence to the same place are worked on one after the other, and never in each other's way.
 */
export function heldPaths({ id, fields }: Pick<Bead, 'id' | 'fields'>): string[] {
  const evidence = [fields.verification_evidence ?? []].flat();
  const shared = evidence.filter((path) => !path.endsWith(`/verification/${id}.md`));
  return [...new Set([...(fields.files ?? []), ...shared])];
}

/** The ids that a bead waits for, each once. */
export function blockersOf(dependencies: readonly Dependency[]): string[] {
  return [...new Set(dependencies.filter(({ type }) => type === BLOCKS).map(({ id }) => id))];
}

export function epicOf(dependencies: readonly Dependency[]): string | null {
  return dependencies.find(({ type }) => type === PARENT)?.id ?? null;
}

/** The feature of an epic. */
export function featureOf({ title, fields }: Pick<Bead, 'title' | 'fields'>): string {
  return fields.feature ?? slug(title);
}

/** Of beads without an epic. */
export const NO_FEATURE = 'general';

/**
 * A name for a folder: ASCII, small letters, words with dashes between. Where letters of another script are left out, a
 * few characters stand for the whole, so that two titles in that script are two names.
 */
export function slug(text: string): string {
  const plain = text.replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  const name = words.slice(0, 60).replace(/-+$/, '') || 'untitled';
  if (!/(?![a-z0-9])[\p{L}\p{N}]/u.test(plain)) return name;
  return `${name}-${createHash('sha256').update(text.normalize('NFC')).digest('hex').slice(0, 8)}`;
}

/** Where a bead's evidence lies unless it says otherwise. */
export function evidencePath(feature: string, id: string): string {
  return `history/${feature}/verification/${id}.md`;
}

/** An id is also the name of a file. */
export function isBeadId(id: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._:@+~-]{0,199}$/.test(id);
}
