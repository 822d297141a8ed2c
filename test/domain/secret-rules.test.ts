import { describe, expect, it } from 'vitest';
import { createRedactor, redact, redactLines } from '../../src/domain/redact.ts';
import { PLACE_RULES, SHAPE_RULES, TOKEN_RULES } from '../../src/domain/secret-rules.ts';

const BODY = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6';
const HEX = '0123456789abcdef0123456789abcdef';
const LINES = `${BODY}${BODY.slice(8)}\n${BODY}\nAAA=\n`;

/** For each rule what it must hide, and what of it may stay. */
const PROBES: Record<string, [secret: string, shown: string][]> = {
  Anthropic: [[`sk-ant-api03-${BODY}`, '[redacted]']],
  'OpenAI, OpenRouter': [
    [`sk-proj-${BODY}`, '[redacted]'],
    [`sk-or-v1-${BODY}`, '[redacted]'],
  ],
  GitHub: [
    [`ghp_${BODY}`, '[redacted]'],
    [`github_pat_${BODY}`, '[redacted]'],
  ],
  GitLab: [
    [`glpat-${BODY}`, '[redacted]'],
    [`gldt-${BODY}`, '[redacted]'],
  ],
  Slack: [[`xoxb-123-${BODY}`, '[redacted]']],
  AWS: [['AKIAIOSFODNN7EXAMPLE', '[redacted]']],
  Google: [[`AIza${BODY}`, '[redacted]']],
  npm: [[`npm_${BODY}`, '[redacted]']],
  'Hugging Face': [[`hf_${BODY}`, '[redacted]']],
  Groq: [[`gsk_${BODY}`, '[redacted]']],
  Stripe: [[`sk_live_${BODY}`, '[redacted]']],
  SendGrid: [[`SG.${BODY.slice(0, 22)}.${BODY}`, '[redacted]']],
  DigitalOcean: [[`dop_v1_${BODY}`, '[redacted]']],
  PyPI: [[`pypi-AgEIcHlwaS5vcmc${BODY}`, '[redacted]']],
  age: [[`AGE-SECRET-KEY-1${BODY.toUpperCase()}${BODY.toUpperCase().slice(14)}`, '[redacted]']],
  Vault: [
    [`hvs.CAESI${BODY}`, '[redacted]'],
    [`hvb.${BODY}`, '[redacted]'],
  ],
  Doppler: [[`dp.pt.${BODY}`, '[redacted]']],
  Linear: [[`lin_api_${BODY}`, '[redacted]']],
  Notion: [
    [`secret_${BODY}${BODY.slice(29)}`, '[redacted]'],
    [`ntn_${BODY}${BODY.slice(20)}`, '[redacted]'],
  ],
  Shopify: [
    [`shpat_${HEX}`, '[redacted]'],
    [`shpss_${HEX}`, '[redacted]'],
  ],
  Twilio: [[`SK${HEX}`, '[redacted]']],
  Mailgun: [[`key-${HEX}`, '[redacted]']],
  Databricks: [[`dapi${HEX}`, '[redacted]']],
  Atlassian: [[`ATATT3x${BODY}`, '[redacted]']],
  Supabase: [[`sbp_${HEX}01234567`, '[redacted]']],
  'private key': [
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\\nMIIE+/=\\n-----END OPENSSH PRIVATE KEY-----', '[redacted]'],
  ],
  'PGP private key': [
    [
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v1.4.11 (GNU/Linux)\n\n${LINES}=aB3d\n-----END PGP PRIVATE KEY BLOCK-----`,
      '[redacted]',
    ],
  ],
  'PuTTY private key': [
    [`Private-Lines: 3\n${LINES}Private-MAC: ${HEX}`, 'Private-Lines: 3\n[redacted]'],
    [
      `Private-Lines: 3\\r\\n${LINES.replaceAll('\n', '\\r\\n')}Private-MAC: ${HEX}`,
      'Private-Lines: 3\\r\\n[redacted]',
    ],
  ],
  'JSON web token': [[`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${BODY}`, '[redacted]']],
  Telegram: [[`123456789:${BODY.slice(1)}`, '[redacted]']],
  'Twilio, of an account': [[`AC${HEX}:${HEX}`, `AC${HEX}:[redacted]`]],
  'Slack webhook': [
    [`https://hooks.slack.com/services/T0/${BODY}`, 'https://hooks.slack.com/services/[redacted]'],
  ],
  'Discord webhook': [
    [`https://discord.com/api/webhooks/123456789/${BODY}`, 'https://discord.com/api/webhooks/[redacted]'],
  ],
  'signed address': [['https://h/b?sig=aB3%2Fdef%3D', 'https://h/b?sig=[redacted]']],
  'Docker login': [
    ['{"auths":{"h":{"auth": "dXNlcjpodW50ZXIy"}}}', '{"auths":{"h":{"auth": "[redacted]"}}}'],
    ['{\\"auth\\":\\"dXNlcjpodW50ZXIy\\"}', '{\\"auth\\":\\"[redacted]\\"}'],
  ],
  cookie: [['Cookie: sid=abc', 'Cookie: [redacted]']],
  'cookie option': [['curl --cookie sid=abc', 'curl --cookie [redacted]']],
  curl: [['curl -s -u user:pw https://h', 'curl -s -u user:[redacted] https://h']],
  '.netrc': [['login u password pw', 'login u password [redacted]']],
  MySQL: [
    ['mysql -u root -phunter2 db', 'mysql -u root -p[redacted] db'],
    ['mysqldump -pX', 'mysqldump -p[redacted]'],
    ["mariadb -h h -p'hunter2' db", "mariadb -h h -p'[redacted]' db"],
  ],
  sshpass: [
    ['sshpass -p hunter2 ssh me@host', 'sshpass -p [redacted] ssh me@host'],
    ["sshpass -p'hunter2' ssh me@host", "sshpass -p'[redacted]' ssh me@host"],
    ['sshpass -v -phunter2 ssh me@host', 'sshpass -v -p[redacted] ssh me@host'],
  ],
  XML: [
    ['<password>hunter2</password>', '<password>[redacted]</password>'],
    ['<db:apiKey type="x">a b c9</db:apiKey>', '<db:apiKey type="x">[redacted]</db:apiKey>'],
  ],
};

const RULES = [...TOKEN_RULES, ...SHAPE_RULES, ...PLACE_RULES];

it('every rule has a probe, and every probe a rule', () => {
  expect(Object.keys(PROBES).sort()).toEqual(RULES.map(({ name }) => name).sort());
  expect(TOKEN_RULES.filter(({ shape }) => shape.flags !== '')).toEqual([]);
});

describe.each(Object.entries(PROBES))('%s', (_, probes) => {
  it.each(probes)('%j is hidden', (secret, shown) => {
    expect(redact(secret)).toBe(shown);
    expect(redact(`see\n${secret}\nthere`)).toBe(`see\n${shown}\nthere`);
    expect(redact(shown)).toBe(shown);
  });
});

it.each([
  ['a colour', `ghp_aB3d\x1b[31mE5gH7jK9mN1p\x1b[0mQ3sT5vW7`],
  ['a link', `ghp_aB3d\x1b]8;;x\x07E5gH7jK9mN1pQ3sT5vW7`],
  ['an 8-bit sequence', `ghp_aB3d\x9b31mE5gH7jK9mN1pQ3sT5vW7`],
  ['a character of no width', `ghp_aB3d\u200bE5gH7jK9\u2060mN1pQ3\ufeffsT5v\u00adW7`],
])('%s inside a secret does not hide it', (_, secret) => {
  expect(redact(`a ${secret} b`)).toBe('a [redacted] b');
});

it.each([
  '\x1b[31mred\x1b[0m and 👩‍👩‍👧 stay as they are',
  'mysql -p and mysql --protocol=tcp -P 3306, the mysql client prints -- nothing',
  'use sshpass, or sshpass -f file ssh host',
  '<token>string</token> <password>%PASSWORD%</password> <tokens>5</tokens> <a>hunter2</a>',
  '{"auth": "required", "auth":"none", "auth": "authenticated", "author": "dXNlcjpodW50ZXIy"}',
  'secret_santa, the ntn_ prefix, linear lin_api_ keys, dp.pt. tokens and hvs. begin so',
  'SKILL SKELETON SK AC0123 key-value key-0123 dapi',
  'Private-Lines: none here, Private-MAC: neither',
  '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBF\n-----END PGP PUBLIC KEY BLOCK-----',
  '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----',
])('leaves %j alone', (text) => {
  expect(redact(text)).toBe(text);
});

it('a PGP key whose end was cut off is hidden', () => {
  expect(redact(`-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${LINES}`)).toBe('[redacted]');
});

it('a value that is known is known in hexadecimal and base64 too', () => {
  const value = 'quiet-otter-river9';
  const { redact: hide } = createRedactor([value]);
  const bytes = Buffer.from(value);
  for (const text of [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')])
    expect(hide(`x ${text} y`)).toBe('x [redacted] y');
  const among = Buffer.from(`${value} and more`).toString('base64');
  expect(hide(among)).toMatch(/^\[redacted\]/);
});

it.each([
  ['PGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----', '-----END PGP PRIVATE KEY BLOCK-----'],
  ['PuTTY', 'Private-Lines: 3', `Private-MAC: ${HEX}`],
])('a %s key that comes line by line is hidden', (_, begin, end) => {
  const line = redactLines(redact);
  line(begin);
  expect([BODY, 'MIIE+/=', end, 'after'].map(line)).toEqual([
    '[redacted]',
    '[redacted]',
    '[redacted]',
    'after',
  ]);
});

it.each([
  '-----BEGIN PGP PRIVATE KEY BLOCK-----',
  'Private-Lines: 3\n',
  `Private-Lines: 3\n${BODY}\n`,
  'mysql ',
  'mysql -p',
  'mysqldump -u a ',
  'sshpass ',
  'sshpass -p',
  '<password',
  '<password>',
  '<aaaaaaaaaaaaaaaaaaaaaaaa',
  '"auth": "',
  '"auth": "dXNlcjpodW50ZXIy',
  'dp.pt.',
  'hvs.',
  'AC0123456789abcdef0123456789abcdef:',
  '\x1b]',
  '\x1b[31m',
  '\u200b',
  'ghp_\u200b',
])('a megabyte of %j takes less than a second', (piece) => {
  // Of this thread alone: what else the machine does is not the text's fault.
  const before = process.threadCpuUsage();
  redact(piece.repeat(2 ** 20 / piece.length));
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(1000);
});
