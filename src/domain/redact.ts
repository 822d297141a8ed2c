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

/** Secrets that are known by value (keys from the environment) go as well. Values under 6 characters are ignored. */
export function createRedactor(extraSecrets: readonly string[]): Redactor {
  const known = knownSecrets(extraSecrets);
  const redactText = (text: string): string => {
    if (text.length < 6) return text;
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

const KEY_BEGIN = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/;
const KEY_END = /-----END [A-Z ]{0,30}PRIVATE KEY-----/;
const KEY_ENDS = new RegExp(KEY_END, 'g');
const KEY_LINE = /^[A-Za-z0-9+/=]{1,128}$/;
/** A key that is never closed does not hide what follows it for ever. */
const MAX_KEY_LINES = 300;

/** Tokens that say what they are. Each starts where no word runs on into it, and no pattern can backtrack far. */
const TOKENS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\w+/=\s\\,:]|-(?!-)){0,16384}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  /(?<![A-Za-z0-9])sk-ant-[\w-]{8,4096}/g,
  /(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin|or-v1)-[\w-]{8,4096}/g,
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,4096}|github_pat_\w{16,4096}|glpat-[\w-]{16,4096}|xox[abeoprs]-[\w-]{8,4096}|xapp-[\w-]{16,4096})/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9])(?:AIza[\w-]{30,4096}|ya29\.[\w-]{20,4096}|npm_[A-Za-z0-9]{30,4096}|hf_[A-Za-z0-9]{30,4096}|gsk_[A-Za-z0-9]{30,4096})/g,
  /(?<![A-Za-z0-9])(?:[sr]k|pk|whsec)_(?:live|test)_[A-Za-z0-9]{10,4096}/g,
  /(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,4096}(?:\.[\w-]{0,4096})?/g,
  /(?<![\w-])\d{8,10}:[\w-]{35}(?![\w-])/g,
];

const SECRET_NAME =
  'pass(?:word|wd|phrase)|pwd|secret|token|credentials?|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key';
const VALUE = `\\\\?"[^"\\\\\\n]{1,4096}|\\\\?'[^'\\\\\\n]{1,4096}|[^\\s"'\`,;&(){}<>[\\]|=$\\\\][^\\s"'\`,;&(){}<>[\\]|\\\\]{0,4095}`;
const ASSIGNMENT = new RegExp(
  `(${SECRET_NAME})((?:_[A-Za-z0-9_]{1,30})?\\\\?["']?[ \\t]{0,4}(?::=|[:=])[ \\t]{0,4})(${VALUE})(?![\\w.]{0,40}\\()`,
  'gi',
);
const SECRET_KEY = new RegExp(`(?:${SECRET_NAME}|authorization|cookie)$`, 'i');
/** What stands after a secret's name in code and documents without being a secret. */
const NO_SECRET =
  /^(?:string|number|boolean|object|any|unknown|never|void|null|nil|none|undefined|true|false|await|new|required|optional|missing|empty|invalid|expired|process\.env\S*|os\.environ\S*|import\.meta\S*|env\.\S*|\*+|x+|\.+|-+)$/i;

function redactPiece(piece: string, known: RegExp | null): string {
  let text = known ? piece.replace(known, REDACTED) : piece;
  for (const token of TOKENS) text = text.replace(token, REDACTED);
  return withoutKeyEnds(text)
    .replace(/(?<![A-Za-z0-9])sk-[\w-]{20,4096}/g, (found) => (/\d/.test(found) ? REDACTED : found))
    .replace(
      /(\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|token|digest|negotiate)[ \t]{1,4})?)(?!(?:bearer|basic|token|digest|negotiate)\b)([^\s"',;[\]]{4,4096})/gi,
      `$1${REDACTED}`,
    )
    .replace(/(\bbearer[ \t]{1,4})([\w.~+/=-]{8,4096})/gi, (found, name, value) =>
      /\d/.test(value) || value.length > 31 ? name + REDACTED : found,
    )
    .replace(/(?<=:\/\/[^\s/:@"'<>[\]]{0,128}:)[^\s/"'<>[\]]{1,256}(?=@)/g, REDACTED)
    .replace(ASSIGNMENT, redactAssignment);
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
  const quote = /^\\?["']/.exec(value)?.[0] ?? '';
  const bare = value.slice(quote.length);
  if (NO_SECRET.test(bare)) return found;
  const isPassword = /^(?:pass|pwd)/i.test(name);
  if (!isPassword && /^\d{1,12}$/.test(bare)) return found;
  if (!isPassword && quote === '' && /:[ \t]*$/.test(glue) && /^[A-Za-z.]{1,15}$/.test(bare)) return found;
  return `${name}${glue}${quote}${REDACTED}`;
}

function knownSecrets(secrets: readonly string[]): RegExp | null {
  const usable = secrets
    .flatMap((secret) => [secret, secret.trim(), ...linesOf(secret)])
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      JSON.stringify(secret).slice(1, -1),
    ])
    .filter((secret) => secret.length >= 6 && !REDACTED.includes(secret));
  if (usable.length === 0) return null;
  const longestFirst = [...new Set(usable)].sort((a, b) => b.length - a.length);
  return new RegExp(
    longestFirst.map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
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
          typeof item === 'string' && item !== '' && SECRET_KEY.test(key)
            ? REDACTED
            : redactValue(item, redactText, above),
        ]),
      );
  above.delete(value);
  return copy;
}
