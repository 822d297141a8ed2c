/** A slice's token says that Pulse made it: these turns, and no others, may be searched under its name. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './canonical.ts';

export interface SliceKey {
  id: string;
  secret: Uint8Array;
}

/** The newest first: it signs, the others still check what they signed. */
export type SliceKeys = readonly [SliceKey, ...SliceKey[]];

export interface SignedSlice {
  slice_id: string;
  turn_ids: readonly string[];
}

const TOKEN = /^([0-9a-f]{1,32})\.([0-9a-f]{32})$/;
const TOKEN_BYTES = 16;

export function signSlice([key]: SliceKeys, slice: SignedSlice): string {
  return `${key.id}.${codeOf(key, slice).toString('hex')}`;
}

/** In the same time for every wrong code. A key that has been taken away checks nothing. */
export function isAdmissible(keys: SliceKeys, slice: SignedSlice & { admissibility_token: string }): boolean {
  const [, keyId, code] = TOKEN.exec(slice.admissibility_token) ?? [];
  const key = keys.find(({ id }) => id === keyId);
  if (!key || code === undefined) return false;
  return timingSafeEqual(codeOf(key, slice), Buffer.from(code, 'hex'));
}

function codeOf({ secret }: SliceKey, { slice_id, turn_ids }: SignedSlice): Buffer {
  const signed = canonicalJson({ slice_id, turn_ids });
  return createHmac('sha256', secret).update(signed, 'utf8').digest().subarray(0, TOKEN_BYTES);
}
