/** Searching by meaning against searching by words, on questions whose answers are known; and how soon the index answers. */
import { createCodeIndexes } from '../src/context/code-index/code-indexes.ts';
import { createGit } from '../src/git/exec.ts';
import { listProjectFiles } from '../src/git/project-files.ts';
import { capture } from '../src/process/capture.ts';
import { type Question, shareFound, writeQuestions } from '../test/context/code-index/questions.ts';
import { createWorkScene } from '../test/tools/work/scene.ts';
import { ms, tell } from './row.ts';
import { median } from './statistics.ts';

const QUESTIONS = 200;

await using scene = createWorkScene();
const all = writeQuestions(scene.root);
const questions: Question[] = all.filter((_, index) => index % Math.ceil(all.length / QUESTIONS) === 0);
const git = createGit({ exec: (call) => capture({ file: 'git', ...call }) });
await using indexes = createCodeIndexes({ list: (indexed) => listProjectFiles(git, indexed) });

const began = performance.now();
using index = indexes.open({ worktree: scene.root, except: [] });
const slowest = { before: 0 };
for (let state = ''; state !== 'ready'; ) {
  const asked = performance.now();
  state = (await index.search('where is a lease renewed', 10)).index;
  slowest.before = Math.max(slowest.before, performance.now() - asked);
}
const ready = performance.now() - began;

const answers: number[] = [];
const byMeaning = await shareFound(questions, async (query) => {
  const asked = performance.now();
  const { hits } = await index.search(query, 15);
  answers.push(performance.now() - asked);
  return hits;
});
const byWords = await shareFound(questions, async (query) => {
  const { output } = await scene.call('semantic_search', { query, limit: 15 });
  return String(output)
    .split('\n')
    .map((line) => ({ path: line.split(':')[0]! }));
});

tell([
  {
    what: '(l) the right file among the first five of `semantic_search`',
    measured: `${percent(byMeaning)} by the index; an answer takes ${ms(median(answers))} (git’s listing included)`,
    beside: `by words: ${percent(byWords)}; ${questions.length} questions about this repository’s ${scene.git('ls-files', '-co').split('\n').length} source files, ready after ${ms(ready)}, the slowest answer before that ${ms(slowest.before)}`,
    result: `${(byMeaning / byWords).toFixed(2)}× as often`,
    target: '',
    isMet: null,
  },
]);

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
