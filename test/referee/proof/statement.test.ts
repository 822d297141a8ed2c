import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isAbout,
  readAcceptedWork,
  readStatement,
  statementsOf,
} from '../../../src/referee/proof/statement.ts';
import { command, hashOf, proofInput } from './material.ts';

const about = { commit: 'a'.repeat(40), tree: 'b'.repeat(40) };
const counts = { run: 2, passed: 2, failed: 0, skipped: 0 };

describe('the statements of a proof', () => {
  it('are of in-toto’s form, with the commit and its tree as subject', () => {
    const [own, ...others] = statementsOf(proofInput(about));
    expect(own).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ digest: { gitCommit: about.commit } }, { digest: { gitTree: about.tree } }],
      predicateType: 'pkg:npm/pulse-loops#accepted-work/v1',
    });
    expect(others).toEqual([]);
  });

  it('say what was told, and are read back as they were', () => {
    const input = proofInput(about, {
      trust: 'verified_checks_changed',
      replay: { tree: 'c'.repeat(40), passed: false, commands: [] },
      checksChanged: [{ path: 'test/a.test.ts', reason: 'The API has another name.' }],
      decision: { by: 'person', name: 'ada', at: '2026-01-02T03:04:05.000Z' },
    });
    const [own] = statementsOf(input);
    const { commit, tree, pins, ...rest } = input;
    expect(readAcceptedWork(readStatement(JSON.parse(JSON.stringify(own)))!)).toEqual({
      ...rest,
      pins: { count: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/), listed: pins },
    });
  });

  it('have a test-result for each command that counted tests, and only for those', () => {
    const tests = { base: counts, claim: counts, passed: ['one', 'two'] };
    const statements = statementsOf(
      proofInput(about, { commands: [command('make lint'), command('npm test', { tests, flaky: ['two'] })] }),
    );
    expect(statements).toHaveLength(2);
    expect(statements[1]).toMatchObject({
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: {
        result: 'WARNED',
        configuration: [
          { name: 'command', content: Buffer.from('npm test').toString('base64') },
          { name: 'package.json#scripts', digest: { sha256: hashOf('a') } },
        ],
        passedTests: ['one'],
        warnedTests: ['two'],
      },
    });
  });

  it('hide a secret, and say of a command that it held one', () => {
    const secret = 'ghp_012345678901234567890123456789012345';
    const text = JSON.stringify(
      statementsOf(
        proofInput(about, {
          commands: [command(`GITHUB_TOKEN=${secret} npm test`, { flaky: [`logs in with ${secret}`] })],
          checksChanged: [{ path: 'a', reason: `needs ${secret}` }],
        }),
      ),
    );
    expect(text).not.toContain(secret);
    expect(text).toContain('"isRedacted":true');
  });

  it('list the changed pins alone where there are very many, and a hash of all', () => {
    const pin = (n: number, claim: string) => ({
      path: `test/${n}.ts`,
      part: null,
      base: hashOf('a'),
      claim: hashOf(claim),
    });
    const pins = Array.from({ length: 1_500 }, (_, n) => pin(n, n === 7 ? 'b' : 'a'));
    const read = (input: typeof pins) =>
      readAcceptedWork(statementsOf(proofInput(about, { pins: input }))[0]!);
    expect(read(pins)?.pins).toMatchObject({ count: 1_500, listed: [pins[7]] });
    expect(read([...pins].reverse())?.pins.sha256).toBe(read(pins)?.pins.sha256);
    expect(read(pins.with(9, pin(9, 'c')))?.pins.sha256).not.toBe(read(pins)?.pins.sha256);
  });

  it('leave out the names of tests where they would be too long, and keep the counts', () => {
    const passed = Array.from({ length: 40_000 }, (_, n) => `a test with a rather long name, number ${n}`);
    const tests = { base: null, claim: { ...counts, run: 40_000, passed: 40_000 }, passed };
    const statements = statementsOf(proofInput(about, { commands: [command('npm test', { tests })] }));
    expect(JSON.stringify(statements).length).toBeLessThan(10_000);
    expect(JSON.stringify(statements)).toContain('"run":40000');
  });

  it('refuse an input that is not of its form', () => {
    expect(() => statementsOf(proofInput({ ...about, commit: '../../etc' }))).toThrow();
    expect(() => statementsOf(proofInput(about, { goalSha256: 'the goal itself' }))).toThrow();
  });

  it('are about one commit with one tree, and no other', () => {
    const [own] = statementsOf(proofInput(about));
    expect(isAbout(own!, about)).toBe(true);
    expect(isAbout(own!, { ...about, tree: 'c'.repeat(40) })).toBe(false);
    expect(isAbout(own!, { ...about, commit: 'c'.repeat(40) })).toBe(false);
    const more = { ...own!, subject: [...own!.subject, { digest: { gitCommit: 'c'.repeat(40) } }] };
    expect(isAbout(more, about)).toBe(false);
  });

  it('are read without an exception, no matter what stands there', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const statement = readStatement(value);
        if (statement) readAcceptedWork(statement);
      }),
    );
  });
});
