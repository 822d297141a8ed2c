/** What an agent tells of its spending is bounded: it can exhaust its budget, and nothing else. */
import { describe, expect, it } from 'vitest';
import { createUsageMeter } from '../../src/engine/run/usage-meter.ts';
import { COMPLETE, makeScene } from './scene.ts';

describe('an agent that reports more than anybody can spend', () => {
  it('is refused, and the session stays readable with what was believable', async () => {
    const scene = await makeScene();
    const report = (json: string): string => `pulse tool report_usage '${json}' >> replies; echo $? >> codes`;
    const session = await scene.startAndRun(
      [
        report('{"inputTokens": 9007199254740991}'),
        report('{"inputTokens": 9007199254740991, "outputTokens": 9007199254740991}'),
        report('{"costUsd": 1e300}'),
        report('{"contextWindow": 1e18}'),
        report('{"inputTokens": 12, "outputTokens": 3}'),
        COMPLETE,
      ].join('\n'),
    );
    expect(session).toMatchObject({ status: 'complete', total_tokens_used: 15, spent_usd: 0 });
    const codes = scene.sh(scene.root, 'show', `${session.branch_name}:codes`).split('\n');
    expect(codes).toEqual(['1', '1', '1', '1', '0']);
    expect((await scene.pulse.list({})).sessions).toHaveLength(1);
    expect((await scene.pulse.figures()).tokens).toBe(15);
  });

  it('cannot pass what a run can have by printing it, and what is no number counts nothing', () => {
    const most = Number.MAX_VALUE;
    const meter = createUsageMeter();
    const huge = { costUsd: most, inputTokens: most, outputTokens: 1e300, cacheTokens: Infinity };
    for (let i = 0; i < 3; i++) meter.report(huge);
    expect(meter.total()).toEqual({
      costUsd: 1e9,
      inputTokens: 1e12,
      outputTokens: 1e12,
      cacheTokens: 1e12,
    });
    const odd = createUsageMeter();
    odd.report({ costUsd: Number.NaN, inputTokens: -5, outputTokens: 1.5, cacheTokens: Number.NaN });
    expect(odd.total()).toEqual({ costUsd: null, inputTokens: 0, outputTokens: 2, cacheTokens: 0 });
  });
});

it.each([[{ maxIterations: 1e15 }], [{ budgetTokens: 1e16 }]])(
  'a start with %o is refused',
  async (limits) => {
    const { start, pulse } = await makeScene();
    await expect(start(COMPLETE, limits)).rejects.toMatchObject({ code: 'invalid_input' });
    expect((await pulse.list({})).sessions).toEqual([]);
  },
);
