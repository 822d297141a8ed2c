/** The measurements, their letters and their page. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const BENCH = join(import.meta.dirname, '../bench');
const PAGE = readFileSync(join(import.meta.dirname, '../docs/benchmarks.md'), 'utf8');
const RUN = readFileSync(join(BENCH, 'run.ts'), 'utf8');
/** At the beginning of a row's text. */
const LETTER = /[`'"]\(([a-z])\) /g;

const files = readdirSync(BENCH).filter((name) => name.endsWith('.ts') && name !== 'run.ts');
const letters = new Map(
  files.map((name) => {
    const found = readFileSync(join(BENCH, name), 'utf8').matchAll(LETTER);
    return [name, [...new Set(Array.from(found, ([, letter]) => letter!))]] as const;
  }),
);
const all = [...letters.values()].flat().sort();

describe('the benchmarks', () => {
  it('have a letter each, which belongs to one file', () => {
    expect(all.length).toBeGreaterThan(20);
    expect(all).toEqual([...new Set(all)]);
  });

  it('are all taken by `npm run bench`', () => {
    const measured = [...letters].filter(([, own]) => own.length > 0).map(([name]) => name);
    expect(measured.filter((name) => !RUN.includes(`['${name}'`))).toEqual([]);
  });

  it('hand over rows, and print nothing else', () => {
    for (const [name, own] of letters) {
      const text = readFileSync(join(BENCH, name), 'utf8');
      if (own.length > 0) expect(text, name).toMatch(/\btell\(/);
      if (own.length > 0) expect(text, name).not.toMatch(/console\.|process\.stdout\.write/);
    }
  });

  it('are described once each on their page', () => {
    const section = PAGE.split('## How each is measured')[1]!.split('\n## ')[0]!;
    const described = Array.from(section.matchAll(/^- \*\*\(([a-z])\)\*\*/gm), ([, letter]) => letter!);
    expect(described.sort()).toEqual(all);
  });
});
