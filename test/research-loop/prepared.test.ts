/** What setup made in the session's worktree serves every checkout that is measured in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { idea, prepareLab, research, tell } from './lab.ts';

/** The metric needs what setup makes; `go.sum` is a lockfile. */
const FILES = {
  '.gitignore': 'deps/\n',
  'go.sum': 'v1\n',
  'measure.sh':
    '#!/bin/sh\ntest "$(cat deps/lib)" = "$(cat go.sum)" || exit 3\necho "cost: $(sh src/cost)"\n',
};

function setupOf(scratch: Scratch): string {
  return `pwd >> '${scratch.path}/setups'; mkdir -p deps && cp go.sum deps/lib`;
}

/** Where setup ran, each folder by its last part. */
function setupsOf(scratch: Scratch): string[] {
  const places = readFileSync(join(scratch.path, 'setups'), 'utf8').trim().split('\n');
  return places.map((place) => place.slice(place.lastIndexOf('/') + 1));
}

describe('setup of research', () => {
  it('runs in the worktree, and in a checkout only for another lockfile; nothing is left beside the worktree', async () => {
    using scratch = createScratch();
    prepareLab(scratch, FILES);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 3,
      content: { setup: [setupOf(scratch)], scope: { inScope: ['src/**', 'go.sum'] } },
      scripts: {
        'exp-1': `${idea('cheaper', 90)}\necho poisoned > deps/lib`,
        'exp-2': `${idea('another version', 80)}\necho v2 > go.sum`,
        'exp-3': idea('cheaper still', 70),
      },
    });
    expect(experiments.map(({ status, metric }) => [status, metric])).toEqual([
      ['keep', 90],
      ['keep', 80],
      ['keep', 70],
    ]);
    const { id } = session;
    expect(setupsOf(scratch)).toEqual([id, `${id}.candidate`, id]);
    expect(existsSync(session.worktree_path)).toBe(false);
    expect(readdirSync(dirname(session.worktree_path))).toEqual([]);
  }, 60_000);

  it('runs once in each worktree of parallel research', async () => {
    using scratch = createScratch();
    prepareLab(scratch, FILES);
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session, experiments } = await research(pulse, scratch, {
      iterations: 2,
      parallel: 2,
      content: { setup: [setupOf(scratch)] },
      scripts: { 'exp-1': idea('cheaper', 90), 'exp-2': `${tell('nothing')}` },
    });
    expect(session.status).toBe('complete');
    expect(experiments).toHaveLength(2);
    const places = setupsOf(scratch);
    expect(places[0]).toBe(session.id);
    expect(places.filter((place) => place.includes('.'))).toEqual([]);
    expect(readdirSync(dirname(session.worktree_path))).toEqual([]);
  }, 60_000);
});
