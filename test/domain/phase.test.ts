import { describe, expect, it } from 'vitest';
import type { EventType } from '../../src/domain/events.ts';
import { beginsStep, doingOf, nowOf, type Seen, type SeenEvent } from '../../src/domain/phase.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** As they came, a second apart. */
function seen(...told: (EventType | [EventType, Record<string, unknown>])[]): Seen {
  const events = told.map((one, second): SeenEvent => {
    const [type, data] = typeof one === 'string' ? [one, {}] : one;
    return { type, at: at(second), iteration: 1, data };
  });
  const newestFirst = events.toReversed();
  return { newestFirst, began: newestFirst.find(beginsStep) ?? null };
}

const TOOL: [EventType, Record<string, unknown>] = ['agent.tool', { phase: 'start', name: 'Bash ls' }];

describe('what happens in an iteration', () => {
  it('has been so since the agent began, however much it has told since', () => {
    const working = seen('iteration.planned', 'iteration.started', 'agent.usage', TOOL, 'agent.text');
    expect(doingOf(working)).toEqual({ text: 'agent working', since: at(1), lastSign: at(4) });
    expect(nowOf(working)).toEqual({
      ...{ step: 'agent', iteration: 1, activity: 'agent working: Bash ls', since: at(1), at: at(4) },
    });
  });

  it('counts from the newest start: after a setup, and of an attempt that is a second one', () => {
    const setup = seen(
      'iteration.started',
      ['iteration.progress', { phase: 'setup', command: 'npm ci' }],
      ['iteration.progress', { phase: 'agent' }],
      'agent.text',
    );
    expect(doingOf(setup)).toEqual({ text: 'agent working', since: at(2), lastSign: at(3) });
    const again = seen('iteration.started', 'agent.text', 'iteration.retried', 'iteration.started', TOOL);
    expect(doingOf(again)).toMatchObject({ since: at(3), lastSign: at(4) });
  });

  it('stays a check where the last that the agent told is written late', () => {
    const late = seen('iteration.started', [
      'iteration.progress',
      { phase: 'verifying', command: 'npm test' },
    ]);
    const told = seen(
      'iteration.started',
      ['iteration.progress', { phase: 'verifying', command: 'npm test' }],
      'agent.usage',
    );
    expect(doingOf(late)).toEqual({ text: 'verifying: npm test', since: at(1), lastSign: at(1) });
    expect(doingOf(told)).toEqual({ text: 'verifying: npm test', since: at(1), lastSign: at(2) });
    expect(nowOf(told)).toMatchObject({ step: 'verifying', activity: 'verifying: npm test' });
  });

  it('is a wait where no slot was free, and nothing where nothing began', () => {
    const queued = seen('iteration.planned', ['agent.queued', { inUse: 2, maxAgents: 2 }]);
    expect(doingOf(queued)?.text).toBe('waits for a free agent slot (2 of 2 in use)');
    expect(doingOf(seen('agent.text'))).toBeNull();
    expect(nowOf({ newestFirst: [], began: null })).toBeNull();
  });
});
