/** Files of one directive a line: those lines are protected that speak of the checks. */
import { createPart, type Part } from './part.ts';

export function lineDirectives(name: string, protects: (line: string, block: string) => boolean): Part {
  const cut = (content: string) => {
    let block = '';
    return content.split('\n').map((line) => {
      const plain = line.replace(/(?:^|\s)(?:\/\/|#).*$/, '').trim();
      // `replace (` … `)` of go.mod.
      const opening = /^(\w+)\s*\($/.exec(plain);
      if (opening) block = opening[1]!;
      const isOwn = plain !== '' && protects(plain, block);
      const held = { line, plain: block !== '' && !opening ? `${block} ${plain}` : plain, isOwn };
      if (plain === ')') block = '';
      return held;
    });
  };
  return createPart({
    name,
    read: (content) =>
      cut(content)
        .filter(({ isOwn }) => isOwn)
        .map(({ plain }) => plain.replace(/\s+/g, ' '))
        .filter((plain) => !/\($|\)$/.test(plain))
        .join('\n'),
    merge(base, claim) {
      const free = cut(claim).filter(({ isOwn }) => !isOwn);
      const own = cut(base).filter(({ isOwn, plain }) => isOwn && !/\($|\)$/.test(plain));
      const text = free.map(({ line }) => line).join('\n');
      return `${text.replace(/\n*$/, '\n')}${own.map(({ plain }) => `${plain}\n`).join('')}`;
    },
  });
}

/** Where a module comes from instead; versions belong to the work. */
export const goMod: Part = lineDirectives('replace and exclude', (line, block) =>
  /^(?:replace|exclude|toolchain|tool|godebug)\b/.test(block === '' ? line : block),
);

/** How Gradle and its tests run; versions of libraries belong to the work. */
export const gradleProperties: Part = lineDirectives('settings of Gradle and of tests', (line) =>
  /^(?:org\.gradle|systemProp|kotlin\.|.*(?:(?<!la)test|skip|junit|jacoco|check))/i.test(line.split('=')[0]!),
);

/** Where a runner comes from, if that is not the registry. */
export const gemfile: Part = lineDirectives('where the runner comes from', (line) =>
  /\b(?:rspec|minitest|test-unit|cucumber|rubocop|simplecov|capybara)\b.*\b(?:path|git|github|source)\b/.test(
    line,
  ),
);
