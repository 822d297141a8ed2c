/** What a person sees of a judged claim: why it was not accepted, what to do, and how far a result can be relied on. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useScene } from './scene.ts';

const scene = useScene();

const TESTS = `import assert from 'node:assert';
import test from 'node:test';
import { add } from '../add.js';
test('adds nothing', () => assert.equal(add(1, 0), 1));
test('adds two numbers', () => assert.equal(add(1, 2), 3));
`;
const COMPLETE = 'echo "All done."; echo "<signal>COMPLETE</signal>"';
const DELETES = `sed -i '/adds two/d' test/add.test.js`;
const DECLARES = `git checkout -q main -- test; sed -i "s/3)/-1)/" test/add.test.js
echo '<checks_changed>test/add.test.js: adding must subtract</checks_changed>'`;
const MENDS = `git checkout -q main -- test; echo 'export const add = (a, b) => a + b;' > add.js`;

/** One test fails. */
function project(): void {
  const { repository } = scene;
  mkdirSync(join(repository, 'test'));
  const scripts = { test: 'node --test test/*.test.js' };
  writeFileSync(join(repository, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  writeFileSync(join(repository, 'add.js'), 'export const add = (a, b) => a - b;\n');
  writeFileSync(join(repository, 'test/add.test.js'), TESTS);
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'a project');
}

function start(script: string, ...options: string[]) {
  const agent = scene.agent(script);
  return scene.pulse(['start', 'Make add right', '--command', agent, '--verify', 'npm test', ...options]);
}

const say = async (...args: string[]): Promise<string> => (await scene.pulse(args)).stdout;

describe('a claim that is refused although its commands pass', () => {
  it('is shown with the tests that are missing and with what to do, wherever it is looked at', async () => {
    project();
    const script = `if [ "$PULSE_ITERATION" = 1 ]; then\n${DELETES}\nelse\n${MENDS}\nfi\n${COMPLETE}`;
    const { stdout, stderr } = await start(script, '--max-iterations', '2');
    const [line, , doctor] =
      /^protected: package\.json \(scripts\), 1 test file; (pulse (doctor .*)) lists it$/m.exec(stderr)!;
    expect(stderr.indexOf(line!)).toBeLessThan(stderr.indexOf('▸ Make add right'));
    expect(doctor).toBe("doctor --verify 'npm test'");
    expect(stderr).toContain('1/2 verification passed, but the claim is not accepted');
    expect(stderr).toContain('npm test ran 1 fewer tests than on the base: adds two numbers');
    expect(stderr).toContain('Restore the checks as they were. Not declared: test/add.test.js.');
    expect(stdout).toContain('✓ complete  verified by npm test');
    const log = await say('log', 'last');
    expect(log).toMatch(/passed npm test exit 0, 1 test\n\s+not accepted\n\s+npm test ran 1 fewer tests/);
    expect(log).toContain('changed checks: test/add.test.js (changed)');
    expect(log).toContain('complete (verified) completed');
    const status = await say('status', 'last');
    expect(status).toMatch(/COMPLETE rejected .*\n\s+npm test ran 1 fewer tests than on the base: adds two/);
    const events = await scene.pulse(['log', 'last', '--json']);
    const verified = events.json.find(({ type }) => type === 'iteration.verified');
    expect(verified).toMatchObject({
      data: {
        passed: true,
        commands: [{ tests: { ran: 1, passed: 1, failed: 0 } }],
        judgement: { verdict: 'rejected', oldChecks: 'fail', changedCount: 1 },
      },
    });
    const report = await say('export', 'last', '--format', 'md');
    expect(report).toContain('**not accepted**, by the referee\n- npm test ran 1 fewer tests');
  });
});

describe('changed checks', () => {
  it('are shown with the word of the agent and both commands; accepted, every surface says so', async () => {
    project();
    const asked = await start(`${DECLARES}\n${COMPLETE}`);
    expect(asked.code).toBe(3);
    expect(asked.stderr).toContain('verification passed, with changed checks: a person decides');
    const overview = await say('status');
    const [, ...look] = /pulse checks ses_\S+/.exec(asked.stdout)![0].split(' ');
    expect(overview).toMatch(/pulse checks ses_.*\n.*pulse accept ses_/);
    const shown = await scene.pulse(look);
    expect(
      shown.stdout
        .replace(/\d\.\ds/, '1.0s')
        .split('\n')
        .slice(2, 14),
    ).toEqual([
      '',
      '■ you decide: the checks were changed',
      '  With the checks as they were on the base: npm test failed (exit 1): adds two numbers',
      '',
      'what ran on the claim',
      '  ✓ npm test  2 tests · 1.0s',
      '  ✗ the same with the checks as they were on the base: they do not hold',
      '',
      'what was changed of the checks',
      '  changed test/add.test.js',
      '    the agent says: adding must subtract',
      '',
    ]);
    expect(shown.stdout).toContain("-test('adds two numbers', () => assert.equal(add(1, 2), 3));");
    expect(shown.stderr).toMatch(/accept {2}pulse accept ses_.*\n {2}reject {2}pulse reject ses_/);

    const [, ...reject] = /pulse reject ses_\S+ "…"/.exec(asked.stdout)![0].split(' ');
    expect((await scene.pulse(reject)).code).toBe(3);
    const accepted = await scene.pulse(['accept', 'last']);
    const word = 'verified, checks changed';
    expect(accepted.stdout).toContain(`✓ complete  ${word}, by npm test`);
    expect(await say('list')).toContain(`complete (${word})`);
    expect(await say('status')).toContain(`complete (${word})`);
    expect(await say('log', 'last')).toContain(`complete (${word})`);
    expect(await say('export', 'last', '--format', 'md')).toContain(`| status | **complete**, **${word}** |`);
    expect(await say('checks', 'last')).toMatch(/✓ accepted · verified, checks changed · by cli:/);
    expect(await say('verify', 'last')).toContain(`fresh: the evidence still holds (${word})`);
    const json = (await scene.pulse(['export', 'last', '--json'])).json[0];
    expect(json).toMatchObject({
      session: { trust: 'verified_checks_changed' },
      judgements: [{ verdict: 'rejected' }, { verdict: 'accepted', replay: { passed: false } }],
    });

    scene.git('switch', '-q', JSON.parse(await say('export', 'last')).session.branch_name);
    scene.git('commit', '-q', '--allow-empty', '-m', 'by a person');
    expect(await say('status', 'last')).toContain(
      'complete  stale: the branch has moved since it was verified',
    );
    expect((await scene.pulse(['status', 'last', '--json'])).json[0]).toMatchObject({
      trust: 'stale',
      session: { trust: 'verified_checks_changed' },
    });
  });
});

describe('pulse doctor', () => {
  it('lists what protects the checks of the config, or of those that are named', async () => {
    project();
    expect(await say('doctor')).not.toContain('protected');
    const named = await say('doctor', '--verify', 'npm test');
    expect(named).toContain('✓ protected    package.json: scripts\n');
    expect(named).toMatch(/✓ protected {4}tests: .* \(1 file\)/);
    mkdirSync(join(scene.repository, '.pulse'));
    writeFileSync(
      join(scene.repository, '.pulse/config.yaml'),
      'verify: [npm test, frobnicate]\nchecks: {paths: [add.js]}\n',
    );
    const own = (await scene.pulse(['doctor', '--json'])).json[0] as unknown as {
      findings: { subject: string; level: string; text: string; hint?: string }[];
    };
    const found = own.findings.filter(({ subject }) => subject === 'protected');
    expect(found.map(({ level, text }) => `${level} ${text}`)).toEqual(
      expect.arrayContaining([
        'ok add.js',
        'ok package.json: scripts',
        'warn nothing else is known of frobnicate',
      ]),
    );
    expect(found.at(-1)?.hint).toContain('checks: {paths: [...]}');
  });
});

describe('a check that cannot be run', () => {
  it('ends the session before its agent, in words that name it, and another one continues it', async () => {
    project();
    const agent = scene.agent(`touch ${scene.directory}/ran; ${MENDS}\n${COMPLETE}`);
    const ended = await scene.pulse(['start', 'g', '--command', agent, '--verify', 'nppm test']);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('failed  it could not begin: setup failed, or a check cannot be run');
    expect(ended.stdout).toContain('The check nppm test cannot be run (exit 127).');
    expect(ended.stdout).toMatch(/nppm: not found/);
    const [, command] = /(pulse resume ses_\S+ --verify) CMD/.exec(ended.stdout)!;
    expect(ended.stdout).not.toContain('--setup');
    expect(() => readFileSync(join(scene.directory, 'ran'))).toThrow();
    const resumed = await scene.pulse([...command!.split(' ').slice(1), 'npm test']);
    expect(resumed.stdout).toContain('✓ complete  verified by npm test');
  });
});
