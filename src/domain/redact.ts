import { withoutSequences } from './control-characters.ts';
import { PLACE_RULES, type SecretRule, SHAPE_RULES, TOKEN_RULES } from './secret-rules.ts';
import {
  ADDRESS_PASSWORD,
  ADDRESS_TOKEN,
  isSecretArgument,
  isWeakSecret,
  NAMED_BEFORE,
  NO_SECRET,
  SECRET_NAME,
  VALUE,
  WEAK_NAME,
} from './secret-shapes.ts';

/**
 * Takes secrets out of what agents and commands print, before it is stored, shown or sent. The readable part stays:
 * `GITHUB_TOKEN=[redacted]`, `https://user:[redacted]@host`. Linear in the text's length; redacting twice changes
 * nothing more. Our own ids, UUIDs and git hashes are left alone.
 */
export interface Redactor {
  redact(text: string): string;
  /** A copy with every string redacted, and every string under a secret's name hidden whole. Cycles are cut. */
  redactJson<T>(value: T): T;
  /** Hides these as well. */
  adding(secrets: readonly string[]): Redactor;
}

const REDACTED = '[redacted]';
/** Characters of no width. */
const UNSEEN = /[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const HIDING = /[\u001b\u0080-\u009f\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]/;

/** Secrets that are known by value (keys from the environment) go as well. Values under 6 characters are ignored. */
export function createRedactor(extraSecrets: readonly string[]): Redactor {
  const known = knownSecrets(extraSecrets);
  const redactText = (text: string): string => {
    if (text.length < 6) return text;
    // What a reader does not see must not hide a secret: colours and joiners within one are taken out with it.
    const read = HIDING.test(text) ? withoutSequences(text).replace(UNSEEN, '') : text;
    const redacted = redactRead(read);
    return redacted === read ? text : redacted;
  };
  const redactRead = (text: string): string => {
    let before = text;
    // One secret's removal can lay another bare.
    for (let round = 0; round < 8; round++) {
      const after = before
        .split(REDACTED)
        .map((piece) => redactPiece(piece, known))
        .join(REDACTED);
      if (after === before) break;
      before = after;
    }
    return before;
  };
  return {
    redact: redactText,
    redactJson: (value) => redactValue(value, redactText, new WeakSet()) as typeof value,
    adding: (secrets) => createRedactor([...extraSecrets, ...secrets]),
  };
}

/** For text that comes line by line: a private key is hidden although no single line of it looks like one. */
export function redactLines(redactText: (text: string) => string): (line: string) => string {
  let keyLines = 0;
  return (line) => {
    const isInKey = keyLines > 0;
    keyLines = KEY_END.test(line) ? 0 : KEY_BEGIN.test(line) ? MAX_KEY_LINES : Math.max(0, keyLines - 1);
    return isInKey ? REDACTED : redactText(line);
  };
}

const { redact: redactPlain, redactJson: redactPlainJson } = createRedactor([]);
export const redact = redactPlain;
export const redactJson = redactPlainJson;

const KEY_BEGIN = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-Lines: \d/;
const KEY_END = /-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-MAC: [0-9a-f]{8,128}/;
const KEY_ENDS = /-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_LINE = /^[A-Za-z0-9+/=]{1,128}$/;
/** A key that is never closed does not hide what follows it for ever. */
const MAX_KEY_LINES = 300;

const GLUE = '\\\\?["\']?[ \\t]{0,4}(?::=|[:=])[ \\t]{0,4}';
const ASSIGNMENT = new RegExp(
  `(${SECRET_NAME})((?:_[A-Za-z0-9_]{1,30})?${GLUE})(${VALUE})(?![\\w.]{0,40}\\()`,
  'gi',
);
const WEAK_ASSIGNMENT = new RegExp(`(${WEAK_NAME})(${GLUE})(${VALUE})(?![\\w.]{0,40}\\()`, 'g');
const SECRET_KEY = new RegExp(`(?:${SECRET_NAME}|authorization|cookie)$`, 'i');
const WEAK_KEY = new RegExp(`(?:${WEAK_NAME})$`);

/** All at once: a pass for each would cost as many times as much. */
const TOKENS = new RegExp(
  `(?<![A-Za-z0-9])(?:${TOKEN_RULES.map(({ shape }) => shape.source).join('|')})`,
  'g',
);

function placed({ isSecret }: SecretRule): (found: string, before: string, value: string) => string {
  return (found, before, value) => (isSecret?.(value) === false ? found : before + REDACTED);
}

function redactPiece(piece: string, known: RegExp | null): string {
  let text = known ? piece.replace(known, REDACTED) : piece;
  for (const { shape, isSecret } of SHAPE_RULES)
    text = text.replace(shape, (found) => (isSecret?.(found) === false ? found : REDACTED));
  text = text.replace(TOKENS, REDACTED);
  for (const rule of PLACE_RULES) text = text.replace(rule.shape, placed(rule));
  return withoutKeyEnds(text)
    .replace(/(?<![A-Za-z0-9])sk-[\w-]{20,4096}/g, (found) => (/\d/.test(found) ? REDACTED : found))
    .replace(
      /(\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|token|digest|negotiate)[ \t]{1,4})?)(?!(?:bearer|basic|token|digest|negotiate)\b)([^\s"',;[\]]{4,4096})/gi,
      `$1${REDACTED}`,
    )
    .replace(/(\bbearer[ \t]{1,4})([\w.~+/=-]{8,4096})/gi, (found, name, value) =>
      /\d/.test(value) || value.length > 31 ? name + REDACTED : found,
    )
    .replace(ADDRESS_PASSWORD, REDACTED)
    .replace(ADDRESS_TOKEN, REDACTED)
    .replace(NAMED_BEFORE, redactArgument)
    .replace(ASSIGNMENT, redactAssignment)
    .replace(WEAK_ASSIGNMENT, redactWeakAssignment);
}

/** The end of a private key whose beginning was cut off, with the lines before it that are written as keys are. */
function withoutKeyEnds(text: string): string {
  let kept = '';
  let from = 0;
  for (const { index, 0: mark } of text.matchAll(KEY_ENDS)) {
    kept += text.slice(from, keyStart(text, from, index)) + REDACTED;
    from = index + mark.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}

function keyStart(text: string, from: number, end: number): number {
  let start = end;
  while (start > from && text[start - 1] === '\n') {
    const before = text.lastIndexOf('\n', start - 2) + 1;
    const line = text.slice(Math.max(before, from), start - 1).trimEnd();
    // The last line of a key may be short, and the first one that is left of it.
    const isWhole = start === end || before <= from || line.length >= 16;
    if (!isWhole || !KEY_LINE.test(line)) break;
    start = Math.max(before, from);
  }
  return start;
}

function redactAssignment(found: string, name: string, glue: string, value: string): string {
  const { quote, bare } = unquoted(value);
  if (NO_SECRET.test(bare)) return found;
  const isPassword = /^(?:pass|pwd)/i.test(name);
  if (!isPassword && /^\d{1,12}$/.test(bare)) return found;
  if (!isPassword && quote === '' && /:[ \t]*$/.test(glue) && /^[A-Za-z.]{1,15}$/.test(bare)) return found;
  return `${name}${glue}${quote}${REDACTED}`;
}

function redactWeakAssignment(found: string, name: string, glue: string, value: string): string {
  const { quote, bare } = unquoted(value);
  return isWeakSecret(name, bare) ? `${name}${glue}${quote}${REDACTED}` : found;
}

function redactArgument(found: string, name: string, value: string): string {
  const { quote, bare } = unquoted(value);
  return isSecretArgument(name, bare, { isQuoted: quote !== '' }) ? `${name}${quote}${REDACTED}` : found;
}

function unquoted(value: string): { quote: string; bare: string } {
  const quote = /^\\?["']/.exec(value)?.[0] ?? '';
  return { quote, bare: value.slice(quote.length) };
}

function knownSecrets(secrets: readonly string[]): RegExp | null {
  const usable = secrets
    .flatMap((secret) => [secret, secret.trim(), ...linesOf(secret)])
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
      ...encodings(secret),
    ])
    .filter((secret) => secret.length >= 6 && !REDACTED.includes(secret));
  if (usable.length === 0) return null;
  const longestFirst = [...new Set(usable)].sort((a, b) => b.length - a.length);
  return new RegExp(
    longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
  );
}

/** As programs write bytes; of a short one they could be anything. The end of base64 depends on what follows it. */
function encodings(secret: string): string[] {
  if (secret.length < 8) return [];
  const bytes = Buffer.from(secret);
  const whole = bytes.length - (bytes.length % 3);
  return [bytes.toString('hex'), bytes.toString('hex').toUpperCase()].concat(
    (['base64', 'base64url'] as const).flatMap((way) => [
      bytes.toString(way),
      bytes.subarray(0, whole).toString(way),
    ]),
  );
}

/** What is printed line by line is found by its lines; a short one may be any word. */
function linesOf(secret: string): string[] {
  return secret
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length >= 16);
}

function redactValue(value: unknown, redactText: (text: string) => string, above: WeakSet<object>): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value));
  if (!isPlain) return value;
  if (above.has(value)) return '[circular]';
  above.add(value);
  const copy = Array.isArray(value)
    ? value.map((item) => redactValue(item, redactText, above))
    : Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          redactText(key),
          typeof item === 'string' && isSecretUnder(key, item)
            ? REDACTED
            : redactValue(item, redactText, above),
        ]),
      );
  above.delete(value);
  return copy;
}

function isSecretUnder(key: string, value: string): boolean {
  if (value !== '' && SECRET_KEY.test(key)) return true;
  const weakName = WEAK_KEY.exec(key)?.[0];
  return weakName !== undefined && isWeakSecret(weakName, value);
}
