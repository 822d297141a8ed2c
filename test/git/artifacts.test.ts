import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stageAll } from '../../src/git/stage.ts';
import { readArtifacts } from '../../src/loops/workflow/artifacts.ts';
import { makeSession, write } from './fixture.ts';

const many = (folder: string, count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/${index}`, '']));

describe('what preflight left', () => {
  it('is told by file where it is untracked, by folder where it is ignored or many, without Pulse’s own', async () => {
    const { git, worktree, counted } = await makeSession({
      files: { '.gitignore': 'dist/\n*.log\n', 'src/a': '' },
    });
    expect(await counted(() => readArtifacts(git, worktree))).toEqual([{ changed: [], artifacts: [] }, 1]);
    write(worktree, {
      'gen/deep/one': '',
      'gen/two': '',
      'src/out': '',
      'src/run.log': '',
      'dist/app/main': '',
      '.pulse/x': '',
      ...many('cache', 201),
    });
    writeFileSync(join(worktree, 'src/a'), 'changed');
    const [found, count] = await counted(() => readArtifacts(git, worktree));
    expect(found.changed).toEqual(['src/a']);
    expect(found.artifacts).toEqual(['cache', 'gen/deep/one', 'gen/two', 'src/out', 'dist', 'src/run.log']);
    expect(count).toBe(2);
  });

  it('stays bounded, so that git can be given every path', async () => {
    const { git, worktree, head } = await makeSession({ files: { '.gitignore': '*.log\n' } });
    const logs = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`${index}.log`, '']));
    write(worktree, { ...logs, ...many('a', 200), ...many('b', 200) });
    const { artifacts } = await readArtifacts(git, worktree);
    expect(artifacts).toHaveLength(1_000);
    expect(artifacts).toContain('b/199');
    write(worktree, { '.gitignore': '', 'a/own': '' });
    const { changes } = await stageAll(git, { worktree, against: head, exclude: artifacts });
    const paths = changes.map(({ path }) => path);
    expect(paths).toContain('a/own');
    expect(paths.filter((path) => artifacts.includes(path))).toEqual([]);
  });
});
