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
    expect(termsOf('Größe der Datei, 数据库')).toEqual(['größe', 'der', 'datei', '数据库']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const term of termsOf(text)) expect(term.length).toBeGreaterThan(1);
      }),
    );
  });
});
