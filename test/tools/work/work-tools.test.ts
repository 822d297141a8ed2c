import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createWorkTools, WORK_TOOLS } from '../../../src/tools/work/work-tools.ts';
import { createWorkScene } from './scene.ts';

describe('the work tools', () => {
  it('are the nine, each with a description and a schema that any agent can be told', async () => {
    await using scene = createWorkScene();
    await using work = createWorkTools({ worktree: scene.root, runId: 'listed', environment: {} });
    expect(work.tools.map(({ name }) => name)).toEqual([...WORK_TOOLS]);
    expect(WORK_TOOLS).toHaveLength(9);
    for (const { name, description, input } of work.tools) {
      expect(description.length, name).toBeGreaterThan(40);
      expect(z.toJSONSchema(input, { io: 'input', target: 'draft-7' }), name).toMatchObject({
        type: 'object',
      });
    }
  });

  it('remember what was read for one run alone', async () => {
    await using scene = createWorkScene({ files: { a: 'one\n' } });
    await using other = createWorkTools({ worktree: scene.root, runId: 'other', environment: {} });
    await scene.call('read_file', { path: 'a' });
    const edit = other.tools.find(({ name }) => name === 'edit_file')!;
    expect(await edit.call({ path: 'a', oldString: 'one', newString: 'two' })).toMatchObject({ ok: false });
  });

  it('take nothing that is not of their form', async () => {
    await using scene = createWorkScene();
    for (const name of WORK_TOOLS) {
      for (const input of [null, 5, 'x', [], { path: 5, query: 5, pattern: 5, command: 5 }]) {
        expect((await scene.call(name, input)).ok, `${name} ${JSON.stringify(input)}`).toBe(false);
      }
    }
  });
});
