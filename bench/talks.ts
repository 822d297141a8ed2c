/** Talks about things that have two names: those who ask use other words than those who answer, and both use common ones. */
import { contentHash } from '../src/context/turns.ts';

export interface SaidTurn {
  id: string;
  parentId: string | null;
  role: 'user' | 'assistant';
  content: string;
}

export interface Exchange {
  /** The turn that answers. */
  answer: string;
  questions: Record<'of the answer' | 'of the one who asked' | 'of neither, and one of the answer', string>;
}

interface Topic {
  asking: string[];
  answering: string[];
}

const TOPICS = 40;
const WORDS_OF_A_TOPIC = 16;
/** So many of the words of a topic are another topic's too. */
const SHARED = 0.3;
const COMMON = 500;
const TALKS = 130;
const SYLLABLES = 'ba ke lo mi nu ra se to vi zu da fe go hi ju pa re si ta wo'.split(' ');

export function generateTalks(random: () => number): { turns: SaidTurn[]; exchanges: Exchange[] } {
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
  const word = () => Array.from({ length: 3 }, () => pick(SYLLABLES)).join('');
  const some = (from: readonly string[], count: number): string[] => {
    const left = [...from];
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)[0]!);
  };
  const common = Array.from({ length: COMMON }, word);
  // Few words are said often, most seldom, as in any language.
  const usual = () => common[Math.floor(COMMON * random() ** 2.5)]!;
  const shared = Array.from({ length: TOPICS * 4 }, word);
  const ofTopic = () =>
    Array.from({ length: WORDS_OF_A_TOPIC }, () => (random() < SHARED ? pick(shared) : word()));
  const topics: Topic[] = Array.from({ length: TOPICS }, () => ({
    asking: ofTopic(),
    answering: ofTopic(),
  }));

  /** What it is about, more of its topic, and common words; now and then two as one identifier. */
  const say = (about: readonly string[], of: readonly string[]): string => {
    const words = [...about, ...about.slice(0, 2), ...some(of, 3)];
    for (let each = 12 + below(30); each > 0; each--) words.push(usual());
    const mixed = some(words, words.length);
    return mixed.map((each, at) => (at % 9 === 8 ? `${each}${capital(pick(about))}` : each)).join(' ');
  };

  const turns: SaidTurn[] = [];
  const exchanges: Exchange[] = [];
  const add = (turn: Omit<SaidTurn, 'id'>): string => {
    const hex = contentHash(`turn ${turns.length}`);
    const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
    turns.push({ id, ...turn });
    return id;
  };
  for (let talk = 0; talk < TALKS; talk++) {
    const about = [pick(topics), pick(topics)];
    let parentId: string | null = null;
    for (let each = 4 + below(6); each > 0; each--) {
      const topic = pick(about);
      const [asked, answered] = [some(topic.asking, 3), some(topic.answering, 3)];
      parentId = add({ parentId, role: 'user', content: say(asked, topic.asking) });
      // Who answers takes up a word of the question, more often than not.
      const taken = random() < 0.6 ? [pick(asked)] : [];
      const answer = add({
        parentId,
        role: 'assistant',
        content: say([...answered, ...taken], topic.answering),
      });
      parentId = answer;
      const others = some(
        [...topic.asking, ...topic.answering].filter(
          (one) => !asked.includes(one) && !answered.includes(one),
        ),
        2,
      );
      const ask = (words: readonly string[]) => [...words, usual(), usual()].join(' ');
      exchanges.push({
        answer,
        questions: {
          'of the answer': ask(answered),
          'of the one who asked': ask(asked),
          'of neither, and one of the answer': ask([...others, pick(answered)]),
        },
      });
    }
  }
  return { turns, exchanges: exchanges.filter((_, at) => at % 3 === 0) };
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
