import { expect, it } from 'vitest';
import { readWords } from '../../src/notify/inbound/words.ts';

const SLASH = { needsSlash: true };
const PLAIN = { needsSlash: false };

it.each([
  ['/status', SLASH, { do: 'status' }],
  ['/STATUS@PulseBot', SLASH, { do: 'status' }],
  ['status', SLASH, { do: 'answer', text: 'status' }],
  ['status', PLAIN, { do: 'status' }],
  ['/start shop Make it\nright.', SLASH, { do: 'start', project: 'shop', goal: 'Make it\nright.' }],
  ['/start shop', SLASH, { do: 'help' }],
  ['/resume a7c9', SLASH, { do: 'resume', session: 'a7c9', answer: '' }],
  ['resume a7c9  Use  bcrypt.', PLAIN, { do: 'resume', session: 'a7c9', answer: 'Use  bcrypt.' }],
  ['/abort', SLASH, { do: 'help' }],
  ['/unknown', SLASH, { do: 'help' }],
  ['  Use bcrypt. ', SLASH, { do: 'answer', text: 'Use bcrypt.' }],
  ['starting now', PLAIN, { do: 'answer', text: 'starting now' }],
  ['/pair 00ff', SLASH, { do: 'pair', code: '00ff' }],
])('reads %j', (text, how, command) => expect(readWords(text, how)).toEqual(command));
