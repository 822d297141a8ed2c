/** What the code index holds in memory: all that is there after it has been built, and was not before. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSyntaxChunker } from '../src/context/code-index/syntax-chunks.ts';
import { loadWordVectors } from '../src/context/code-index/word-vectors.ts';
import { createWorktreeIndex } from '../src/context/code-index/worktree-index.ts';
import { writeFiles } from './generated-code.ts';
import { tell } from './row.ts';

const { values } = parseArgs({ options: { files: { type: 'string', default: '10000' } } });
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-memory-')));
const { paths } = writeFiles(root, Number(values.files));
const chunker = createSyntaxChunker();
// The parser's own memory is not the index's, but the model of code is.
await chunker.chunks('a.ts', 'export function a() {}');
const before = held();
const index = createWorktreeIndex(root, { chunker, openModel: loadWordVectors });
index.refresh(paths);
while (await index.work());
index.search('harbour lease', 10);
const bytes = held() - before;
const text = `${Math.round(bytes / 1e6)} MB`;
tell([
  {
    what: `(y) memory of the index at ${index.chunks.toLocaleString('en')} chunks`,
    measured: `${text}, after a collection of garbage, its model of code included`,
    ...{ beside: '', result: text, target: '≤ 150 MB', isMet: bytes <= 150e6 },
  },
]);
rmSync(root, { recursive: true });

function held(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
