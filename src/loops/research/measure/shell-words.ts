/**
 * The words of a shell command, those inside substitutions and quoted scripts included, for finding the files it names.
 * It runs and expands nothing and never throws.
 */

export interface ShellWord {
  /** Without quotes and escapes; what a variable or a command would put there is left out. */
  text: string;
  /** Something unknown stands before the text. */
  hasUnknownStart: boolean;
  /** An operator was before it: it is the first word of a command. */
  isFirst: boolean;
}

const MAX_DEPTH = 6;

export function shellWords(command: string, depth = 0): ShellWord[] {
  if (depth > MAX_DEPTH) return [];
  const words: ShellWord[] = [];
  let word: { text: string; hasUnknownStart: boolean } | null = null;
  let isFirst = true;
  let at = 0;

  const current = (): { text: string; hasUnknownStart: boolean } => {
    word ??= { text: '', hasUnknownStart: false };
    return word;
  };
  const finish = (): void => {
    if (word === null) return;
    words.push({ ...word, isFirst });
    if (/\s/.test(word.text)) words.push(...shellWords(word.text, depth + 1));
    [word, isFirst] = [null, false];
  };
  const unknown = (): void => {
    const held = current();
    if (held.text === '') held.hasUnknownStart = true;
  };
  /** At a `$` or a backtick: leaves it out and reads what is inside it. */
  const skipExpansion = (): void => {
    unknown();
    const inside = expansionAt(command, at);
    if (inside.script !== null) words.push(...shellWords(inside.script, depth + 1));
    at = inside.end;
  };

  while (at < command.length) {
    const character = command[at]!;
    if (character === "'") {
      const end = endOf(command, "'", at + 1);
      current().text += command.slice(at + 1, end);
      at = end + 1;
    } else if (character === '"') {
      current();
      for (at++; at < command.length && command[at] !== '"'; ) {
        if (command[at] === '\\' && /[$`"\\\n]/.test(command[at + 1] ?? '')) {
          current().text += command[at + 1] === '\n' ? '' : command[at + 1];
          at += 2;
        } else if (command[at] === '$' || command[at] === '`') skipExpansion();
        else current().text += command[at++];
      }
      at++;
    } else if (character === '\\') {
      if (command[at + 1] !== '\n') current().text += command[at + 1] ?? '';
      at += 2;
    } else if (character === '$' || character === '`') skipExpansion();
    else if (character === '#' && word === null) at = endOf(command, '\n', at);
    else if (/\s/.test(character)) {
      finish();
      if (character === '\n') isFirst = true;
      at++;
    } else if (/[;&|()<>]/.test(character)) {
      finish();
      if (!/[<>]/.test(character)) isFirst = true;
      at++;
    } else {
      current().text += character;
      at++;
    }
  }
  finish();
  return words;
}

/** What `$…` or a backtick at this place is, and where it ends. */
function expansionAt(command: string, at: number): { script: string | null; end: number } {
  if (command[at] === '`') {
    const end = endOf(command, '`', at + 1);
    return { script: command.slice(at + 1, end), end: end + 1 };
  }
  const next = command[at + 1];
  if (next === '(' || next === '{') {
    const end = closing(command, at + 1, next === '(' ? ')' : '}');
    return { script: next === '(' ? command.slice(at + 2, end) : null, end: end + 1 };
  }
  const name = /^\$(?:\w+|[@*#?$!-])/.exec(command.slice(at, at + 256));
  return { script: null, end: at + (name?.[0].length ?? 1) };
}

/** The bracket that closes the one at `open`, quotes left out of account. */
function closing(command: string, open: number, close: string): number {
  let depth = 0;
  for (let at = open; at < command.length; at++) {
    const character = command[at]!;
    if (character === '\\') at++;
    else if (character === "'") at = endOf(command, "'", at + 1);
    else if (character === command[open]) depth++;
    else if (character === close && --depth === 0) return at;
  }
  return command.length;
}

function endOf(command: string, character: string, from: number): number {
  const found = command.indexOf(character, from);
  return found < 0 ? command.length : found;
}
