import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseShell } from '../../../src/tools/work/shell-parser.ts';
import { SEED } from '../../lanes/lane.ts';

const words = (script: string, variables = {}) =>
  parseShell(script, variables).map((command) => command.words.map(({ text }) => text));

describe('the shell parser', () => {
  it('takes words as bash does, however they are quoted', () => {
    const piece = fc.oneof(
      fc.stringMatching(/^[a-z./=-]{1,4}$/).map((text) => text),
      fc.stringMatching(/^[a-z ;&|<>()$`"#]{0,5}$/).map((text) => `'${text}'`),
      fc.stringMatching(/^[a-z ;&|<>()#']{0,5}$/).map((text) => `"${text}"`),
      fc.constantFrom('\\ ', '\\;', '\\"', "\\'", '\\$', "$'\\x41'", "$'a\\nb'", '"\\$"', '"\\a"'),
    );
    const word = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const lists = fc.sample(fc.array(word, { minLength: 1, maxLength: 4 }), { numRuns: 150, seed: SEED });
    const scripts = lists.map((list) => `printf '%s\\0' ${list.join(' ')}`);
    // One bash for all of them: to start one takes longer than everything else here.
    const said = execFileSync('bash', ['-c', scripts.join("\nprintf '\\1'\n")], { encoding: 'utf8' }).split(
      '\x01',
    );
    for (const [index, script] of scripts.entries()) {
      const expected = said[index]!.split('\0').slice(0, -1);
      expect(words(script), script).toEqual([['printf', '%s\\0', ...expected]]);
    }
  });

  it.each([
    ['a b; c && d || e | f & g', [['a', 'b'], ['c'], ['d'], ['e'], ['f'], ['g']]],
    ['a\nb # c d\n e', [['a'], ['b'], ['e']]],
    ['if a; then b; else c; fi', [['a'], ['b'], ['c'], ['fi']]],
    ['(a; b) && { c; }', [['a'], ['b'], ['c'], ['}']]],
    ['! a', [['a']]],
    [
      'a "$(b c)" d',
      [
        ['b', 'c'],
        ['a', '', 'd'],
      ],
    ],
    ['a `b \\`c\\`` d', [['c'], ['b', ''], ['a', '', 'd']]],
    ['a <(b) >(c)', [['b'], ['c'], ['a']]],
    ['a 2>&1 >/dev/null 2> err', [['a']]],
    [`a $HOME/x \${HOME}/y`, [['a', '/h/x', '/h/y']]],
    ['A=1 b', [['A=1', 'b']]],
    ['a \\\n b', [['a', 'b']]],
    ['', []],
  ])('reads %j', (script, expected) => {
    expect(words(script, { HOME: '/h' })).toEqual(expected);
  });

  it('knows what is written to', () => {
    const targets = (script: string) =>
      parseShell(script).flatMap((command) => command.writes.map(({ text }) => text));
    expect(targets('a > b 2>>c &>d >| "e f" 2>&1 <g >&h')).toEqual(['b', 'c', 'd', 'e f', 'h']);
    expect(targets('cat <<EOF > out\n> not this\nEOF\necho x >after')).toEqual(['out', 'after']);
  });

  it('keeps a here-document apart from the commands, and runs what it substitutes', () => {
    const script = 'cat <<\'A\' <<-B\n$(not run)\nA\n\t$(run me) "x"\n\tB\nnext';
    expect(words(script)).toEqual([['run', 'me'], ['cat'], ['next']]);
    expect(parseShell('sh <<E\na\nb\nE')[0]?.input).toBe('a\nb');
  });

  it('says when a word is not all there', () => {
    const [command] = parseShell('a "$X/y" $(z) b$1 plain');
    const [inner, outer] = [command, parseShell('a "$X/y" $(z) b$1 plain')[1]];
    expect(inner?.words.map(({ text }) => text)).toEqual(['z']);
    expect(outer?.words.map(({ isWhole }) => isWhole)).toEqual([true, false, false, false, true]);
  });

  it('never fails and never takes long, whatever it is given', () => {
    const noise = fc.string({
      unit: fc.constantFrom(
        'a',
        ' ',
        '$',
        '(',
        ')',
        '{',
        '}',
        '`',
        '"',
        "'",
        '\\',
        '<',
        '>',
        '&',
        '|',
        ';',
        '\n',
        '#',
        '-',
      ),
      maxLength: 60,
    });
    fc.assert(
      fc.property(noise, (script) => {
        expect(Array.isArray(parseShell(script))).toBe(true);
      }),
      { numRuns: 2000 },
    );
    for (const unit of ['$(', '(', '`', '"$(', "'", '<<a\n', '${', '\\']) {
      expect(Array.isArray(parseShell(unit.repeat(20_000)))).toBe(true);
    }
  });
});
