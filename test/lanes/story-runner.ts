/**
 * Runs an eighth of the tests of each file, drawn by the seed: of stories that start many processes and are told whole
 * elsewhere. A file with few tests may have none of them drawn; then what it prepares for its tests is not done either.
 */
import { type RunnerTask, type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';
import { draw } from './lane.ts';

const SHARE = 1 / 8;

export default class StoryRunner extends TestRunner {
  readonly #drawn = new Map<string, ReadonlySet<string>>();

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    const drawn = this.#drawnOf(suite);
    if (!testsIn(suite).some((id) => drawn.has(id))) suite.mode = 'skip';
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (!this.#drawnOf(test).has(test.id)) test.mode = 'skip';
  }

  #drawnOf({ file }: RunnerTestCase | RunnerTestSuite): ReadonlySet<string> {
    let ids = this.#drawn.get(file.name);
    if (!ids) {
      ids = new Set(draw(testsIn(file), { of: file.name, share: SHARE, least: 0 }));
      this.#drawn.set(file.name, ids);
    }
    return ids;
  }
}

/** Without those that would not run anyway. */
function testsIn(task: RunnerTask): string[] {
  if (task.type === 'suite') return task.tasks.flatMap(testsIn);
  return task.mode === 'skip' || task.mode === 'todo' ? [] : [task.id];
}
