/** What fits into a text message of two parts, and what a phone without emoji can show. Pure. */
import { cut } from '../../domain/cut.ts';

/** The alphabet of text messages (GSM 03.38): one character outside of it makes each of them cost more than twice. */
const GSM = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** These need two places. */
const DOUBLE = new Set('^{}\\[~]|€');
const SAME: Record<string, string> = {
  ...{ '`': "'", '‘': "'", '’': "'", '“': '"', '”': '"', '–': '-', '—': '-', '…': '...', '\t': ' ' },
};
/** Two parts, less what is lost where a character of two places would stand in both. */
const MOST = { emoji: 2 * 67 - 1, plain: 2 * 153 - 1 };
const DOTS = '...';

/** With the tag at its end, whole. */
export function fitText(text: string, { isPlain, tag }: { isPlain: boolean; tag: string }): string {
  if (!isPlain) return `${cut(text, MOST.emoji - tag.length)}${tag}`;
  const most = MOST.plain - tag.length;
  const words = plainText(text);
  return `${placesOf(words) <= most ? words : `${takePlaces(words, most - DOTS.length)}${DOTS}`}${tag}`;
}

export function plainText(text: string): string {
  const bare = text.normalize('NFC').replaceAll(/\p{Extended_Pictographic}\ufe0f?\s*/gu, '');
  return Array.from(bare, (sign) => {
    if (isKnown(sign)) return sign;
    const [base = ''] = sign.normalize('NFD');
    return SAME[sign] ?? (isKnown(base) ? base : '?');
  }).join('');
}

function isKnown(sign: string): boolean {
  return GSM.has(sign) || DOUBLE.has(sign);
}

function placesOf(words: string): number {
  return Array.from(words).reduce((sum, sign) => sum + (DOUBLE.has(sign) ? 2 : 1), 0);
}

function takePlaces(words: string, most: number): string {
  let left = most;
  let end = 0;
  for (const sign of words) {
    left -= DOUBLE.has(sign) ? 2 : 1;
    if (left < 0) break;
    end += sign.length;
  }
  return words.slice(0, end);
}
