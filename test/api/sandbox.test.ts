/** `sandbox` in the starts over HTTP: the same values and the same refusals as `--sandbox`, and who may lift it. */
import { describe, expect, it } from 'vitest';
import { pathWithBwrap } from '../fakes/programs.ts';
import { type Answer, type ApiScene, makeApiScene } from './scene.ts';

const SESSION = { goal: 'Say hello' };
const WORKFLOW = {
  plan: { title: 'Greet people', pulses: [{ id: 'one', title: 'Hello', description: 'Say hello.' }] },
};
const RESEARCH = {
  research: {
    goal: 'Lower the cost',
    metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat README.md' },
    scope: { inScope: ['src/**'] },
  },
};
const STARTS: [string, object][] = [
  ['/api/pulse/start', SESSION],
  ['/api/workflows', WORKFLOW],
  ['/api/research', RESEARCH],
];

/** `works`: whether what stands in for bubblewrap can make a sandbox. */
async function sceneWhere({ works }: { works: boolean }, environment = {}): Promise<ApiScene> {
  const scene = await makeApiScene({ environment });
  scene.environment.PATH = pathWithBwrap(scene.folder, works ? 'exit 0' : null);
  return scene;
}

function start(
  { ask, root }: ApiScene,
  [path, what]: [string, object],
  { sandbox, isStranger }: { sandbox: unknown; isStranger?: boolean },
): Promise<Answer> {
  const body = { projectPath: root, agent: 'demo', sandbox, ...what };
  return ask('POST', path, { body, isStranger });
}

async function expectNothingMade({ pulse, refs, handed }: ApiScene): Promise<void> {
  expect((await pulse.list({})).sessions).toEqual([]);
  expect(refs('refs/heads')).toHaveLength(1);
  expect(handed).toEqual([]);
}

describe.each(STARTS)('a sandbox asked of %s', (...kind) => {
  it('is settled with the start, and said in its first event', async () => {
    const scene = await sceneWhere({ works: true });
    const { status, json } = await start(scene, kind, { sandbox: 'on' });
    expect(status, JSON.stringify(json)).toBe(201);
    expect((await scene.events({ id: json.sessionId }))[0]!.data.sandbox).toBe('on');
  });

  it('that cannot be had is refused as on the command line, and nothing is created', async () => {
    const scene = await sceneWhere({ works: false });
    expect(await start(scene, kind, { sandbox: 'on' })).toMatchObject({
      status: 422,
      json: {
        error: {
          code: 'sandbox_unavailable',
          message: 'The sandbox cannot be used: bubblewrap is not installed.',
        },
      },
    });
    await expectNothingMade(scene);
  });

  it('wins over the config; `auto` goes without where there is none', async () => {
    const configured = { PULSE_SANDBOX: 'on' };
    for (const [works, sandbox, had] of [
      [true, 'off', 'off'],
      [true, undefined, 'on'],
      [true, 'auto', 'on'],
      [false, 'auto', 'off'],
    ] as const) {
      const scene = await sceneWhere({ works }, configured);
      const { status, json } = await start(scene, kind, { sandbox });
      expect([sandbox, status], JSON.stringify(json)).toEqual([sandbox, 201]);
      expect((await scene.events({ id: json.sessionId }))[0]!.data.sandbox).toBe(had);
    }
  });

  it.each(['off', 'auto'])('and lifted with `%s` needs the token', async (sandbox) => {
    const scene = await sceneWhere({ works: true }, { PULSE_SANDBOX: 'on' });
    expect(await start(scene, kind, { sandbox, isStranger: true })).toMatchObject({
      status: 401,
      json: { error: { code: 'unauthorized' } },
    });
    await expectNothingMade(scene);
  });

  it.each([true, 'ON', ''])('must be one of three words, not %j', async (sandbox) => {
    const scene = await sceneWhere({ works: true });
    const { status, json } = await start(scene, kind, { sandbox });
    expect([status, json.error.details.violations]).toMatchObject([422, [{ path: 'sandbox' }]]);
    await expectNothingMade(scene);
  });
});
