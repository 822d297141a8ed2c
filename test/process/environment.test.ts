import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentEnvironment, withheldNames } from '../../src/process/environment.ts';

const given = (
  base: NodeJS.ProcessEnv,
  rest: { own?: string[]; pass?: string[]; add?: Record<string, string> } = {},
) => agentEnvironment({ base, own: [], pass: [], add: {}, ...rest });

describe('the environment of an agent', () => {
  const everybody =
    'PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_TIME TZ TMPDIR TERM CI XDG_RUNTIME_DIR SSH_AUTH_SOCK ' +
    'GIT_SSH_COMMAND HTTP_PROXY NO_PROXY https_proxy NODE_EXTRA_CA_CERTS JAVA_HOME GOPATH CARGO_HOME ' +
    'RUSTUP_HOME PYENV_ROOT NVM_DIR VOLTA_HOME PNPM_HOME VIRTUAL_ENV';
  it.each(everybody.split(' '))('holds %s', (name) => {
    expect(given({ [name]: 'value' })).toEqual({ [name]: 'value' });
  });

  const nobody =
    'ANTHROPIC_API_KEY OPENAI_API_KEY AWS_SECRET_ACCESS_KEY GITHUB_TOKEN NODE_OPTIONS LD_PRELOAD PATHS HOMER ' +
    'MY_HOME PROXY LC CIRCLE PULSE_HOME PULSE_DATABASE_URL PULSE_TOKEN PULSE_TOOLS_TOKEN PULSE_RUN_ID path';
  it.each(nobody.split(' '))('does not hold %s', (name) => {
    expect(given({ [name]: 'value' })).toEqual({});
  });

  it('holds the adapter’s own variables and those the config passes, by name or pattern', () => {
    const base = { ANTHROPIC_API_KEY: '1', CLAUDE_X: '2', MY_DB: '3', X_SUFFIX: '4', OTHER: '5' };
    const { OTHER, ...rest } = base;
    expect(given(base, { own: ['ANTHROPIC_*', 'CLAUDE_*'], pass: ['MY_DB', '*_SUFFIX'] })).toEqual(rest);
  });

  it('takes what Pulse adds over what the user has', () => {
    const add = { PULSE_TOOLS_TOKEN: 'for this run', PATH: '/x' };
    expect(given({ PATH: '/y', PULSE_TOOLS_TOKEN: 'mine' }, { add })).toEqual(add);
  });

  it('never holds Pulse’s own secrets, whatever is asked for', () => {
    const name = fc.oneof(
      fc.constantFrom('PULSE_HOME', 'PULSE_DATABASE_URL'),
      fc.stringMatching(/^[A-Z_]{0,9}$/).map((middle) => `PULSE_${middle}TOKEN`),
    );
    const pattern = fc.oneof(name, fc.constantFrom('*', 'PULSE_*', '*TOKEN', '*_URL', '*HOME'));
    fc.assert(
      fc.property(fc.uniqueArray(name), fc.array(pattern), fc.array(pattern), (names, own, pass) => {
        const base = Object.fromEntries(names.map((each) => [each, 'secret']));
        expect(given(base, { own, pass })).toEqual({});
      }),
    );
  });

  it('and the withheld names together are what there was', () => {
    const names = fc.constantFrom('PATH', 'LC_A', 'SECRET', 'A_PROXY', 'X', 'PULSE_HOME', 'CI');
    fc.assert(
      fc.property(fc.dictionary(names, fc.string()), fc.array(names), (base, pass) => {
        const env = given(base, { pass });
        const together = [...Object.keys(env), ...withheldNames(base, env)];
        expect(together.sort()).toEqual(Object.keys(base).sort());
        for (const name of Object.keys(env)) expect(env[name]).toBe(base[name]);
      }),
    );
  });
});
