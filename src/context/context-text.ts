/** The turns of an iteration's context as a brief quotes them: once, and nothing that it says elsewhere. */
import { redact } from '../domain/redact.ts';
import type { AnchorStrategy } from './anchors.ts';
import { fenced } from './fence.ts';
import type { Turn } from './turns.ts';

export type QuotedTurn = Pick<Turn, 'id' | 'role' | 'phase' | 'iteration' | 'content'>;

export interface QuotedContext {
  strategy: AnchorStrategy;
  /** The anchor. */
  turn: QuotedTurn;
  /** Of its slice, best first. */
  more?: readonly QuotedTurn[];
}

/** Less than this of a turn helps nobody. */
const LEAST_ROOM = 200;
const MOST_OF_A_TURN = 2_000;
const MOST_OF_ALL = 12_000;
/** A turn can have any length, and a brief cannot. */
const MOST_LOOKED_AT = 100_000;
/** A shorter line is not known again; of a longer one so much is enough, because a summary may have cut the rest. */
const TELLING = 16;
const ENOUGH = 60;
const SIGNAL_LINE = /^\s*<signal>[^<]{0,2000}<\/signal>\s*$/i;
const PROTOCOL =
  /<anchor_hint>[\s\S]{0,2000}?<\/anchor_hint>|<signal>[^<]{0,2000}<\/signal>|<\/?(?:signal|anchor_hint|checks_changed|turn_id|reason)>/gi;

/** `said`: what the brief says elsewhere. Made once, it quotes as much as there is room for; '' where that is too little. */
export function createContextQuote(
  { strategy, turn, more = [] }: QuotedContext,
  said: string,
): (room: number) => string {
  const known = createSaid(said);
  const own = known.take(turn.content);
  const others = more
    .map((each) => ({ name: nameOf(each), content: known.take(each.content) }))
    .filter(({ content }) => content !== '');
  const chosen = `Turn ${nameOf(turn)}, chosen as the ${strategy} anchor`;
  return (room) => {
    if (room < LEAST_ROOM) return '';
    const parts = [
      own === '' ? `${chosen}; what it says was told already.` : `${chosen}:\n\n${fenced(clip(own, room))}`,
    ];
    let left = Math.min(room - own.length, MOST_OF_ALL);
    for (const { name, content } of others) {
      if (left < LEAST_ROOM) break;
      const quoted = clip(content, Math.min(left, MOST_OF_A_TURN));
      parts.push(`Turn ${name}:\n\n${fenced(quoted)}`);
      left -= quoted.length;
    }
    return `# Context\n\n${parts.join('\n\n')}`;
  };
}

/** Which tools a run has to look more up; named only where it has them. */
export const TOOLS_SECTION = `# What you can look up

By MCP, or in a shell as \`pulse tool NAME '{"query":"…"}'\`:

- \`pulse_context_search {query}\`: what was said in this project that helps with these words.
- \`pulse_context_turn {turn_id}\`: a turn as it was said.
- \`semantic_search {query}\`: the places in the code that are about something.`;

function nameOf({ id, role, phase, iteration }: QuotedTurn): string {
  return `\`${id}\` (${role}, ${phase}${iteration === null ? '' : `, iteration ${iteration}`})`;
}

/** Remembers what was said, in order to say it once. */
function createSaid(text: string): { take(content: string): string } {
  let said = plain(text);
  return {
    take(content) {
      // A net under the redaction of what is stored.
      const whole = redact(content.slice(0, MOST_LOOKED_AT).toWellFormed());
      if (said.includes(plain(whole))) return '';
      const kept = whole
        .split(/\r\n|[\n\r]/)
        .filter((line) => !SIGNAL_LINE.test(line) && !isSaid(said, plain(line)))
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim();
      said += ` ${plain(kept)}`;
      return kept;
    },
  };
}

/** A short line may be anything: a bracket, a yes. */
function isSaid(said: string, line: string): boolean {
  return line.length >= TELLING && said.includes(line.slice(0, ENOUGH));
}

/** Without what a summary takes out: what is for the protocol, emphasis, breaks. */
function plain(text: string): string {
  return text
    .replace(PROTOCOL, ' ')
    .replace(/`+|\*\*|__/g, '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

function clip(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, Math.max(0, room)).toWellFormed()}\n[… cut]`;
}
