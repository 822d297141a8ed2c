/**
 * The suites that take longest begin first, so that no worker is left alone with one of them at the end. Without this a
 * clean checkout begins with the largest files, and a crash suite is a small file with hundreds of processes.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = ['/test/crash/', '/test/e2e/'];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((folder) => moduleId.includes(folder));
  return rank === -1 ? LONGEST.length : rank;
}
