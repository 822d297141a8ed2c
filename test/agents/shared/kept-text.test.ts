import { describe, expect, test } from 'vitest';
import { keepEnd, keepStart } from '../../../src/agents/shared/kept-text.ts';

describe('a text that is cut', () => {
  test('keeps its end, without the word that the cut goes through', () => {
    expect(keepEnd('one two three', 13)).toBe('one two three');
    expect(keepEnd('one two three', 10)).toBe(' two three');
    expect(keepEnd('one two three', 9)).toBe('two three');
    expect(keepEnd('one two three', 8)).toBe(' three');
    expect(keepEnd('one two three', 5)).toBe('three');
    expect(keepEnd('x'.repeat(10), 4)).toBe('xxxx');
  });

  test('keeps its beginning, without the word that the cut goes through', () => {
    expect(keepStart('one two three', 13)).toBe('one two three');
    expect(keepStart('one two three', 12)).toBe('one two …');
    expect(keepStart('one two three', 8)).toBe('one two…');
    expect(keepStart('x'.repeat(10), 4)).toBe('…');
  });
});
