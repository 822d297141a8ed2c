/** What a person types at a terminal in raw mode, key by key. */
import { StringDecoder } from 'node:string_decoder';

/** A key that is no character, by its name; or the characters themselves, of one key or of a paste. */
export type Key = { name: KeyName } | { text: string };
export type KeyName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page_up'
  | 'page_down'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'backspace'
  | 'interrupt'
  | 'kill_line'
  /** The person looks here, or elsewhere, as far as the terminal tells. */
  | 'focus'
  | 'blur';

const SEQUENCES: Record<string, KeyName> = {
  '[A': 'up',
  OA: 'up',
  '[B': 'down',
  OB: 'down',
  '[C': 'right',
  OC: 'right',
  '[D': 'left',
  OD: 'left',
  '[H': 'home',
  OH: 'home',
  '[1~': 'home',
  '[F': 'end',
  OF: 'end',
  '[4~': 'end',
  '[5~': 'page_up',
  '[6~': 'page_down',
  '[I': 'focus',
  '[O': 'blur',
};

const CONTROLS: Record<string, KeyName> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'interrupt',
  '\x04': 'interrupt',
  '\x15': 'kill_line',
};

/** Reads chunks as they come. A character or a sequence that is cut in two is joined; unknown sequences are passed over. */
export function createKeyReader(): (chunk: Buffer) => Key[] {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (chunk) => {
    const { keys, left } = readKeys(rest + decoder.write(chunk));
    rest = left;
    return keys;
  };
}

function readKeys(typed: string): { keys: Key[]; left: string } {
  const keys: Key[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') keys.push({ text });
    text = '';
  };
  for (let at = 0; at < typed.length; ) {
    const letter = typed[at]!;
    if (letter === '\x1b') {
      flush();
      const behind = typed.slice(at + 1);
      const [sequence = ''] = SEQUENCE.exec(behind) ?? [];
      // Escape itself comes alone; the beginning of a sequence waits for its end.
      if (sequence === '' && /^[[O][\d;]*$/.test(behind)) return { keys, left: typed.slice(at) };
      if (sequence === '') keys.push({ name: 'escape' });
      else if (SEQUENCES[sequence]) keys.push({ name: SEQUENCES[sequence] });
      at += 1 + sequence.length;
      continue;
    }
    const name = CONTROLS[letter];
    if (name) {
      flush();
      keys.push({ name });
    } else if (letter >= ' ') text += letter;
    at += 1;
  }
  flush();
  return { keys, left: '' };
}

const SEQUENCE = /^(?:O[A-Z]|\[[\d;]*[A-Za-z~])/;
