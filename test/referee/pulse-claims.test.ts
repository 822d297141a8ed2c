/** Claims of pulses before the referee: a test that the pulse breaks cannot be taken out of the way. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACTOR, createWorkflowScene, plan, type WorkflowScene } from '../workflow/scene.ts';

const TESTS = `import assert from 'node:assert';
import test from 'node:test';
import { add } from '../add.js';
test('adds nothing', () => assert.equal(add(1, 0), 1));
test('adds two numbers', () => assert.equal(add(1, 2), 3));
`;
const VERIFY = [{ command: 'npm test', source: 'Test' }];
/** The first test holds, the second does not. */
const BREAK = `echo 'export const add = (a, b) => a - b;' > add.js`;

async function project(): Promise<WorkflowScene> {
  const scene = await createWorkflowScene();
  const { repository: root } = scene.scratch;
  mkdirSync(join(root, 'test'));
  writeFileSync(
    join(root, 'package.json'),
    '{"type":"module","scripts":{"test":"node --test test/*.test.js"}}',
  );
  writeFileSync(join(root, 'add.js'), 'export const add = (a, b) => a + b;\n');
  writeFileSync(join(root, 'test/add.test.js'), TESTS);
  scene.scratch.git('add', '-A');
  scene.scratch.git('commit', '-q', '-m', 'chore: begin');
  return scene;
}

function claim(
  files: string[],
  { to = 'done.json', declared }: { to?: string; declared?: string } = {},
): string {
  const checksChanged = declared ? [{ path: declared, reason: 'it must subtract' }] : undefined;
  const input = JSON.stringify({ summary: 'feat: subtract', filesChanged: files, checksChanged });
  return `pulse tool pulse_done '${input}' > "$OUT/${to}"`;
}

describe('a pulse that breaks a test and', () => {
  it.each([
    ['skips it', `sed -i "s/test('adds two/test.skip('adds two/" test/add.test.js`, 'test/add.test.js'],
    ['deletes it', `sed -i '/adds two/d' test/add.test.js`, 'test/add.test.js'],
    ['changes what it expects', 'sed -i "s/3)/-1)/" test/add.test.js', 'test/add.test.js'],
    ['ignores the exit', `sed -i 's/test.js"/test.js || true"/' package.json`, 'package.json'],
  ])('%s is refused while its agent waits', async (_, cheat, file) => {
    await using scene = await project();
    const script = [BREAK, cheat, claim(['add.js', file])].join('\n');
    const id = await scene.start(
      { ...plan('one'), verify: VERIFY },
      { scripts: { one: `${script}\nexit 1` } },
    );
    await scene.drive(id);
    const { ok, reasons = [] } = scene.reply('done.json');
    expect(ok).toBe(false);
    // The check itself passes: what is refused is what was done to it.
    expect(reasons.join('\n')).toMatch(
      /checks as they were on the base|than on the base|although 1 of its tests/,
    );
  });
});

it('a pulse that claims the same broken tree twice costs its checks once, with the same answer', async () => {
  await using scene = await project();
  const log = join(scene.scratch.path, 'runs');
  const verify = [{ command: `echo run >> ${log}; npm test`, source: 'Test' }];
  const twice = [claim(['add.js'], { to: 'one.json' }), claim(['add.js'], { to: 'two.json' })];
  const once = '[ -f "$OUT/one.json" ] && exit 1';
  const script = [once, BREAK, `: > ${log}`, twice[0], `cp ${log} ${log}.one`, twice[1], 'exit 1'].join('\n');
  const id = await scene.start({ ...plan('one'), verify }, { scripts: { one: script } });
  await scene.drive(id);
  expect(readFileSync(`${log}.one`, 'utf8')).toMatch(/^(run\n)+$/);
  expect(readFileSync(log, 'utf8')).toBe(readFileSync(`${log}.one`, 'utf8'));
  const [one, two] = [scene.reply('one.json'), scene.reply('two.json')];
  expect(one).toMatchObject({ ok: false, reasons: [expect.stringContaining('adds two numbers')] });
  expect(two.reasons).toEqual(one.reasons);
});

describe('a pulse whose old checks cannot hold', () => {
  const change = `${BREAK}; sed -i "s/3)/-1)/" test/add.test.js`;
  const files = ['add.js', 'test/add.test.js'];

  it('asks a person once it is declared; accepted, the workflow continues', async () => {
    await using scene = await project();
    const script = `${change}\n${claim(files, { declared: 'test/add.test.js' })}`;
    const id = await scene.start({ ...plan('one'), verify: VERIFY }, { scripts: { one: script } });
    const { session, pulses } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed' });
    expect(pulses[0]?.status).toBe('succeeded');
    expect((await scene.pulse.showChecks(id)).diff).toContain('-1)');
    await scene.pulse.accept(id, { actor: ACTOR });
    const after = await scene.drive(id);
    expect(after.session).toMatchObject({
      stop_reason: 'approval_required',
      trust: 'verified_checks_changed',
    });
  });

  it('rejected by a person, the pulse is done again and held against the first base', async () => {
    await using scene = await project();
    const first = `${change}\n${claim(files, { declared: 'test/add.test.js' })}`;
    const again = [
      claim([], { to: 'empty.json' }),
      `git checkout -q HEAD~1 -- . ; ${claim(files, { to: 'again.json' })}`,
    ].join('\n');
    const script = `if [ -f "$OUT/first" ]; then\n${again}\nelse touch "$OUT/first"\n${first}\nfi`;
    const id = await scene.start({ ...plan('one'), verify: VERIFY }, { scripts: { one: script } });
    await scene.drive(id);
    await scene.pulse.reject(id, { actor: ACTOR, text: 'Adding is right.' });
    const { session, pulses } = await scene.drive(id);
    expect(scene.reply('empty.json').ok, JSON.stringify(scene.reply('empty.json'))).toBe(false);
    expect(scene.reply('again.json').ok, JSON.stringify(scene.reply('again.json'))).toBe(true);
    expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(session).toMatchObject({ stop_reason: 'approval_required', trust: 'verified' });
    const { iterations } = await scene.pulse.show(id);
    expect(iterations.at(-1)?.task_content).toContain('Adding is right.');
  });

  it('needs no word where the plan says that it changes checks', async () => {
    await using scene = await project();
    const planned = plan('one');
    const pulses = planned.pulses.map((pulse) => ({ ...pulse, changesChecks: true }));
    const script = `${change}\n${claim(files)}`;
    const id = await scene.start({ ...planned, pulses, verify: VERIFY }, { scripts: { one: script } });
    const { session } = await scene.drive(id);
    expect(session).toMatchObject({
      stop_reason: 'approval_required',
      trust: 'verified_checks_changed',
    });
  });
});
