import { describe, expect, it } from 'vitest';
import { readResearchFile } from '../../src/loops/research/research-file.ts';

const SMALLEST = {
  goal: 'Make it fast',
  metric: { name: 'time', direction: 'lower', verifyCommand: 'node bench.js' },
  scope: { inScope: ['src/**'] },
};

describe('research.yaml', () => {
  it('needs a goal, a metric and a scope, and has defaults for the rest', () => {
    expect(readResearchFile(SMALLEST)).toEqual({
      file: {
        ...SMALLEST,
        metric: { ...SMALLEST.metric, isolate: false },
        scope: { inScope: ['src/**'], readOnly: [], outOfScope: [] },
        strategy: [],
        timeout: 600_000,
      },
    });
  });

  it('may have every field', () => {
    const read = readResearchFile({
      ...SMALLEST,
      metric: { ...SMALLEST.metric, pattern: 'time: (\\S+)', target: 10, min_delta: '2.5 %', isolate: true },
      guard: 'npm test',
      confirm: 'node held-out.js',
      scope: { inScope: ['src/**'], readOnly: ['bench.js'], outOfScope: ['src/vendor'] },
      strategy: ['cache', 'unroll'],
      iterations: 20,
      timeout: '90s',
      setup: ['npm install'],
    });
    expect(read).toMatchObject({
      file: { metric: { min_delta: { unit: 'relative', value: 0.025 } }, timeout: 90_000, iterations: 20 },
    });
    const absolute = readResearchFile({ ...SMALLEST, metric: { ...SMALLEST.metric, min_delta: 0.5 } });
    expect(absolute).toMatchObject({ file: { metric: { min_delta: { unit: 'absolute', value: 0.5 } } } });
  });

  it('tells every violation at once, with its place', () => {
    const read = readResearchFile({
      goal: ' ',
      metric: { name: 'time', direction: 'down', verifyCommand: 'x', pattern: '(', min_delta: '-1%' },
      scope: { inScope: [] },
      iterations: 0,
      timeout: 'soon',
      colour: 'red',
    });
    const problems = 'problems' in read ? read.problems : [];
    const places = problems.map((problem) => problem.split(':')[0]);
    expect(places.sort()).toEqual([
      'goal',
      'iterations',
      'metric.direction',
      'metric.min_delta',
      'metric.pattern',
      'research.yaml',
      'scope.inScope',
      'timeout',
    ]);
    expect(problems.join('\n')).toContain('colour');
  });

  it.each([null, 'text', [], 3])('refuses %j', (content) => {
    expect(readResearchFile(content)).toHaveProperty('problems');
  });
});
