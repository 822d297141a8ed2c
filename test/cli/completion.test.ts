/** Each shell completes with the script that it is given: the candidates are those that a person would be shown. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/pulse.js');
let folder = '';
let schedule = '';
let env: Record<string, string> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pulse-completion-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'repo/tasks'), { recursive: true });
  env = {
    ...{ HOME: folder, PULSE_HOME: join(folder, 'state'), TERM: 'dumb' },
    PATH: `${folder}/bin:/usr/bin:/bin`,
  };
  writeFileSync(join(folder, 'bin/pulse'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
    mode: 0o755,
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t', ...args], {
      cwd: join(folder, 'repo'),
      env,
    });
  git('init', '-q', '-b', 'main');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('branch', 'next/big');
  for (const name of ['plan one.yaml', 'plan.md']) writeFileSync(join(folder, 'repo', name), '');
  schedule = pulse('schedule', 'add', 'in 2h', '--', 'start', 'Go', '--agent', 'demo')
    .split(' ')[0]!
    .slice(-4);
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(join(folder, `pulse.${shell}`), pulse('completion', shell));
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

function pulse(...args: string[]): string {
  return execFileSync(join(folder, 'bin/pulse'), args, {
    ...{ cwd: join(folder, 'repo'), env, encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** The last word is the one to complete. */
type Complete = (...words: string[]) => string[];

const inBash: Complete = (...words) => {
  const script = `. '${folder}/pulse.bash'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pulse; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return lines('bash', ['--norc', '-c', script, 'bash', 'pulse', ...words]);
};

const inFish: Complete = (...words) => {
  const script = `source '${folder}/pulse.fish'; complete -C 'pulse ${words.join(' ')}'`;
  return lines('fish', ['--no-config', '-c', script]).map((line) => line.split('\t')[0]!);
};

/** There a line is typed, and what has become of it is told by the command that it runs. */
const inZsh: Complete = (...words) => {
  const script = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "cd '${folder}/repo'; autoload -Uz compinit; compinit -u -D; . '${folder}/pulse.zsh'"
zpty -w shell "pulse() { if [[ -n \\$WIDGET ]]; then command pulse \\"\\$@\\"; else print -rl -- BEGIN \\"\\$@\\" DONE; fi }"
zpty -w -n shell $'pulse ${words.join(' ')}\\t\\n'
zpty -r -m shell text $'*\\nDONE*'
print -r -- $text`;
  const said = lines('zsh', ['-f', '-c', script]).map((line) => line.trim());
  return said.slice(said.lastIndexOf('BEGIN') + 1, said.lastIndexOf('DONE'));
};

function lines(file: string, args: string[]): string[] {
  const { stdout } = spawnSync(file, args, {
    cwd: join(folder, 'repo'),
    env,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return stdout.split('\n').filter((line) => line !== '');
}

const isThere = (shell: string): boolean => !spawnSync(shell, ['-c', 'true']).error;

describe.each([
  ['bash', inBash],
  ['fish', inFish],
] as const)('%s', (shell, complete) => {
  const here = isThere(shell) ? it : it.skip;

  here('completes branches where a branch is wanted', () => {
    for (const option of ['--base', '--branch']) {
      expect(complete('start', option, 'ma')).toEqual(['main']);
      expect(complete('swarm', option, 'ne')).toEqual(['next/big']);
    }
    expect(complete('verify', '--base', 'ma')).toEqual(['main']);
  });

  here('completes files where a file is wanted, and only there', () => {
    for (const words of [
      ['start', '--from'],
      ['workflow', 'approve', '3f2c', '--plan'],
      ['workflow', 'start'],
      ['research', 'start'],
    ])
      expect(complete(...words, 'pla').toSorted()).toEqual(['plan one.yaml', 'plan.md']);
    expect(complete('start', '--path', 'tas').map((path) => path.replace(/\/$/, ''))).toEqual(['tasks']);
    for (const words of [
      ['start'],
      ['merge'],
      ['start', '--model'],
      ['workflow', 'review'],
      ['schedule', 'remove'],
    ])
      expect(complete(...words, 'pla')).toEqual([]);
  });

  here('completes planned starts, actions and the values of options, each where it belongs', () => {
    expect(complete('schedule', 'remove', '')).toEqual([schedule]);
    expect(complete('schedule', 're')).toEqual(['remove']);
    expect(complete('schedule', 'list', 're')).toEqual([]);
    expect(complete('schedule', 'add', '"in 2h"', '--', 'st')).toEqual(['start']);
    expect(complete('schedule', 'add', 'st')).toEqual([]);
    expect(complete('merge', '--merge', 's')).toEqual(['squash']);
    expect(complete('export', '--format', 'm')).toEqual(['md']);
    expect(complete('bead', '--format', 'm')).toEqual(['markdown']);
    expect(complete('workflow', 'baseline', 'la')).toEqual(['last']);
    expect(complete('pause', 'la')).toEqual(['last']);
    expect(complete('start', '--budget-u')).toEqual(['--budget-usd']);
    expect(complete('workf')).toEqual(['workflow']);
  });
});

it('bash completes the value behind =, which is a word of its own there', () => {
  expect(inBash('start', '--base', '=', 'ma')).toEqual(['main']);
  expect(inBash('start', '--base', '=').toSorted()).toEqual(['main', 'next/big']);
});

describe('zsh', () => {
  const here = isThere('zsh') ? it : it.skip;

  here('completes branches, files, planned starts and words', { timeout: 120_000 }, () => {
    expect(inZsh('start', '--base', 'ma')).toEqual(['start', '--base', 'main']);
    expect(inZsh('start', '--branch', 'ne')).toEqual(['start', '--branch', 'next/big']);
    expect(inZsh('start', '--from', 'plan.')).toEqual(['start', '--from', 'plan.md']);
    expect(inZsh('workflow', 'start', 'plan.')).toEqual(['workflow', 'start', 'plan.md']);
    expect(inZsh('start', '--path', 'ta')).toEqual(['start', '--path', 'tasks']);
    expect(inZsh('merge', '--merge', 'sq')).toEqual(['merge', '--merge', 'squash']);
    expect(inZsh('schedule', 'rem')).toEqual(['schedule', 'remove']);
    expect(inZsh('start', 'plan.')).toEqual(['start', 'plan.']);
    expect(inZsh('schedule', 'remove', schedule.slice(0, 2))).toEqual(['schedule', 'remove', schedule]);
  });
});
