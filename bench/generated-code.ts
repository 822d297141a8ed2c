/** Files of code that nobody wrote: ten declarations each, with comments, of some sixty words. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../test/fakes/random.ts';

export const FUNCTIONS = 10;
const WORDS =
  'lease token owner harbour glacier mountain parser lexer branch commit worktree budget signal brief anchor slice turn merge queue worker daemon runner session iteration verify check room proof digest key cache index chunk vector word stem query rank score path file folder link watch event store row column migration retry limit clock bell socket server client request answer header body route'.split(
    ' ',
  );

/** The same files each time. `word` goes on drawing words that they have. */
export function writeFiles(root: string, files: number): { paths: string[]; word(): string } {
  const random = createRandom(7);
  const word = () => WORDS[Math.floor(random() * WORDS.length)]!;
  const name = () => `${word()}${capital(word())}${capital(word())}`;
  const paths: string[] = [];
  for (let file = 0; file < files; file++) {
    const folder = `src/${word()}/${word()}`;
    mkdirSync(join(root, folder), { recursive: true });
    const functions = Array.from({ length: FUNCTIONS }, () => {
      const lines = Array.from(
        { length: 6 },
        () => `  const ${name()} = ${word()}${capital(word())}(${name()});`,
      );
      return `/** The ${word()} of the ${word()} ${word()}s the ${word()}. */\nexport function ${name()}(${word()}: string) {\n${lines.join('\n')}\n}\n`;
    });
    paths.push(`${folder}/f${file}.ts`);
    writeFileSync(join(root, paths.at(-1)!), functions.join('\n'));
  }
  return { paths, word };
}

function capital(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1);
}
