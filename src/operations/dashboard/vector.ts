/** What a client of the live stream has: the newest event of each session it watches, and how new its cards are. */

export interface Vector {
  /** By session. */
  seqs: ReadonlyMap<string, number>;
  /** Every card that changed before this was sent; `null`: none was. */
  cardsMs: number | null;
}

const CARDS = 'cards';
const PART = /^(ses_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|cards):(\d{1,16})$/;

export function formatVector({ seqs, cardsMs }: Vector): string {
  const parts = [...seqs].map(([id, seq]) => `${id}:${seq}`);
  return [...parts, ...(cardsMs === null ? [] : [`${CARDS}:${cardsMs}`])].join(',');
}

/** `null`: it is none. */
export function parseVector(text: string): Vector | null {
  const parts = text === '' ? [] : text.split(',').map((part) => PART.exec(part));
  if (parts.some((part) => part === null || !Number.isSafeInteger(Number(part[2])))) return null;
  const values = new Map(parts.map((part) => [part![1]!, Number(part![2])]));
  const cardsMs = values.get(CARDS) ?? null;
  values.delete(CARDS);
  return { seqs: values, cardsMs };
}
