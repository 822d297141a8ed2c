/** Mocks of the very module that a test is about: `adder.test.ts` that mocks `./adder`. */
import { posix } from 'node:path';
import type { Note } from './notes.ts';

const MOCKS = [
  /\b(?:vi|jest)\.(?:mock|doMock|setMock|unstable_mockModule)\s*\(\s*(?:import\s*\(\s*)?["'`]([^"'`]+)["'`]/g,
  /\bmock\.module\s*\(\s*["'`]([^"'`]+)["'`]/g,
  /\b(?:proxyquire|rewiremock|td\.replace(?:Esm)?|quibble)\s*\(\s*["'`]([^"'`]+)["'`]/g,
  /\bpatch(?:\.(?:object|multiple|dict))?\s*\(\s*["']([\w.]+)["']/g,
  /\bmonkeypatch\.(?:setattr|setitem)\s*\(\s*["']?([\w.]+)/g,
  /\bpatch\.object\s*\(\s*([\w.]+)/g,
  /\b(?:sinon|vi|jest)\.(?:stub|spyOn|replace)\s*\(\s*([\w.]+)\s*,[^)]*\)\s*\.?(?:mock|returns|callsFake|resolves)/g,
];

export function findMocks(path: string, text: string): Note[] {
  const subject = subjectOf(path);
  if (subject === null) return [];
  return MOCKS.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match): Note[] => {
      const names = match[1]!.split(/[./\\]/).map(plain);
      if (!names.includes(subject)) return [];
      const line = text.slice(0, match.index).split('\n').length;
      return [{ path, line, what: 'mocked_subject', text: match[0].slice(0, 200) }];
    }),
  );
}

/** What a test is about, by its name. */
function subjectOf(path: string): string | null {
  const name = posix.basename(path).replace(/\.[^.]+$/, '');
  const stem = name.replace(/^tests?[_-]|[._-](?:tests?|spec|check|unit|e2e)$|(?:Tests?|Spec)$/g, '');
  return stem === '' || /^(?:index|main|setup|conftest|test|tests)$/.test(stem) ? null : plain(stem);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}
