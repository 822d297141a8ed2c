/** What somebody writes to Pulse in a chat. Pure. */

export type ChatCommand =
  | { do: 'start'; project: string; goal: string }
  | { do: 'status' }
  | { do: 'pause' | 'abort'; session: string }
  | { do: 'resume'; session: string; answer: string }
  | { do: 'pair'; code: string }
  | { do: 'help' }
  /** A button; `text`: the words that it asked for. */
  | { do: 'press'; action: string; text: string | null }
  /** Plain words: the answer to what was asked. `tag`: they end like the tag of a session. */
  | { do: 'answer'; text: string; tag?: { session: string; text: string } };

const NAMES = ['start', 'status', 'pause', 'resume', 'abort', 'pair', 'help'] as const;

/** As a bot offers them. */
export const OFFERED = [
  { command: 'status', description: 'The newest sessions' },
  { command: 'start', description: 'PROJECT GOAL: start a session' },
  { command: 'resume', description: 'ID ANSWER: answer what it asked' },
  { command: 'pause', description: 'ID: pause after the current iteration' },
  { command: 'abort', description: 'ID: abort' },
  { command: 'help', description: 'What can be written here' },
];

export const HELP = [
  'start PROJECT GOAL',
  'status',
  'pause ID',
  'resume ID ANSWER',
  'abort ID',
  'Plain words answer the question of a session that waits.',
].join('\n');

/**
 * `needsSlash`: words are commands only after a slash, as a bot's are. Where somebody uses a command's name and not its
 * form, they are told the form.
 */
export function readWords(text: string, { needsSlash }: { needsSlash: boolean }): ChatCommand {
  const trimmed = text.trim();
  const match = /^(\/?)([a-z]+)(?:@\w+)?(?:\s+([\s\S]*))?$/i.exec(trimmed);
  const name = NAMES.find((known) => known === match?.[2]?.toLowerCase());
  const isCommand = name !== undefined && (match![1] === '/' || !needsSlash);
  if (!isCommand) return trimmed.startsWith('/') ? { do: 'help' } : { do: 'answer', text: trimmed };
  const rest = match![3]?.trim() ?? '';
  const [first = '', ...words] = rest.split(/\s+/);
  const tail = rest.slice(first.length).trim();
  switch (name) {
    case 'status':
      return { do: 'status' };
    case 'start':
      return first && words.length > 0 ? { do: 'start', project: first, goal: tail } : { do: 'help' };
    case 'pause':
    case 'abort':
      return first ? { do: name, session: first } : { do: 'help' };
    case 'resume':
      return first ? { do: 'resume', session: first, answer: tail } : { do: 'help' };
    case 'pair':
      return first ? { do: 'pair', code: first } : { do: 'help' };
    default:
      return { do: 'help' };
  }
}
