/** A real TypeScript project with a type error and a failing test that nobody asked an agent to mend. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const FAULTY_FILES = {
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["src"] }\n',
  'src/legacy.ts': 'export const count: number = "three";\n',
  'test/legacy.test.js':
    "const { test } = require('node:test');\ntest('adds', () => { throw new Error('never worked'); });\ntest('holds', () => {});\n",
};

export const TYPE_CHECK = 'tsc --noEmit -p .';
export const FAULTY_CHECKS = [
  { command: TYPE_CHECK, source: 'Build', scope: ['src/**', 'tsconfig.json'] },
  { command: 'node --test', source: 'Test' },
];

/** Where `tsc` is. */
export const PROGRAMS = join(import.meta.dirname, '../../node_modules/.bin');

/** A module with one function: right, or of a type that it has not. */
export const goodModule = (name: string): string =>
  `export const ${name} = (text: string): string => text.trim();`;
export const badModule = (name: string): string => `export const ${name} = (text: string): number => text;`;

export function writeFaultyFiles(root: string): void {
  for (const [path, text] of Object.entries(FAULTY_FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
