import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../src/referee/output/command-words.ts';
import { normaliseMessage } from '../../../src/referee/output/normalise.ts';
import { createPathMapper } from '../../../src/referee/output/paths.ts';
import { linesOf, plainText } from '../../../src/referee/output/plain-text.ts';

const ESC = String.fromCharCode(27);

describe('a message', () => {
  it.each([
    ['took 12 ms', 'took <duration>'],
    ['took 1.5s to start', 'took <duration> to start'],
    ['Timeout of 5000ms exceeded.', 'Timeout of <duration> exceeded'],
    ['at 2026-11-15T13:38:13.577Z', 'at <time>'],
    ['at 2026-11-15 13:38:13', 'at <time>'],
    ['started 13:38:13', 'started <time>'],
    ['cannot open /tmp/pulse-x81/file.txt', 'cannot open <tmp>'],
    ['cannot open /private/var/folders/ab/T/x.txt: gone', 'cannot open <tmp>: gone'],
    ['cannot open C:\\Users\\me\\AppData\\Local\\Temp\\x1.txt', 'cannot open <tmp>'],
    ['object at 0x7f91e7240210>', 'object at <address>>'],
    ['java.lang.Object@1b2c3d4e', 'java.lang.Object@<address>'],
    ['commit 59807616e1fa2540 is gone', 'commit <hash> is gone'],
    ['id 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'id <id>'],
    ['connect ECONNREFUSED 127.0.0.1:43121', 'connect ECONNREFUSED 127.0.0.1:<port>'],
    ['process 4711 died', 'process <n> died'],
    ['at src/a.ts:12:5', 'at src/a.ts'],
    ['in CartTest.java:14', 'in CartTest.java'],
    ['in Cart.cs:line 14', 'in Cart.cs:line <n>'],
    ['declared in lib.c(12,5)', 'declared in lib.c'],
    ['cart::add (line 3)', 'cart::add (line <n>)'],
    ['got 0.5464226467862104', 'got <n>'],
    ['at 1794749692438', 'at <n>'],
    ['coverage 81.2% below', 'coverage <n>% below'],
    ['two   words\tand\nmore ', 'two words and more'],
  ])('%j becomes %j', (raw, normal) => {
    expect(normaliseMessage(raw)).toBe(normal);
  });

  it.each([
    'Expected 2 arguments, but got 3',
    "Type 'string' is not assignable to type 'number'",
    'case 1 of 12 fails',
    'http2 is not supported',
    'error E0308 in v1.2.3',
    'façade is decade',
    'wait...',
  ])('%j stays as it is', (text) => {
    expect(normaliseMessage(text)).toBe(text);
  });

  it('loses the root of the worktree', () => {
    expect(normaliseMessage("no file '/repo/a/b.ts' in /repo, nor file:///repo/c.ts", ['/repo'])).toBe(
      "no file 'a/b.ts' in ., nor c.ts",
    );
  });
});

describe('a path', () => {
  const path = createPathMapper({ root: '/repo', cwd: '/repo/pkg', realRoot: '/private/repo' });

  it.each([
    ['/repo/src/a.ts', 'src/a.ts'],
    ['/private/repo/src/a.ts', 'src/a.ts'],
    ['src/a.ts', 'pkg/src/a.ts'],
    ['./a.ts', 'pkg/a.ts'],
    ['../other/a.ts', 'other/a.ts'],
    ['file:///repo/a%20b.ts', 'a b.ts'],
    ['file:///repo/50%.ts', '50%.ts'],
    ['/elsewhere/a.ts', '/elsewhere/a.ts'],
    ['/repository/a.ts', '/repository/a.ts'],
    ['src\\a.ts', 'pkg/src/a.ts'],
  ])('%s is told as %s', (given, told) => {
    expect(path(given)).toBe(told);
  });

  it('on Windows has forward slashes and no drive', () => {
    const windows = createPathMapper({ root: 'C:\\repo' });
    expect(windows('C:\\repo\\src\\a.cs')).toBe('src/a.cs');
  });
});

describe('the words of a command', () => {
  it.each([
    ['npx tsc -p .', [['tsc', '-p', '.']]],
    ['npx --no-install tsc && pnpm exec vitest run', [['tsc'], ['vitest', 'run']]],
    ['CI=1 node_modules/.bin/eslint "src dir"', [['eslint', 'src dir']]],
    ['python3 -m pytest -q', [['pytest', '-q']]],
    ['uv run --frozen pytest', [['pytest']]],
    ['timeout -k 5 60 ./gradlew test', [['gradlew', 'test']]],
    ['node node_modules/vitest/vitest.mjs run', [['vitest', 'run']]],
    [
      "echo 'a && b'; cargo test | tee log",
      [
        ['echo', 'a && b'],
        ['cargo', 'test'],
        ['tee', 'log'],
      ],
    ],
    ['npm run lint', [['npm', 'run', 'lint']]],
    ['', []],
  ])('%j are %j', (command, commands) => {
    expect(readCommand(command).commands).toEqual(commands);
  });

  it('tell where a leading cd goes', () => {
    expect([readCommand("cd 'my pkg' && go test").cd, readCommand('go test').cd]).toEqual(['my pkg', null]);
  });
});

describe('plain text', () => {
  it('has no colours, links and cursor movements', () => {
    const coloured = `${ESC}[1m${ESC}[31merror${ESC}[0m ${ESC}]8;;https://example.com${ESC}\\rule${ESC}]8;;${ESC}\\${ESC}[2K${ESC}[?25h`;
    expect(plainText(coloured)).toBe('error rule');
  });

  it('keeps what was written last over a line', () => {
    expect(linesOf('10%\r55%\r100%\r\ndone\r\n')).toEqual(['100%', 'done', '']);
  });
});
