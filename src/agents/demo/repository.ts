/** What the demo works on: a tiny package whose tests ask for a function that is not there yet. */

export const DEMO_GOAL = 'Add a slugify function that turns titles into URL slugs, and make the tests pass';

export const DEMO_VERIFY: readonly string[] = ['node --test'];

/** What a person answers when the agent asks about ß. */
export const DEMO_ANSWER = 'Make it "ss": Straße becomes strasse.';

export const DEMO_PACKAGE_NAME = 'pulse-demo';

/** The files by their path, to be committed before the session starts. No dependencies: there is nothing to install. */
export function demoRepositoryFiles(): Record<string, string> {
  return {
    'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
    'README.md': README,
    'src/index.js': INDEX,
    'test/slugify.test.js': TESTS,
  };
}

const MANIFEST = {
  name: DEMO_PACKAGE_NAME,
  version: '0.0.0',
  private: true,
  type: 'module',
  exports: './src/index.js',
  scripts: { test: 'node --test' },
};

const README = `# Titles

Small functions for the titles of a blog.
`;

const INDEX = `/** "the quick fox" → "The quick fox" */
export function capitalize(title) {
  return title.charAt(0).toUpperCase() + title.slice(1);
}
`;

const TESTS = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/index.js';

test('joins words with dashes', () => {
  assert.equal(slugify('Hello World'), 'hello-world');
});

test('never repeats a dash, nor ends with one', () => {
  assert.equal(slugify('Ready?  Steady... Go!'), 'ready-steady-go');
});

test('writes letters without their accents', () => {
  assert.equal(slugify('Crème Brûlée'), 'creme-brulee');
});
`;
