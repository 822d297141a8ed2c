import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { environmentSecrets } from '../../src/domain/environment-secrets.ts';
import { createRedactor, redact, redactJson, redactLines } from '../../src/domain/redact.ts';

const BODY = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6';
const SECRETS = [
  `sk-ant-api03-${BODY}`,
  `sk-proj-${BODY}`,
  `sk-${BODY}`,
  `ghp_${BODY}`,
  `gho_${BODY}`,
  `github_pat_${BODY}`,
  `glpat-${BODY}`,
  `xoxb-123-${BODY}`,
  'AKIAIOSFODNN7EXAMPLE',
  `AIza${BODY}`,
  `npm_${BODY}`,
  `sk_live_${BODY}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${BODY}`,
  '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE+/=\n-----END RSA PRIVATE KEY-----',
];
const UUID = '0197f3a2-1111-7abc-8def-0123456789ab';

describe('redact', () => {
  it.each(SECRETS)('hides %s wherever it stands', (secret) => {
    expect(redact(secret)).toBe('[redacted]');
    expect(redact(`see (${secret}) there`)).toBe('see ([redacted]) there');
    expect(redact(`"${secret}"`)).toBe('"[redacted]"');
  });

  it.each([
    ['GITHUB_TOKEN=abc123', 'GITHUB_TOKEN=[redacted]'],
    ['NAME_TOKEN=value', 'NAME_TOKEN=[redacted]'],
    ['export AWS_SECRET_ACCESS_KEY="a b/c"', 'export AWS_SECRET_ACCESS_KEY="[redacted]"'],
    ['password: hunter2', 'password: [redacted]'],
    ["api_key = 'zz9'", "api_key = '[redacted]'"],
    ['{"apiKey":"zz9","n":1}', '{"apiKey":"[redacted]","n":1}'],
    ['{\\"password\\":\\"zz 9\\"}', '{\\"password\\":\\"[redacted]\\"}'],
    ['https://user:p@ss@host.example/x', 'https://user:[redacted]@host.example/x'],
    ['postgres://u:pw@db:5432/x', 'postgres://u:[redacted]@db:5432/x'],
    ['https://h/?token=abc1&x=1', 'https://h/?token=[redacted]&x=1'],
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['-H "authorization: Basic dXNlcjpwYXNz"', '-H "authorization: Basic [redacted]"'],
    ['bearer 0123456789abcdef', 'bearer [redacted]'],
  ])('keeps the readable part of %s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    `ses_${UUID} itr_${UUID} tsk_${UUID} ${UUID}`,
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'input_tokens: 5120, max_tokens=4096, token_count: 12',
    'function login(password: string, token: Token): void',
    'const token = getToken(); const secret = await load()',
    'if (token === other) return; token => {}',
    'Bearer authentication is used, the secret: it works.',
    'task-management-with-a-very-long-name1, risk-based-approach-with-42-steps',
    'http://localhost:3000/a@b and git@github.com:owner/repo.git at 12:30',
    'PASSWORD=$DB_PASSWORD TOKEN={{ secrets.TOKEN }} api_key: <your key>',
    'password: required, token: null',
  ])('leaves %s alone', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('hides a secret that the removal of another lays bare', () => {
    expect(redact(`ghp_${'a'.repeat(4096)}xoxb-1-${BODY}`)).toBe('[redacted][redacted]');
  });

  it('hides the end of a private key whose beginning was cut off, and what is beside it stays', () => {
    const lines = [BODY + BODY, BODY + BODY, 'MIIE+/='];
    const end = `${lines.join('\n')}\n-----END RSA PRIVATE KEY-----\nafter`;
    expect(redact(end)).toBe('[redacted]\nafter');
    expect(redact(`jK9mN1\n${end}`)).toBe('[redacted]\nafter');
    expect(redact(`said before\nDone\n${end}`)).toBe('said before\nDone\n[redacted]\nafter');
    expect(redact(end.replaceAll('\n', '\r\n'))).toBe('[redacted]\r\nafter');
  });

  it('changes nothing the second time', () => {
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
      { numRuns: 5000 },
    );
  });

  it('leaves prose, hashes and our ids alone', () => {
    const word = fc.constantFrom(
      'the',
      'parser',
      'was',
      'done',
      `ses_${UUID}`,
      UUID,
      '9fceb02d0ae598e95dc970b74767f19372d61af8',
      'a,',
      'b.',
      '(c)',
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        expect(redact(words.join(' '))).toBe(words.join(' '));
      }),
    );
  });

  it.each([
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
  ])('is linear in megabytes of %j', (piece) => {
    const start = performance.now();
    redact(piece.repeat(4_000_000 / piece.length));
    expect(performance.now() - start).toBeLessThan(4_000);
  });
});

