/** Questions whose answers are known: what is said above each declaration of Pulse's own source, asked of the source without it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../../src', import.meta.url));
const SAID_ABOVE =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?=[ \t]*(?:export )?(?:async )?(?:function|const|class|interface))/g;
const MIN_WORDS = 6;

export interface Question {
  query: string;
  /** The file that was meant. */
  path: string;
}

/** Writes the source without its comments into `folder`. `rooms`: only these, instead of all. */
export function writeQuestions(folder: string, rooms?: readonly string[]): Question[] {
  const questions: Question[] = [];
  const isWanted = (name: string) => !rooms || rooms.some((room) => name.startsWith(`${room}/`));
  for (const name of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!name.endsWith('.ts') || !isWanted(name)) continue;
    const path = join('src', name);
    const text = readFileSync(join(SOURCE, name), 'utf8').replace(
      SAID_ABOVE,
      (comment: string, said: string) => {
        const query = said
          .replaceAll(/^\s*\*/gm, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim();
        if (query.split(' ').length >= MIN_WORDS) questions.push({ query: query.slice(0, 300), path });
        return comment.replaceAll(/[^\n]/g, '');
      },
    );
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return questions;
}

/** How many of the questions have the right file among the first five. */
export async function shareFound(
  questions: readonly Question[],
  ask: (query: string) => Promise<{ path: string }[]>,
): Promise<number> {
  let found = 0;
  for (const { query, path } of questions) {
    const paths = [...new Set((await ask(query)).map((hit) => hit.path))];
    if (paths.slice(0, 5).includes(path)) found++;
  }
  return found / questions.length;
}
