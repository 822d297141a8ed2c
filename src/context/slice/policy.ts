/** Which turns a slice prefers, and how many it takes (docs/protocol/context.md, Slices). */
import { PulseError } from '../../domain/errors.ts';
import type { Phase } from '../turns.ts';
import { hashOf } from './canonical.ts';

export interface SlicePolicy {
  /** Changed parameters need a new id: a slice's id is made of both. */
  id: string;
  params: SliceParams;
  paramsHash: string;
}

/** Aliases of one object are JSON. */
export type SliceParams = {
  maxNodes: number;
  radius: number;
  /** At most so many of a turn's siblings: those with the lowest ids. */
  siblings: number;
  decay: number;
  salienceWeight: number;
  phaseWeights: Record<Phase, number>;
};

const USUAL: SliceParams = {
  maxNodes: 256,
  radius: 10,
  siblings: 5,
  decay: 0.9,
  salienceWeight: 0.3,
  phaseWeights: { synthesis: 1, planning: 0.9, consolidation: 0.6, debugging: 0.5, exploration: 0.3 },
};

const POLICIES = new Map(
  [
    { id: 'default', params: USUAL },
    // For a quick look around a turn.
    { id: 'near', params: { ...USUAL, maxNodes: 32, radius: 3 } },
  ].map(({ id, params }): [string, SlicePolicy] => [id, { id, params, paramsHash: hashOf(params) }]),
);

export const DEFAULT_POLICY = POLICIES.get('default')!;

/** Throws `invalid_input` for an id that names none. */
export function policyOf(id: string): SlicePolicy {
  const policy = POLICIES.get(id);
  if (policy) return policy;
  throw new PulseError('invalid_input', `There is no policy "${id.slice(0, 60)}".`, {
    hint: `Policies: ${[...POLICIES.keys()].join(', ')}.`,
  });
}
