import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redact } from '../../src/domain/redact.ts';
import { draw, runsOf } from '../lanes/lane.ts';
import { BODY, SECRETS } from './secrets.ts';

it('a redacted text is not changed when it is redacted again', () => {
  const piece = fc.constantFrom(
    ...SECRETS,
    'password',
    '=',
    ':',
    ' ',
    '"',
    "'",
    '\\',
    '@',
    '://',
    'a',
    '1',
    '-',
    '_',
    '\n',
    'Bearer ',
    'authorization',
    'token',
    '[redacted]',
    'sk-',
    'eyJ',
    '.',
    '?',
    '&',
    ...['_PASS', 'DB_KEY', 'Cookie: ', 'a=', '--token ', 'curl -u ', 'login ', ' password ', 'https://'],
    ...['hooks.slack.com/services/', '&sig=', '\n--password ', 'abcd1234567', 'SG.', '/bot'],
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, (value) => {
      const once = redact(value);
      expect(redact(once)).toBe(once);
    }),
    { numRuns: runsOf(1_000, 5_000) },
  );
});

const PIECES = [
  'password=',
  'sk-',
  'eyJ-',
  'eyJaaaaaaaa.',
  '://a:',
  'bearer ',
  'authorization: ',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  `${BODY}\n-----END PRIVATE KEY-----\n`,
  `${BODY}\n`,
  'a',
  '://a:b@',
  ...[
    'https://',
    'https://aaaaaaaaaa1',
    'curl ',
    'curl -u ',
    'curl -u a:',
    'Cookie: ',
    'Cookie: a',
    'Cookie: a="',
  ],
  ...[
    '--token ',
    '--a-',
    'login a ',
    'login a password ',
    'A_KEY=',
    'A_PASS="',
    '?sig=',
    'hooks.slack.com/services/',
  ],
];

it.each(draw(PIECES, { of: 'linear', share: 0.25 }))('is linear in megabytes of %j', (piece) => {
  // Of this thread alone: what else the machine does is not the text's fault.
  const before = process.threadCpuUsage();
  redact(piece.repeat(4_000_000 / piece.length));
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(4_000);
});
