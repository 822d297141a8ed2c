import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSyntaxChunker } from '../../../src/context/code-index/syntax-chunks.ts';

const chunker = createSyntaxChunker();

async function names(path: string, text: string): Promise<(string | null)[]> {
  return ((await chunker.chunks(path, text)) ?? []).map(({ name }) => name);
}

const body = (line: string) => Array.from({ length: 6 }, () => line).join('\n');

describe('chunks along the syntax', () => {
  it('are the declarations of each language', async () => {
    const sources: Record<string, string> = {
      'a.ts': `export function first(): void {\n${body('  go();')}\n}\nconst second = () => {\n${body('  go();')}\n};\n`,
      'a.js': `class first {\n${body('  x = 1;')}\n}\nfunction second() {\n${body('  go();')}\n}\n`,
      'a.tsx': `function first() {\n${body('  go();')}\n  return <b />;\n}\nfunction second() {\n${body('  go();')}\n}\n`,
      'a.py': `def first():\n${body('    go()')}\n\nclass second:\n${body('    x = 1')}\n`,
      'a.go': `package a\n\nfunc first() {\n${body('\tgo1()')}\n}\n\nfunc second() {\n${body('\tgo1()')}\n}\n`,
      'a.rs': `fn first() {\n${body('    go();')}\n}\n\nfn second() {\n${body('    go();')}\n}\n`,
      'a.java': `class first {\n${body('  int x;')}\n}\nclass second {\n${body('  int x;')}\n}\n`,
      'a.cs': `class first {\n${body('  int x;')}\n}\nclass second {\n${body('  int x;')}\n}\n`,
      'a.rb': `def first\n${body('  go')}\nend\n\ndef second\n${body('  go')}\nend\n`,
      'a.php': `<?php\nfunction first() {\n${body('  go();')}\n}\nfunction second() {\n${body('  go();')}\n}\n`,
      'a.sh': `first() {\n${body('  go')}\n}\nsecond() {\n${body('  go')}\n}\n`,
    };
    for (const [path, text] of Object.entries(sources)) {
      const found = await names(path, text);
      expect(
        found.filter((name) => name !== null),
        path,
      ).toEqual(['first', 'second']);
    }
  });

  it('have what is said above a declaration with it', async () => {
    const text = `import 'x';\n\n/** What it does. */\nfunction first() {\n${body('  go();')}\n}\n`;
    expect(await chunker.chunks('a.ts', text)).toEqual([
      { startLine: 1, endLine: 1, name: null, container: null },
      { startLine: 3, endLine: 11, name: 'first', container: null },
    ]);
  });

  it('cut a long class along its methods', async () => {
    const method = (name: string) => `  ${name}() {\n${body('    go();')}\n  }\n`;
    const methods = Array.from({ length: 12 }, (_, index) => `m${index}`);
    const text = `class Long {\n${methods.map(method).join('')}}\n`;
    const found = await names('a.ts', text);
    expect(found.slice(0, 3)).toEqual(['Long', 'm0', 'm1']);
    expect(found.at(-1)).toBe('m11');
  });

  it('cut a long table by lines, and know nothing of a language without a grammar', async () => {
    const text = `const table = \`\n${'row\n'.repeat(400)}\`;\n`;
    const chunks = (await chunker.chunks('a.ts', text))!;
    expect(chunks.length).toBeGreaterThan(5);
    expect(chunks.every(({ startLine, endLine }) => endLine - startLine < 60)).toBe(true);
    expect(await chunker.chunks('notes.txt', text)).toBeNull();
  });

  it('are in order, inside the file and never empty, whatever the text', async () => {
    const source = readFileSync(new URL('../../../src/engine/run/agent-host.ts', import.meta.url), 'utf8');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(source.length),
        fc.nat(source.length),
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.constantFrom('a.ts', 'a.py', 'a.go', 'a.rb', 'a.cpp'),
        async (from, to, noise, path) => {
          const text = source.slice(0, from) + noise + source.slice(to);
          const last = text.split('\n').length;
          let end = 0;
          for (const { startLine, endLine } of (await chunker.chunks(path, text)) ?? []) {
            expect(startLine).toBeLessThanOrEqual(endLine);
            expect(endLine).toBeLessThanOrEqual(last);
            expect(endLine).toBeGreaterThan(0);
            expect(startLine).toBeGreaterThanOrEqual(Math.min(end, startLine));
            end = endLine;
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
