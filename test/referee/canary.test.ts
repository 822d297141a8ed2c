/** Tests that must fail, put beside those of a claim: code under test cannot end the run in silence. */
import { describe, expect, it } from 'vitest';
import { findSilenced, plantCanaries } from '../../src/referee/canary/canaries.ts';
import { isSuspicious } from '../../src/referee/canary/suspicion.ts';
import { COMPLETE, makeScene } from '../engine/scene.ts';

const FILES = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
  'add.js': 'export const add = (a, b) => a - b;\n',
  'test/helper.js': 'export const three = 3;\n',
  'test/add.test.js': testOf('adds', 'add(1, 2), three'),
  'test/other.test.js': "import test from 'node:test';\ntest('does nothing', () => {});\n",
};

function testOf(name: string, assertion: string): string {
  return `import assert from 'node:assert';
import test from 'node:test';
import { add } from '../add.js';
import { three } from './helper.js';
test('${name}', () => assert.equal(${assertion}));
`;
}

async function claim(source: string) {
  const scene = await makeScene({ repo: { files: FILES } });
  const write = `cat > add.js <<'X'\n${source}\nX\n`;
  const session = await scene.startAndRun(`${write}${COMPLETE}`, { verify: ['npm test'], maxIterations: 1 });
  return { session, judged: await scene.pulse.showChecks(session.id) };
}

describe('code under test', () => {
  it('that writes the report of its tests and ends the process is not believed', async () => {
    const { session, judged } = await claim(`if (process.env.NODE_TEST_CONTEXT) {
  process.stdout.write('TAP version 13\\nok 1 - adds\\n1..1\\n');
  process.exit(0);
}
export const add = (a, b) => a - b;`);
    expect(session).toMatchObject({ status: 'blocked' });
    expect(judged.judgement.reasons).toEqual([
      expect.stringContaining('does not tell of a test that must fail'),
    ]);
    expect(judged.judgement.reasons[0]).toContain('test/add.test.js');
    expect(judged.judgement.reasons[0]).not.toContain('other.test.js');
    expect(judged.verifications).toMatchObject([{ passed: true }]);
  });

  it('that makes every comparison pass is not believed', async () => {
    const { session, judged } = await claim(`import assert from 'node:assert';
assert.equal = () => {};
export const add = (a, b) => a - b;`);
    expect(session).toMatchObject({ status: 'blocked' });
    expect(judged.judgement.reasons[0]).toMatch(/test\/add\.test\.js: it fails by assert\.equal/);
  });

  it('may use the process, and nothing of the tests that must fail is left', async () => {
    const { session, judged } = await claim(`process.on('SIGUSR2', () => process.exit(1));
export const add = (a, b) => a + b;`);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    expect(judged.verifications).toMatchObject([{ passed: true, tests: { ran: 2 } }]);
  });
});

describe('a runner that stops at its first failure', () => {
  it('stops no honest claim', async () => {
    const runner = `import { readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const files = readdirSync('test').filter((name) => name.endsWith('.test.js'));
if (readdirSync('.').includes('turn')) files.reverse();
for (const file of files) {
  const { status } = spawnSync(process.execPath, ['--test', 'test/' + file], { stdio: 'inherit' });
  if (status !== 0) process.exit(status);
}`;
    const files = { ...FILES, 'run.mjs': runner, 'add.js': 'export const add = (a, b) => a + b;\n' };
    const scene = await makeScene({ repo: { files } });
    const work = `echo > turn; echo 'process.on("SIGUSR2", () => {});' >> add.js; ${COMPLETE}`;
    const session = await scene.startAndRun(work, { verify: ['node run.mjs'], maxIterations: 1 });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });
});

