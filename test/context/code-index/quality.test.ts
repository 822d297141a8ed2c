import { describe, expect, it } from 'vitest';
import { createCodeIndexes } from '../../../src/context/code-index/code-indexes.ts';
import { createGit } from '../../../src/git/exec.ts';
import { listProjectFiles } from '../../../src/git/project-files.ts';
import { capture } from '../../../src/process/capture.ts';
import { IS_MORE } from '../../lanes/lane.ts';
import { createWorkScene } from '../../tools/work/scene.ts';
import { shareFound, writeQuestions } from './questions.ts';

describe('searching by meaning', () => {
  it('finds more of what is asked for than searching by words', { timeout: 180_000 }, async () => {
    await using scene = createWorkScene();
    // Searching by words reads every file for each question: a sample asks about a part of the source.
    const all = writeQuestions(scene.root, IS_MORE ? undefined : ['engine', 'git', 'process', 'store']);
    // With fewer, which ones they are decides: every change of the source draws others.
    const count = IS_MORE ? 300 : 200;
    const questions = all.filter((_, index) => index % Math.ceil(all.length / count) === 0);
    expect(questions.length).toBeGreaterThan(count / 2);
    const git = createGit({ exec: (call) => capture({ file: 'git', ...call }) });
    await using indexes = createCodeIndexes({ list: (indexed) => listProjectFiles(git, indexed) });
    using index = indexes.open({ worktree: scene.root, except: [] });
    for (let state = ''; state !== 'ready'; state = (await index.search('ready', 1)).index);
    const byMeaning = await shareFound(questions, async (query) => (await index.search(query, 15)).hits);
    const byWords = await shareFound(questions, async (query) => {
      const { output } = await scene.call('semantic_search', { query, limit: 15 });
      return String(output)
        .split('\n')
        .map((line) => ({ path: line.split(':')[0]! }));
    });
    expect(byMeaning).toBeGreaterThan(byWords);
  });
});
