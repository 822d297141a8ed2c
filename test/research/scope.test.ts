import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  pinnedFiles,
  type Scope,
  scopeBreaches,
  scopeMatcher,
} from '../../src/loops/research/measure/scope.ts';
import { shellWords } from '../../src/loops/research/measure/shell-words.ts';
import { type Findings, firstViolation } from '../../src/loops/research/measure/violations.ts';

const words = (command: string): string[] => shellWords(command).map(({ text }) => text);
const scope = (given: Partial<Scope>): Scope => ({
  inScope: ['src/**'],
  readOnly: [],
  outOfScope: [],
  ...given,
});

describe('the words of a command', () => {
  it.each<[string, string[]]>([
    ['node bench.js --runs 3', ['node', 'bench.js', '--runs', '3']],
    [`node 'my bench.js'`, ['node', 'my bench.js', 'my', 'bench.js']],
    ['node my\\ bench.js', ['node', 'my bench.js', 'my', 'bench.js']],
    ['a;b&&c||d|e&f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['(cd x; ./run)', ['cd', 'x', './run']],
    ['cat <in.txt >out.txt 2>&1', ['cat', 'in.txt', 'out.txt', '2', '1']],
    ['echo a#b # note here', ['echo', 'a#b']],
    ['echo "a $(cat f.txt) b"', ['echo', 'cat', 'f.txt', 'a  b', 'a', 'b']],
    ['echo `cat f.txt`', ['echo', 'cat', 'f.txt', '']],
    [
      `bash -c "node 'x y.js' && ls"`,
      ['bash', '-c', `node 'x y.js' && ls`, 'node', 'x y.js', 'x', 'y.js', 'ls'],
    ],
    ['a \\\n b', ['a', 'b']],
    [`echo 'it'"'"'s'`, ['echo', "it's"]],
  ])('%s', (command, expected) => {
    expect(words(command)).toEqual(expected);
  });

  it('never throws and ends, whatever is written', () => {
    expect(shellWords('$('.repeat(5000))).toBeInstanceOf(Array);
    const symbols = fc.string({
      unit: fc.constantFrom(...'ab $(){}`\'"\\;|&<>#\n=@'.split('')),
      maxLength: 60,
    });
    fc.assert(
      fc.property(symbols, (command) => Array.isArray(shellWords(command))),
      { numRuns: 2000 },
    );
  });
});

describe('pinned files', () => {
  const tracked = [
    'bench.js',
    'data/big set.json',
    'lib/run.sh',
    'src/main.js',
    'test/a.js',
    'test/deep/b.js',
  ];

  it.each<[string, string[]]>([
    ['node bench.js', ['bench.js']],
    ['node ./bench.js', ['bench.js']],
    ['node "bench.js"', ['bench.js']],
    ["node bench.js < 'data/big set.json'", ['bench.js', 'data/big set.json']],
    ['cd lib && ./run.sh', ['lib/run.sh']],
    ['bash "$ROOT/lib/run.sh"', ['lib/run.sh']],
    ['bash $(pwd)/lib/run.sh', ['lib/run.sh']],
    [`sh -c 'node bench.js | tail -1'`, ['bench.js']],
    ['tool --config=bench.js', ['bench.js']],
    ['BENCH=bench.js make', ['bench.js']],
    ['curl -d @bench.js localhost', ['bench.js']],
    ['node --test test/', ['test/a.js', 'test/deep/b.js']],
    ['node --test test/*.js', ['test/a.js']],
    ['node src/main.js', []],
    ['echo bench.jsx; cat ../bench.js /bench.js', []],
    ['make # bench.js', []],
    ['cd lib && cat /run.sh', []],
    ['cd lib; cd ..; node bench.js', ['bench.js']],
  ])('of the command %s', (command, expected) => {
    expect(pinnedFiles([command], tracked, scope({}))).toEqual(expected);
  });

  it('are the read-only ones too, hidden files included', () => {
    const hidden = [...tracked, 'test/.fixture'];
    expect(pinnedFiles([], hidden, scope({ readOnly: ['test/**'] }))).toEqual([
      'test/.fixture',
      'test/a.js',
      'test/deep/b.js',
    ]);
  });

  it('are not those that inScope names', () => {
    expect(pinnedFiles(['node bench.js'], tracked, scope({ inScope: ['*.js'] }))).toEqual([]);
  });
});

describe('the scope', () => {
  it('names a change outside of it, and one that is pinned even if it is in scope', () => {
    const given = scope({ readOnly: ['src/fixed.ts'], outOfScope: ['src/vendor'] });
    const changed = ['src/a.ts', 'src/fixed.ts', 'src/vendor/x.ts', 'bench.js', 'README.md'];
    expect(scopeBreaches(changed, given, ['bench.js'])).toEqual([
      { path: 'src/fixed.ts', kind: 'pinned' },
      { path: 'src/vendor/x.ts', kind: 'outside' },
      { path: 'bench.js', kind: 'pinned' },
      { path: 'README.md', kind: 'outside' },
    ]);
  });
});

describe('a matcher of the scope', () => {
  it('says whose lines count', () => {
    const counts = scopeMatcher(scope({ outOfScope: ['src/vendor'] }));
    expect(['src/a.ts', 'src/vendor/x.ts', 'docs/a.md'].filter(counts)).toEqual(['src/a.ts']);
  });
});

describe('what is caught', () => {
  const clean: Findings = {
    breaches: [],
    stateLeft: [],
    patternMatches: 1,
    isGuardPassed: true,
    doesConfirmAgree: true,
  };

  it.each<[string, Partial<Findings>, string]>([
    ['pinned_file_changed', { breaches: [{ path: 'bench.js', kind: 'pinned' }] }, 'bench.js'],
    ['changed_outside_scope', { breaches: [{ path: 'x', kind: 'outside' }] }, 'x'],
    ['state_left_outside_commit', { stateLeft: ['cache/y'] }, 'cache/y'],
    ['pattern_not_once', { patternMatches: 2 }, '2 times'],
    ['pattern_not_once', { patternMatches: 0 }, '0 times'],
    ['guard_failed', { isGuardPassed: false }, 'guard'],
    ['confirm_disagrees', { doesConfirmAgree: false }, 'confirm'],
  ])('is named %s', (reason, found, told) => {
    const caught = firstViolation({ ...clean, ...found });
    expect(caught?.reason).toBe(reason);
    expect(caught?.text).toContain(told);
  });

  it('is nothing for an honest change, and nothing while guard and confirm were not asked', () => {
    expect(firstViolation(clean)).toBeNull();
    expect(
      firstViolation({ ...clean, patternMatches: null, isGuardPassed: null, doesConfirmAgree: null }),
    ).toBeNull();
  });
});
