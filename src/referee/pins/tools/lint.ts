/** Linters and compilers of JavaScript and TypeScript: what they look at is the work, how they look is their config. */
import type { Family } from '../families.ts';
import type { Tool } from './tool.ts';

function looksAtWork(...families: Family[]): Tool {
  return {
    args: 'work',
    follow(_, { findings }) {
      for (const family of families) findings.families.add(family);
    },
  };
}

const lint = looksAtWork('javascript_lint');
const types = looksAtWork('typescript');
const build = looksAtWork('javascript', 'typescript');

export const LINT_TOOLS: Record<string, Tool> = {
  ...{
    eslint: looksAtWork('javascript_lint', 'typescript'),
    eslint_d: lint,
    biome: lint,
    rome: lint,
    xo: lint,
  },
  ...{
    prettier: lint,
    stylelint: lint,
    standard: lint,
    oxlint: lint,
    knip: lint,
    dprint: lint,
    publint: lint,
  },
  ...{ tsc: types, tsgo: types, 'vue-tsc': types, 'svelte-check': types, tsup: build, attw: types },
  ...{
    vite: build,
    next: build,
    nuxt: build,
    astro: build,
    ng: build,
    tsdown: build,
    unbuild: build,
    'tsc-alias': types,
  },
};
