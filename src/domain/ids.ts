/** Ids are text with a prefix that says what they name, then a UUIDv7: they sort by time of birth. */
export type SessionId = `ses_${string}`;
export type IterationId = `itr_${string}`;
export type TaskId = `tsk_${string}`;

/** Where randomness and time come from is the caller's choice, so that simulations repeat exactly. */
export interface IdSource {
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
}

export function uuidv7({ nowMs, randomBytes }: IdSource): string {
  const bytes = randomBytes(16);
  const now = nowMs();
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(now / 2 ** (8 * (5 - i))) & 0xff;
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A whole id, not the part of one that a person types. */
export function isSessionId(text: string): text is SessionId {
  return /^ses_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

export const newSessionId = (source: IdSource): SessionId => `ses_${uuidv7(source)}`;
export const newIterationId = (source: IdSource): IterationId => `itr_${uuidv7(source)}`;
export const newTaskId = (source: IdSource): TaskId => `tsk_${uuidv7(source)}`;

/** The four characters of an id that go into a branch name. They come from its random end, not its clock. */
export function shortId(id: string): string {
  return id.slice(-4);
}
