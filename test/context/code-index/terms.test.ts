import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stem, termsOf } from '../../../src/context/code-index/terms.ts';

describe('the words of code', () => {
  it('are the parts of its identifiers, and each identifier whole', () => {
    expect(termsOf('parseHTTPHeader(max_line_count)')).toEqual([
      ...['pars', 'http', 'header', 'parsehttpheader', 'max', 'line', 'count'],
    ]);
  });

  it('leave out what nearly every question has', () => {
    expect(termsOf('Where is the lease of a session?')).toEqual(['leas', 'session']);
  });

  it('are the same for the forms of a word', () => {
    for (const forms of [
      ['store', 'stores', 'stored', 'storing'],
      ['retry', 'retries'],
      ['stop', 'stops', 'stopped', 'stopping'],
      ['watch', 'watches', 'watched', 'watching'],
      ['miss', 'misses', 'missed'],
    ])
      expect(new Set(forms.map(stem)).size, forms.join()).toBe(1);
  });

  it('keep words apart that only end alike', () => {
    expect(stem('thing')).toBe('thing');
    expect(stem('status')).toBe('status');
    expect(stem('class')).toBe('class');
    expect(stem('bed')).toBe('bed');
  });

  it('are found in any text, also in other scripts', () => {
    expect(termsOf('Größe der Datei')).toEqual(['größe', 'der', 'datei']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const term of termsOf(text)) expect(term.length).toBeGreaterThan(1);
      }),
    );
  });

  it('are each two letters where a script has no spaces, so that a part of a sentence is found', () => {
    expect(termsOf('数据库')).toEqual(['数据', '据库']);
    const sentence = termsOf('// 打开港口的函数，'.repeat(20));
    for (const term of termsOf('港口')) expect(sentence).toContain(term);
    expect(termsOf('サーバーのAPI')).toEqual(['サー', 'ーバ', 'バー', 'ーの', 'api']);
    expect(termsOf('𠮷野家')).toEqual(['𠮷野', '野家']);
  });
});
