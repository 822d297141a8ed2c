/** The container files, as far as a machine without an engine can tell. What they install is used in test/e2e/installed.test.ts. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../src/cli/commands.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  command?: string[];
  ports?: string[];
  environment?: Record<string, string | null>;
  volumes?: string[];
}

const compose = parse(read('container/compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};
const dockerfile = read('container/Dockerfile');

it('the Dockerfile passes its linter', () => {
  const linter = join(ROOT, 'node_modules/.bin/dockerfilelint');
  const said = execFileSync(linter, ['-o', 'json', 'container/Dockerfile'], { cwd: ROOT, encoding: 'utf8' });
  expect(JSON.parse(said)).toMatchObject({ totalIssues: 0 });
});

it('the Dockerfile has the Node.js that Pulse asks for, and runs as nobody special', () => {
  const [, least] = />=(\d+)\./.exec(JSON.parse(read('package.json')).engines.node)!;
  expect([...dockerfile.matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => major)).toEqual([least, least]);
  const users = [...dockerfile.matchAll(/^USER (\w+)$/gm)].map(([, user]) => user);
  expect(users.at(-1)).toBe('pulse');
});

it('what the containers start are commands of Pulse, and only a port of this machine is opened', () => {
  const names = COMMANDS.map(({ name }) => name);
  const [, first] = /^CMD \["(\w+)"/m.exec(dockerfile)!;
  const started = Object.values(compose.services).flatMap(({ command }) => command?.[0] ?? []);
  expect([first, ...started].filter((name) => !names.includes(name!))).toEqual([]);
  const ports = Object.values(compose.services).flatMap(({ ports: list = [] }) => list);
  expect(ports).toEqual(['127.0.0.1:3002:3002']);
});

it('PostgreSQL, serve and two daemons share one database, and each keeps its own state', () => {
  const { database, ...own } = compose.services;
  expect(database!.image).toMatch(/^postgres:\d+$/);
  expect(Object.keys(own)).toEqual(['serve', 'daemon-1', 'daemon-2']);
  const urls = Object.values(own).map(({ environment }) => environment!.PULSE_DATABASE_URL);
  expect(new Set(urls).size).toBe(1);
  expect(urls[0]).toContain('@database/pulse');
  const states = Object.values(own).map(
    ({ volumes }) => volumes!.find((one) => one.includes('/pulse'))!.split(':')[0]!,
  );
  expect(new Set(states).size).toBe(3);
  expect(states.filter((name) => !(name in compose.volumes))).toEqual([]);
  for (const { build } of Object.values(own))
    expect(existsSync(join(ROOT, 'container', build!.context, build!.dockerfile))).toBe(true);
});

it('the keys of agents reach all that run agents, and the daemons have the label that is named', () => {
  const { database: _, ...own } = compose.services;
  for (const { environment } of Object.values(own))
    expect(Object.keys(environment!)).toEqual(
      expect.arrayContaining(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']),
    );
  const [, label] = /`labels: \[(\w+)\]`/.exec(read('docs/containers.md'))!;
  for (const { command } of [own['daemon-1']!, own['daemon-2']!])
    expect(command).toEqual(['daemon', '--labels', label]);
});

it('no password is written down', () => {
  expect(read('container/compose.yaml')).not.toMatch(/PASSWORD: (?!\$\{)/);
});