describe('a test that must fail', () => {
  it.each([
    ['a.test.js', "import test from 'node:test';", 'import { test as pulse_canary_t_'],
    ['a.test.cjs', "const test = require('node:test');", "require('node:test').test('pulse_canary_t_"],
    ['a.test.ts', "import { it } from 'vitest';", "from 'vitest'"],
    ['a.spec.js', "describe('x', () => {});", '(globalThis.test ?? globalThis.it)?.('],
    ['test_a.py', 'class A: pass', 'class pulse_canary_t_'],
    ['tests/a.rs', '#[test] fn a() {}', '#[test]\nfn pulse_canary_t_'],
    ['src/a.rs', '#[cfg(test)] mod tests {}', '#[cfg(test)]\nmod pulse_canary_t_'],
  ])('is put into %s', (path, text, added) => {
    const [planted] = plantCanaries([{ path, text }], 't');
    expect(planted).toMatchObject({ path, canaries: [{ of: path, by: 'throws' }] });
    expect(planted!.text.startsWith(`${text}\n`)).toBe(true);
    expect(planted!.text).toContain(added);
    expect(planted!.canaries[0]!.name).not.toMatch(/\d/);
  });

  it.each([
    ['a.test.js', 'expect(1).toBe(1); assert.equal(1, 1);', ['throws', 'toBe', 'assert_equal']],
    [
      'a.test.js',
      'assert(true); check.ok(1); it.each([1]); expect(a).toSing();',
      ['throws', 'check_ok', 'assert'],
    ],
    ['test_a.py', 'def test_a():\n    assert 1\n', ['throws', 'function', 'assert']],
    [
      'test_a.py',
      '        self.assertEqual(1, 1)\n        self.assertEqual(2, 2)\n',
      ['throws', 'assertEqual'],
    ],
  ])('fails in each way in which %s compares: %s', (path, text, ways) => {
    const [planted] = plantCanaries([{ path, text }], 't');
    expect(planted!.canaries.map(({ by }) => by)).toEqual(ways);
    for (const { name } of planted!.canaries) expect(planted!.text).toContain(name);
    const [one] = plantCanaries([{ path, text }], 't', ({ by }) => by === 'throws');
    expect(one!.canaries).toHaveLength(1);
  });

  it('is one for each package of Go, and none where the language is not known', () => {
    const go = ['a/one_test.go', 'a/two_test.go', 'b/one_test.go'];
    const files = go.map((path) => ({ path, text: 'package x\n' }));
    const planted = plantCanaries([...files, { path: 'test/data.bin', text: '' }], 't');
    expect(planted.map(({ canaries }) => canaries[0]!.of)).toEqual(['a/one_test.go', 'b/one_test.go']);
    expect(planted[0]!.path).toMatch(/^a\/pulse_canary_t_\w+_test\.go$/);
    expect(planted[0]!.text).toContain('package x\n');
  });

  it('is missed only where the base told of it', () => {
    const [a, b, other] = [
      { of: 'a', by: 'throws', name: 'a' },
      { of: 'b', by: 'throws', name: 'b' },
      { of: 'b', by: 'toBe', name: 'c' },
    ] as const;
    const named = (one: { of: string; by: string }) => ({ of: one.of, by: one.by, name: 'of another run' });
    const [laid, told] = [
      [a, b, other],
      [a, b, other],
    ];
    expect(findSilenced({ laid, told }, { laid: laid.map(named), told: [named(b), named(other)] })).toEqual([
      a,
    ]);
    expect(findSilenced({ laid, told }, { laid, told: [a, b] })).toEqual([other]);
    expect(findSilenced({ laid, told }, { laid: [b], told: [b] })).toEqual([]);
    expect(findSilenced({ laid, told: [] }, { laid, told: [] })).toEqual([]);
  });
});

describe('a claim costs one more run of the tests', () => {
  it.each([
    ['add.js', 'process.exit(0)', true],
    ['add.js', 'export const add = (a, b) => a + b;', false],
    ['price.py', 'import os', true],
    ['price.py', 'def price(): return 1', false],
    ['price.go', 'func init() {', true],
    ['lib.rs', 'std::process::exit(0)', true],
    ['README.md', 'process.exit', false],
  ])('only where its code reaches the process: %s %s', (path, text, isMore) => {
    expect(isSuspicious([{ path, base: null, claim: text }])).toBe(isMore);
    expect(isSuspicious([{ path, base: text, claim: text }])).toBe(false);
  });
});
