/** What tsconfig.json, composer.json and deno.json say about the checks. */
import { jsonMembers } from './json-members.ts';
import type { Part } from './part.ts';

/** What is checked, and how strictly. How it is resolved and emitted belongs to the work. */
const STRICTNESS =
  /^(?:strict\w*|no[A-Z]\w*|skip\w*LibCheck|checkJs|allowJs|alwaysStrict|exactOptionalPropertyTypes|use\w*InCatchVariables|suppress\w*|forceConsistentCasingInFileNames|allowUnreachableCode|allowUnusedLabels|isolated\w+|erasableSyntaxOnly|plugins)$/;

export const tsconfig: Part = jsonMembers('strictness and what is checked', (key) => {
  if (key === 'compilerOptions') return (option) => STRICTNESS.test(option);
  return /^(?:include|exclude|files|extends|references|ts-node|vueCompilerOptions|angularCompilerOptions)$/.test(
    key,
  );
});

export const composerJson: Part = jsonMembers('scripts', (key) => {
  if (/^(?:scripts|scripts-aliases|autoload-dev|repositories)$/.test(key)) return true;
  return key === 'config' ? (inner) => !/^(?:platform|sort-packages|allow-plugins)$/.test(inner) : false;
});

export const denoJson: Part = jsonMembers('tasks, tests and lint', (key) =>
  /^(?:tasks|test|lint|fmt|exclude|include|unstable|nodeModulesDir|compilerOptions|bench)$/.test(key),
);
