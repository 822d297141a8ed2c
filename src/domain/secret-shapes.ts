/** What secrets look like by the names and signs around them: addresses, arguments, assignments. */

/** The password of an address, as it stands there. */
export const ADDRESS_PASSWORD = /(?<=:\/\/[^\s/:@"'<>[\]]{0,128}:)[^\s/"'<>[\]]{1,256}(?=@)/g;
/** What stands alone before the host of a web address: a token, where it is none of the names that people have. */
export const ADDRESS_TOKEN =
  /(?<=\bhttps?:\/\/)(?=[^\s/:@"'<>[\]]{32}|[^\s/:@"'<>[\]\d]{0,256}\d)[^\s/:@"'<>[\]]{10,256}(?=@)/gi;

/** A value as it stands after a name: quoted, or up to the next thing. The quote is part of it, the closing one is not. */
export const VALUE = `\\\\?"[^"\\\\\\n]{1,4096}|\\\\?'[^'\\\\\\n]{1,4096}|[^\\s"'\`,;&(){}<>[\\]|=$\\\\][^\\s"'\`,;&(){}<>[\\]|\\\\]{0,4095}`;
/** An argument after the option that names it, and a line of `.netrc`; prose has the same form with plain words. */
export const NAMED_BEFORE = new RegExp(
  `((?<![\\w-])--?(?:[a-z0-9]{1,20}-){0,4}(?:pass(?:word|wd|phrase)?|pwd|token|secret|(?:api|access|auth)-?key)[ \\t]{1,4}|^[ \\t]{0,8}password[ \\t]{1,4})(${VALUE})`,
  'gm',
);

/** The names of secrets, wherever they stand in a longer name. */
export const SECRET_NAME =
  'pass(?:word|wd|phrase)|pwd|secret|token|credentials?|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key';

/** Names that end in these are secrets' or not: what they hold decides. `bypass` and `monkey` are words. */
const WEAK_ENDS = [
  '(?<=[A-Z0-9])_(?:PASS|PWD|PW|PAT|AUTH)',
  '(?<=[a-z0-9])_(?:pass|pw)',
  '(?<=[a-z])Pass',
  '(?<=[A-Z0-9])(?<!PUBLIC|PRIMARY|FOREIGN|UNIQUE|CACHE|SORT|PARTITION|HASH|INDEX|ROW|OBJECT|GROUP|IDEMPOTENCY)_KEY',
].join('|');
export const WEAK_NAME = `(?:${WEAK_ENDS})(?:_?\\d{1,3})?`;

/** What stands after a secret's name in code and documents without being a secret. */
export const NO_SECRET =
  /^(?:string|number|boolean|object|any|unknown|never|void|null|nil|none|undefined|true|false|await|new|required|optional|missing|empty|invalid|expired|process\.env\S*|os\.environ\S*|import\.meta\S*|env\.\S*|\*+|x+|\.+|-+)$/i;

/** Whether a value under a weak name is a secret: no path, no count, no plain word (but for a variable's password). */
export function isWeakSecret(name: string, value: string): boolean {
  if (NO_SECRET.test(value) || /^(?:~|\.{0,2})\//.test(value) || /^\d{1,5}$/.test(value)) return false;
  const isPassword = /_(?:PASS|PWD?)(?:_?\d+)?$/.test(name);
  if (isPassword) return value.length >= 4;
  return isUnlikeWord(value, /key|auth|pat/i.test(name) ? 8 : 6);
}

/** Whether the word after an option is its secret; the option may also be spoken of, or be a number's. */
export function isSecretArgument(name: string, value: string, { isQuoted }: { isQuoted: boolean }): boolean {
  if (NO_SECRET.test(value) || value.startsWith('-')) return false;
  if (!/pass|pwd/.test(name) && /^\d{1,12}$/.test(value)) return false;
  return isUnlikeWord(value, 4) || (isQuoted && value.length >= 4);
}

/** Whether something that may as well be prose is none: figures among its letters, or longer than words are. */
function isUnlikeWord(value: string, least: number): boolean {
  if (value.length >= 20) return true;
  return value.length >= least && /[^A-Za-z.:-]/.test(value) && !/^[A-Z_]+$/.test(value);
}
