/** Runs an eighth of the tests of each file, drawn by the seed: of stories that start many processes and are told whole elsewhere. */
import { type RunnerTask, type RunnerTestCase, TestRunner } from 'vitest';
import { draw } from './lane.ts';

const SHARE = 1 / 8;

export default class StoryRunner extends TestRunner {
  readonly #drawn = new Map<string, ReadonlySet<string>>();

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (!this.#drawnOf(test).has(test.id)) test.mode = 'skip';
  }

  #drawnOf({ file }: RunnerTestCase): ReadonlySet<string> {
    let ids = this.#drawn.get(file.name);
    if (!ids) {
      ids = new Set(draw(testsIn(file), { of: file.name, share: SHARE }));
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
