/** One workflow from its plan to the merge, typed by a person: a real TypeScript project with old faults, real checks. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { badModule, FAULTY_CHECKS, goodModule, PROGRAMS, writeFaultyFiles } from '../fakes/old-faults.ts';
import { type Ended, OWN_NODE, useScene } from './scene.ts';

const scene = useScene();
const PATH = `${PROGRAMS}:${join(OWN_NODE, '..')}:${process.env.PATH}`;
const pulse = (...args: string[]): Promise<Ended> => scene.pulse([...args, '--json'], { env: { PATH } });

const unresolvedIssues = [{ issue: 'leave has the wrong type', reason: 'a person must choose one' }];
const done = (to: string, input: object): string =>
  `pulse tool pulse_done '${JSON.stringify(input)}' > "$OUT/${to}.json"`;
const module = (path: string, text: string): string => `echo '${text}' > ${path}`;
const greet = { summary: 'feat: greet', filesChanged: ['src/greet.ts'] };
const leave = { summary: 'feat(door): leave', filesChanged: ['src/leave.ts'] };

it('ignores old faults, refuses new ones, halts at the hatch, goes on with a person, and merges', async () => {
  const { directory, repository, git } = scene;
  writeFaultyFiles(repository);
  git('add', '-A');
  git('commit', '-q', '-m', 'chore: what was there before');
  const agent = scene.agent(`OUT='${directory}'
case "$PULSE_UNIT" in
greet) ${module('src/greet.ts', badModule('greet'))}
  ${done('1', { summary: 'Greets', filesChanged: [] })}
  ${module('src/greet.ts', goodModule('greet'))}
  ${done('2', greet)};;
leave) ${module('src/leave.ts', badModule('leave'))}
  ${done('3', leave)}; ${done('4', leave)}; ${done('5', { ...leave, unresolvedIssues })};;
last) ${module('src/last.ts', goodModule('last'))}
  ${done('6', { summary: 'feat: last', filesChanged: ['src/last.ts'] })};;
esac`);
  const plan = join(directory, 'plan.yaml');
  const pulses = ['greet', 'leave', 'last'].map((id) => ({ id, title: id, description: `Do ${id}.` }));
  writeFileSync(
    plan,
    stringify({ title: 'A door', branch: 'door', pulses, verify: FAULTY_CHECKS, preflight: ['true'] }),
  );

  const halted = await pulse('workflow', 'start', plan, '--yes', '--command', agent);
  const { id } = sessionOf(halted);
  expect([halted.code, sessionOf(halted).stop_reason]).toEqual([3, 'unresolved_issues']);
  const [{ baseline }] = (await pulse('workflow', 'baseline', id)).json as unknown as [
    { baseline: { source: string; filePath: string }[] },
  ];
  expect(baseline.map(({ source, filePath }) => [source, filePath])).toEqual(
    expect.arrayContaining([
      ['Build', 'src/legacy.ts'],
      ['Test', 'test/legacy.test.js'],
    ]),
  );
  const first = reply('1');
  expect(first.reasons).toHaveLength(3);
  for (const part of ['Conventional Commit', 'missing: src/greet.ts', 'TS2322'])
    expect(first.reasons!.join('\n')).toContain(part);
  expect(first.reasons!.join('\n')).not.toContain('legacy');
  expect(reply('2').ok).toBe(true);
  expect(reply('3').output).not.toContain('unresolvedIssues');
  expect(reply('4').output).toContain('unresolvedIssues');
  expect(reply('5').ok).toBe(true);
  expect(existsSync(join(directory, '6.json'))).toBe(false);

  const waiting = await pulse('resume', id);
  expect([waiting.code, sessionOf(waiting).stop_reason]).toEqual([3, 'approval_required']);
  expect((await pulse('verify', id)).json[0]).toMatchObject({ verdict: 'fresh' });

  // Whoever reviews is told what was not resolved, wherever they look.
  const [{ issue, reason }] = unresolvedIssues as [{ issue: string; reason: string }];
  const left = `${issue} (${reason})`;
  for (const args of [
    ['status'],
    ['status', id],
    ['list', '--json'],
    ['workflow', 'show', id],
    ['export', id, '--format', 'md'],
    ['verify', id],
  ]) {
    const { stdout } = await scene.pulse(args);
    expect(stdout, args.join(' ')).toContain(left);
    expect(stdout, args.join(' ')).not.toContain('none was asked for');
    expect(stdout, args.join(' ')).not.toContain('as it did before the first pulse');
  }

  const shown = (await scene.pulse(['workflow', 'show', id])).stdout.split('\n');
  const at = shown.findIndex((line) => /^ {2}! leave /.test(line));
  expect(shown[at + 1]).toBe(`      not resolved: ${left}`);

  // Somebody works on the base meanwhile, and the merge says what to type.
  writeFileSync(join(repository, 'mine.txt'), 'mine\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'chore: mine');
  const refused = await pulse('workflow', 'review', id, '--approve');
  const told = `pulse workflow review ${id} --approve --merge merge`;
  expect(refused.code).toBe(2);
  expect(refused.json.at(-1)).toMatchObject({
    error: { code: 'merge_conflict', hint: expect.stringContaining(told) },
  });
  git('rebase', '-q', 'main', 'door');
  git('switch', '-q', 'main');
  const merged = await pulse('workflow', 'review', id, '--approve');
  expect(merged.stderr).toContain(`leave: ${left}`);
  expect((await scene.pulse(['status', id])).stdout).toContain(`leave: ${left}`);
  expect((await scene.pulse(['status'])).stdout).toContain('1 not resolved');
  expect([merged.code, sessionOf(merged).status]).toEqual([0, 'complete']);
  expect(git('log', '--format=%s', 'main').split('\n')).toEqual([
    'feat: last',
    'feat(door): leave',
    'feat: greet',
    'chore: mine',
    'chore: what was there before',
    'first',
  ]);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('worktree', 'list').split('\n')).toHaveLength(1);
}, 180_000);

function sessionOf(ended: Ended): { id: string; status: string; stop_reason: string } {
  const last = ended.json.at(-1) as { session?: never } | undefined;
  expect(last, ended.stderr).toMatchObject({ session: { id: expect.stringMatching(/^ses_/) } });
  return last!.session!;
}

function reply(name: string): { ok: boolean; output: string; reasons?: string[] } {
  return JSON.parse(readFileSync(join(scene.directory, `${name}.json`), 'utf8'));
}
