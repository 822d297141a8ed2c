/** What `pulse status --json` tells a worker of its checkout. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handoffPayload } from '../../../src/loops/beads/files/handoff-payload.ts';
import { consumeHandoff, writeHandoff } from '../../../src/loops/beads/files/handoffs.ts';
import { writeOnboarding } from '../../../src/loops/beads/files/onboarding.ts';
import { scoutRepository } from '../../../src/loops/beads/files/scout.ts';
import { appendCompleted } from '../../../src/loops/beads/files/state-file.ts';

const AT = '2026-02-03T04:05:06.000Z';
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('scouting a checkout', () => {
  it('says that nothing is there, and leaves nothing', async () => {
    expect(await scoutRepository(root)).toEqual({
      onboarding: { status: 'missing' },
      state: null,
      handoffs: [],
    });
    expect(readdirSync(root)).toEqual([]);
  });

  it('says that it is prepared, what was done and what waits to be resumed', async () => {
    await writeOnboarding(root, {
      at: AT,
      found: { git: '2.40', worktrees: true, agents: [], sandbox: null } as never,
    });
    await appendCompleted(root, { beadId: 'app-1', summary: 'Parse', commit: 'abc', at: AT });
    const handoff = handoffPayload({
      ...{ mode: 'worker', nickname: 'worker-1', mailName: 'Fox', epicId: 'app-9', topic: 'epic-app-9' },
      ...{ coordinator: 'Coordinator', feature: 'auth', pausedAt: AT, contextUsed: 0.67, closedBeads: [] },
    });
    await writeHandoff(root, handoff);
    expect(await scoutRepository(root)).toEqual({
      onboarding: { status: 'current' },
      state: expect.stringContaining('app-1 completed: Parse'),
      handoffs: [
        expect.objectContaining({ owner_id: 'worker-Fox', path: '.pulse/handoffs/worker-Fox.json' }),
      ],
    });
    await consumeHandoff(root, 'worker-Fox', { at: AT });
    expect((await scoutRepository(root)).handoffs).toEqual([]);
  });

  it('gives the end of a long state, from a whole line on', async () => {
    mkdirSync(join(root, '.pulse'));
    writeFileSync(
      join(root, '.pulse/STATE.md'),
      Array.from({ length: 9_000 }, (_, n) => `- line ${n}\n`).join(''),
    );
    const { state } = await scoutRepository(root);
    expect(state).toMatch(/^- line \d+\n/);
    expect(state).toMatch(/- line 8999\n$/);
    expect(state!.length).toBeLessThan(40_000);
  });

  it('follows no link to a state of others', async () => {
    mkdirSync(join(root, '.pulse'));
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync(join(root, 'secret'), join(root, '.pulse/STATE.md'));
    expect((await scoutRepository(root)).state).toBeNull();
  });
});
