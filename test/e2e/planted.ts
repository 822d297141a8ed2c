/** Secrets of every kind that an agent or a command may print, and how to find what is left of them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scratch } from '../fakes/scratch.ts';

/** Characters in a row by which a secret is recognised: less of it is of no use to anybody. */
const WINDOW = 12;

export interface Planted {
  /** Variables that the agents and the checks are given. */
  environment: Record<string, string>;
  /** All of them in one text of many lines; also the file `$OUT/secrets.txt`. */
  text: string;
  /** One that is known only when it is whole. */
  key: string;
  /** A few of them in one line, for what takes no more. */
  short: string;
  /** Says what of which secret stands in a text, with the run tokens that agents wrote down; nothing when all is well. */
  leaks(where: string, text: string): string[];
}

export function plantSecrets(scratch: Scratch): Planted {
  const keyLines = Array.from({ length: 24 }, (_, index) => letters(`line ${index}`, 64));
  const environmentKey = ['-----BEGIN PRIVATE KEY-----', letters('in env', 64), '-----END PRIVATE KEY-----'];
  const environment = {
    MY_SERVICE_TOKEN: `quiet-otter-${letters('token', 12)}-river`,
    AWS_SECRET_ACCESS_KEY: letters('aws', 40),
    DEPLOY_SIGNING_KEY: environmentKey.join('\n'),
    QUOTED_PASSWORD: `say "${letters('quoted', 14)}\\" twice`,
    DB_PASS: letters('db pass', 14),
    OPENAI_KEY: letters('openai key', 24),
    GITHUB_PAT: letters('github pat', 24),
    NPM_AUTH: letters('npm auth', 24),
    SSH_KEY: letters('ssh key', 40),
    GOOGLE_API_KEY_2: letters('second key', 24),
    SENTRY_DSN: `https://${letters('dsn', 32)}@sentry.example/1`,
    DATABASE_URL: `postgres://app:${letters('database', 20)}@db.example:5432/app`,
  };
  const shapes = {
    anthropic: `sk-ant-api03-${letters('anthropic', 40)}`,
    openai: `sk-proj-${letters('openai', 40)}`,
    github: `ghp_${letters('github', 36)}`,
    gitlab: `glpat-${letters('gitlab', 20)}`,
    slack: `xoxb-123-${letters('slack', 24)}`,
    google: `AIza${letters('google', 35)}`,
    npm: `npm_${letters('npm', 36)}`,
    stripe: `sk_live_${letters('stripe', 24)}`,
    jwt: `eyJhbGciOiJIUzI1NiJ9.${letters('claims', 30)}.${letters('signature', 40)}`,
    telegram: `123456789:${letters('telegram', 35)}`,
  };
  const others = {
    sendgrid: `SG.${letters('sendgrid', 22)}.${letters('sendgrid too', 43)}`,
    pypi: `pypi-AgEIcHlwaS5vcmc${letters('pypi', 40)}`,
    digitalocean: `dop_v1_${letters('digitalocean', 64)}`,
  };
  /** Known by where they stand, each by another word or sign. */
  const placed = {
    'SMTP_PASS: ': letters('smtp', 16),
    'STRIPE_KEY=': letters('stripe key', 24),
    'AccountName=x;AccountKey=': letters('account', 44),
    'git clone https://': letters('userinfo', 24),
    'https://hooks.slack.com/services/T01/B01/': letters('slack hook', 24),
    'https://discord.com/api/webhooks/123456789/': letters('discord hook', 40),
    'https://api.telegram.org/bot': `123456789:${letters('bot', 35)}`,
    'https://files.example/x?se=1&sig=': letters('sig', 32),
    'Cookie: theme=dark; sid=': letters('cookie', 24),
    'Set-Cookie: sid=': letters('set cookie', 24),
    'deploy --password ': letters('password', 16),
    'deploy --token ': letters('argument', 24),
    'curl -s -u deploy:': letters('curl', 16),
    'machine git.example login deploy password ': letters('netrc', 16),
  };
  const ends: Record<string, string> = { 'git clone https://': '@git.example/x.git' };
  const address = letters('address', 16);
  const assigned = letters('assigned', 16);
  const bearer = letters('bearer', 24);
  const text = [
    ...Object.values(shapes).map((secret) => `the key is ${secret}, keep it`),
    `git clone https://deploy:${address}@git.example/x.git`,
    `DB_PASSWORD=${assigned}`,
    `curl -H "Authorization: Bearer ${bearer}" https://api.example`,
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    ...keyLines,
    '-----END OPENSSH PRIVATE KEY-----',
    ...Object.values(others).map((secret) => `the key is ${secret}, keep it`),
    ...Object.entries(placed).map(([before, secret]) => `${before}${secret}${ends[before] ?? ''}`),
    ...Object.values(environment),
    environment.DATABASE_URL.slice('postgres://app:'.length, -'@db.example:5432/app'.length),
  ].join('\n');
  scratch.file('secrets.txt', `${text}\n`);
  scratch.file('run-tokens', '');
  const secrets = [
    ...Object.values({ ...shapes, ...others }).flatMap((secret) => secret.split('.').slice(-2)),
    ...Object.values(placed),
    ...[address, assigned, bearer, ...keyLines],
    ...[environmentKey[1]!, environment.MY_SERVICE_TOKEN, environment.AWS_SECRET_ACCESS_KEY],
    ...[environment.DB_PASS, environment.OPENAI_KEY, environment.GITHUB_PAT, environment.NPM_AUTH],
    ...[environment.SSH_KEY, environment.GOOGLE_API_KEY_2, letters('dsn', 32)],
    ...[letters('database', 20), letters('quoted', 14)],
  ];
  return {
    environment,
    text,
    key: shapes.github,
    short: `try ${environment.MY_SERVICE_TOKEN} and ${shapes.github} with ${letters('database', 20)}`,
    leaks(where, content) {
      const tokens = readFileSync(join(scratch.path, 'run-tokens'), 'utf8').split('\n').filter(Boolean);
      return [...secrets, ...tokens].flatMap((secret) => {
        const found = windows(secret).find((part) => content.includes(part));
        return found === undefined ? [] : [`${where}: ${around(content, found)}`];
      });
    },
  };
}

function windows(secret: string): string[] {
  return Array.from({ length: secret.length - WINDOW + 1 }, (_, at) => secret.slice(at, at + WINDOW));
}

function around(content: string, part: string): string {
  const at = content.indexOf(part);
  return content.slice(Math.max(0, at - 80), at + 40);
}

/** Letters and figures, always the same for a name. */
function letters(name: string, length: number): string {
  let made = '';
  for (let round = 0; made.length < length; round++) {
    made += createHash('sha256').update(`${name} ${round}`).digest('base64').replace(/[+/=]/g, '');
  }
  return `${made.slice(0, length - 1)}7`;
}
