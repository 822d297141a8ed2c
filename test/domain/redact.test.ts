import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { environmentSecrets } from '../../src/domain/environment-secrets.ts';
import { createRedactor, redact, redactJson, redactLines } from '../../src/domain/redact.ts';
import { BODY, SECRETS } from './secrets.ts';

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
    ['DB_PASS=hunter', 'DB_PASS=[redacted]'],
    ['SMTP_PASS: "a bc"', 'SMTP_PASS: "[redacted]"'],
    ['{"dbPass":"hunter2","db_pass":"hunter2"}', '{"dbPass":"[redacted]","db_pass":"[redacted]"}'],
    ['OPENAI_KEY=abcd1234', 'OPENAI_KEY=[redacted]'],
    ['export STRIPE_KEY=abcd1234 KEY_ID=5', 'export STRIPE_KEY=[redacted] KEY_ID=5'],
    ['GITHUB_PAT=abcd1234', 'GITHUB_PAT=[redacted]'],
    ['AccountName=a;AccountKey=ab+/cd12==;Suffix=x', 'AccountName=a;AccountKey=[redacted];Suffix=x'],
    [`https://${BODY}@host.example/x.git`, 'https://[redacted]@host.example/x.git'],
    [`git+https://abcdef1234@host.example`, 'git+https://[redacted]@host.example'],
    [`https://hooks.slack.com/services/T0ABC/B0ABC/${BODY}`, 'https://hooks.slack.com/services/[redacted]'],
    [`https://discord.com/api/webhooks/123456789/${BODY}.`, 'https://discord.com/api/webhooks/[redacted].'],
    [`https://api.telegram.org/bot123456789:${BODY.slice(1)}/x`, 'https://api.telegram.org/bot[redacted]/x'],
    ['https://h/b?sv=2&sig=aB3%2Fdef%3D&se=1', 'https://h/b?sv=2&sig=[redacted]&se=1'],
    ['https://h/b?X-Amz-Signature=aB3dE5gH', 'https://h/b?X-Amz-Signature=[redacted]'],
    ['Cookie: sid=abc; other="x y"\nnext', 'Cookie: [redacted]\nnext'],
    ["curl -H 'Set-Cookie: sid=abc; Path=/' x", "curl -H 'Set-Cookie: [redacted]' x"],
    ['curl --cookie sid=abc', 'curl --cookie [redacted]'],
    ['tool --password hunter2 --token "a b c d" x', 'tool --password [redacted] --token "[redacted]" x'],
    ['tool --db-api-key abcd1234', 'tool --db-api-key [redacted]'],
    ['curl -s -u user:pw https://h', 'curl -s -u user:[redacted] https://h'],
    ['["curl","-u","user:pw","x"]', '["curl","-u","user:[redacted]","x"]'],
    ['machine h login u password pw', 'machine h login u password [redacted]'],
    ['machine h\n  login u\n  password pw\n', 'machine h\n  login u\n  password [redacted]\n'],
    ['  password hunter2', '  password [redacted]'],
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
    'monkey=banana12345 keyboard: abcd12345678 bypass: abcd12345678 Compass: abcd12345678',
    'pass: 12 tests, 12 pass, TESTS_PASS=12, tests_pass: 12, all_pass: yes',
    'git+ssh://git@github.com/o/r ssh://git@host https://git@github.com/o/r https://organisation@dev.example/r',
    'write to user@host.example, or user1234567@host.example; scp deploy12345@host:/x .',
    'PRIMARY_KEY=abcd12345678 CACHE_KEY: abcd12345678 SSH_KEY=/home/u/.ssh/id_1234 SSH_KEY=~/id_12345678',
    'EXCLUDE_PAT=*.log file_pat: src12/**/*.ts filePat = "src12/**/*.ts"',
    'SMTP_AUTH=plain OPENAI_KEY=$KEY_12345678 KEY=abcd12345678 DB_PASS=',
    'the --password option, --token TOKEN_NAME, --token is required, --max-token 4096, --password --verbose',
    'docker run -u 1000:1000 -u node:node, sort -u a:b1, curl -u user',
    'password reset\nthe login page and password fields2',
    'Cookie: a header. cookies: 3, the cookie: boolean; document.cookie = name',
    'see ?sig=short&design=abcd12345678 on discord.com/api/webhooks/ and hooks.slack.com',
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
      env: { DB_PASS: 'hunter', OPENAI_KEY: 'abcd1234', CACHE_KEY: 'abcd1234', pass: '12 tests' },
    };
    expect(redactJson(value)).toEqual({
      a: ['x [redacted]'],
      apiKey: '[redacted]',
      inputTokens: 5,
      headers: { Authorization: '[redacted]' },
      n: null,
      at: new Date(0),
      env: { DB_PASS: '[redacted]', OPENAI_KEY: '[redacted]', CACHE_KEY: 'abcd1234', pass: '12 tests' },
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

  it('are also what names hold that end as secrets do, if it looks like one', () => {
    const secrets = {
      ...{ DB_PASS: 'hunter', SMTP_PASS: 'say it', OPENAI_KEY: 'abcd1234', MYSQL_PWD: 'hunter' },
      ...{ GITHUB_PAT: 'abcd1234', SSH_KEY: `AAAA${BODY}`, NPM_AUTH: 'dXNlcjpwdzE=', GOOGLE_API_KEY_2: 'x' },
    };
    expect(environmentSecrets(secrets)).toEqual(Object.values(secrets));
    expect(environmentSecrets({ SENTRY_DSN: `https://${BODY}@sentry.example/1` })).toContain(BODY);
    expect(
      environmentSecrets({
        ...{ PWD: '/home/u', OLDPWD: '/home', SSH_KEY: '/home/u/.ssh/id_1', SMTP_AUTH: 'plain', KEY: BODY },
        ...{ CACHE_KEY: BODY, GIT_ASKPASS: BODY, REPOSITORY: 'https://git@github.com/o/r', MONKEY: BODY },
      }),
    ).toEqual([]);
  });
});
