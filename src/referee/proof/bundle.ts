/** A proof as it is kept: the signed statements of one acceptance, in one file that is named by its content. */
import { createHash } from 'node:crypto';
import { PulseError } from '../../domain/errors.ts';
import { type Envelope, isSignedBy, openEnvelope, PAYLOAD_TYPE, parseExactly, sealEnvelope } from './dsse.ts';
import type { ProofKey, PublicProofKey } from './key.ts';
import {
  type AcceptedWork,
  type Detail,
  isAbout,
  type ProofInput,
  readAcceptedWork,
  readStatement,
  type Statement,
  statementsOf,
} from './statement.ts';

/** A reader refuses more without looking at it. */
export const MOST_BUNDLE_BYTES = 4 * 1024 * 1024;

export interface Bundle {
  name: string;
  text: string;
}

/**
 * The same input and key make the same bundle. Of what would be too large the least needed is left out. Throws
 * `invalid_input` where the input is not of its form.
 */
export function sealProof(input: ProofInput, key: Pick<ProofKey, 'id' | 'privateKey'>): Bundle {
  for (const detail of ['full', 'slim'] as const) {
    const text = sealed(input, { key, detail });
    if (Buffer.byteLength(text) <= MOST_BUNDLE_BYTES) return { name: bundleName(text), text };
  }
  throw new PulseError('too_large', `The proof of ${input.commit} would be larger than 4 MB.`);
}

function sealed(
  input: ProofInput,
  { key, detail }: { key: Pick<ProofKey, 'id' | 'privateKey'>; detail: Detail },
): string {
  let statements: Statement[];
  try {
    statements = statementsOf(input, detail);
  } catch (cause) {
    throw new PulseError('invalid_input', 'What the proof should say is not of its form.', { cause });
  }
  return `${statements.map((statement) => sealEnvelope(statement, key)).join('\n')}\n`;
}

/** Of a file that Pulse wrote, or says so. */
export function isBundleName(name: string): boolean {
  return /^pulse-[0-9a-f]{64}\.intoto\.jsonl$/.test(name);
}

/** Of a file with this content. */
export function bundleName(text: string | Uint8Array): string {
  return `pulse-${createHash('sha256').update(text).digest('hex')}.intoto.jsonl`;
}

/**
 * `known`: all of it is signed by a key of the list, of this commit and this tree. `unknown`: another key is named; what
 * it says is anybody's word. `wrong`: it is not what it says to be.
 */
export type ProofState = 'known' | 'unknown' | 'wrong';

export interface ExaminedProof {
  name: string;
  state: ProofState;
  /** Why it is wrong. */
  problem: string | null;
  keyId: string | null;
  /** Of an unknown key it may say anything. */
  work: AcceptedWork | null;
}

export interface Examination {
  commit: string;
  tree: string;
  keys: readonly PublicProofKey[];
}

/** Never throws: what lies in a repository may be anything. */
export function examineProof(
  { name, content }: { name: string; content: Buffer | null },
  { commit, tree, keys }: Examination,
): ExaminedProof {
  const judged = (state: ProofState, problem: string | null, more: Partial<ExaminedProof> = {}) => ({
    ...{ name, state, problem, keyId: null, work: null },
    ...more,
  });
  if (content === null) return judged('wrong', 'it is too large, or no file');
  if (bundleName(content) !== name) return judged('wrong', 'its content is not what its name says');
  const envelopes = readEnvelopes(content);
  const keyId = envelopes?.[0]?.keyId ?? null;
  if (!envelopes || keyId === null || envelopes.some((envelope) => envelope.keyId !== keyId))
    return judged('wrong', 'it is not written as Pulse writes it');
  const key = keys.find(({ id }) => id === keyId);
  // Before anything of it is believed, and before it is parsed.
  if (key && !envelopes.every((envelope) => isSignedBy(envelope, key.publicKey)))
    return judged('wrong', 'its signature does not fit what it says', { keyId });
  const statements = envelopes.map(readPayload);
  if (!statements.every((statement) => statement !== null && isAbout(statement, { commit, tree })))
    return judged('wrong', 'it is of another commit or tree', { keyId });
  const works = statements.flatMap((statement) => readAcceptedWork(statement!) ?? []);
  if (works.length !== 1)
    return judged('wrong', 'it does not say what was accepted in a way that this version knows', { keyId });
  return judged(key ? 'known' : 'unknown', null, { keyId, work: works[0]! });
}

function readEnvelopes(content: Buffer): Envelope[] | null {
  const text = content.toString('utf8');
  if (!text.endsWith('\n')) return null;
  const envelopes = text.slice(0, -1).split('\n').map(openEnvelope);
  const isOurs = (envelope: Envelope | null) => envelope?.payloadType === PAYLOAD_TYPE;
  return envelopes.every(isOurs) ? (envelopes as Envelope[]) : null;
}

function readPayload({ payload }: Envelope): Statement | null {
  return readStatement(parseExactly(payload.toString('utf8')));
}