describe('redactJson', () => {
  it('redacts strings at any depth and everything under a secret’s name', () => {
    const value = {
      a: [`x ghp_${BODY}`],
      apiKey: 'zz',
      inputTokens: 5,
      headers: { Authorization: 'zz' },
      n: null,
      at: new Date(0),
    };
    expect(redactJson(value)).toEqual({
      a: ['x [redacted]'],
      apiKey: '[redacted]',
      inputTokens: 5,
      headers: { Authorization: '[redacted]' },
      n: null,
      at: new Date(0),
    });
  });

  it('survives a cycle and leaves its input as it was', () => {
    const value: Record<string, unknown> = { secret: 'abc' };
    value.self = value;
    expect(redactJson(value)).toEqual({ secret: '[redacted]', self: '[circular]' });
    expect(value.secret).toBe('abc');
  });
});

describe('createRedactor', () => {
  it('hides values it was given, also where they are part of an address', () => {
    const { redact } = createRedactor(['p@ss word!', 'short', 'tiny']);
    expect(redact('a p@ss word! b p%40ss%20word! tiny')).toBe('a [redacted] b [redacted] tiny');
  });

  it('hides each line of a value of several lines, and a value as JSON writes it', () => {
    const { redact } = createRedactor(['first line of it\nshort', 'quoted "secret"']);
    expect(redact('> first line of it <')).toBe('> [redacted] <');
    expect(redact('short {"a":"quoted \\"secret\\""}')).toBe('short {"a":"[redacted]"}');
  });

  it('hides what it is given later as well', () => {
    const { redact } = createRedactor(['the first']).adding(['the second']);
    expect(redact('the first, the second')).toBe('[redacted], [redacted]');
  });

  it('changes nothing the second time, whatever the secrets', () => {
    const secret = fc.string({
      minLength: 6,
      maxLength: 12,
      unit: fc.constantFrom('a', 'd', ']', '[', 'r', 'e', '='),
    });
    fc.assert(
      fc.property(fc.array(secret, { maxLength: 4 }), fc.array(secret), (secrets, parts) => {
        const { redact } = createRedactor(secrets);
        const once = redact([...parts, ...secrets].join(''));
        expect(redact(once)).toBe(once);
      }),
    );
  });
});

describe('redactLines', () => {
  it('hides a private key that comes line by line, and goes on afterwards', () => {
    const line = redactLines(redact);
    const key = ['-----BEGIN PRIVATE KEY-----', BODY, 'MIIE+/=', '-----END PRIVATE KEY-----'];
    expect(['before', ...key, 'after'].map(line)).toEqual([
      'before',
      ...Array(4).fill('[redacted]'),
      'after',
    ]);
  });

  it('does not hide for ever what follows a key that never ends', () => {
    const line = redactLines(redact);
    line('-----BEGIN PRIVATE KEY-----');
    for (let i = 0; i < 300; i++) expect(line('x')).toBe('[redacted]');
    expect(line('x')).toBe('x');
  });
});

describe('environmentSecrets', () => {
  it('are the values of variables with a secret’s name, and the passwords of addresses', () => {
    expect(
      environmentSecrets({
        ...{ GITHUB_TOKEN: 'a', AWS_SECRET_ACCESS_KEY: 'b', SECRET_KEY_BASE: 'c', DB_PASSWORD: 'd' },
        ...{ DATABASE_URL: 'postgres://u:p%40w@h/x', PWD: '/home/u', SSH_AUTH_SOCK: '/s', KEY: 'k' },
        ...{ TOKENS_PER_DAY: '5', PATH: '/bin', EDITOR: undefined },
      }),
    ).toEqual(['a', 'b', 'c', 'd', 'p%40w', 'p@w']);
  });
});
