/** The files of a tree that hold tests. */
import type { Pins, TreeFiles } from '../pins/pins.ts';
import { isTestPath } from '../pins/test-files.ts';
import type { TestFile } from './canaries.ts';

/** More files of tests than these are not all watched. */
const MOST_FILES = 400;

/** Of files that hold tests beside other code, only those that do. */
export async function findTests(tree: TreeFiles, pins: Pins): Promise<TestFile[]> {
  const paths = tree.paths.filter((path) => isTestPath(path) || pins.of(path)?.kind === 'test');
  const files: TestFile[] = [];
  for (const [path, text] of (await tree.readMany?.(paths.slice(0, MOST_FILES))) ?? []) {
    const part = pins.of(path)?.part;
    if (text !== null && (!part || (await part.extract(text)) !== '')) files.push({ path, text });
  }
  return files;
}
