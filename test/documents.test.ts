/** Documents are held to the tree: what they link to, name and list exists, and what they tell people to type works. */

import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../src/cli/commands.ts';
import { FAILURE_CLASSES } from '../src/domain/failures.ts';
import { EXIT_CODES, SESSION_STATUSES, SESSION_TRANSITIONS, STOP_REASONS } from '../src/domain/status.ts';
import { ENGINE_ACTIONS } from '../src/engine/actions.ts';
import { CRASH_KINDS } from '../src/loops/research/measure/crash.ts';
import { VIOLATION_REASONS } from '../src/loops/research/measure/violations.ts';
import { bundlePackage } from './fakes/bundled-package.ts';
import { fakeLoopList } from './fakes/loops.ts';

const PULSE = (await bundlePackage())('bin/pulse.js');
const ROOT = resolve(import.meta.dirname, '..');
const documents = [...markdownIn('.'), ...markdownBelow('docs'), ...markdownBelow('examples')];

describe.each(documents)('%s', (document) => {
  const text = read(document);
  const prose = withoutFences(text);

  it('links only to what exists', () => {
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
    const relative = targets.filter((target) => !/^(?:https?:|mailto:|#)/.test(target));
    const missing = relative.filter(
      (target) => !existsSync(resolve(ROOT, dirname(document), target.split('#')[0]!)),
    );
    expect(missing).toEqual([]);
  });

  it('names only files that exist', () => {
    const named = [...prose.matchAll(/(?<![\w/.-])(?:src|test|bin|docs)\/[\w./-]*\.(?:ts|js|md)\b/g)];
    const missing = named.map(([path]) => path).filter((path) => !existsSync(join(ROOT, path)));
    expect([...new Set(missing)]).toEqual([]);
  });
});

it('README and ARCHITECTURE can be read at one sitting', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(66);
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(760);
  expect(read('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(201);
});

it('every word of the glossary says which synonyms to avoid', () => {
  const entries = read('GLOSSARY.md')
    .split(/\n(?=\*\*)/)
    .slice(1);
  expect(entries.length).toBeGreaterThan(30);
  expect(entries.filter((entry) => !entry.includes('*Avoid:*'))).toEqual([]);
});

describe('what is listed is what there is', () => {
  it('docs/commands.md names every command', () => {
    const shown = COMMANDS.filter((command) => !command.isHidden).map(({ name }) => name);
    const table = read('docs/commands.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(
      shown.filter((name) => !table.some((row) => new RegExp(`\`(?:pulse )?${name}\\b`).test(row))),
    ).toEqual([]);
  });

  it('docs/commands.md has the exit code of every stopped status', () => {
    const rows = read('docs/commands.md').split('\n');
    const stopped = SESSION_STATUSES.filter((status) => status !== 'pending' && status !== 'running');
    expect(
      stopped.filter((status) => !rows.some((row) => row.startsWith(`| ${EXIT_CODES[status]} | ${status}`))),
    ).toEqual([]);
  });

  it('ARCHITECTURE has the transitions of a session', () => {
    const rows = tableRows(read('ARCHITECTURE.md').split('## State machines')[1]!);
    const written = rows.flatMap(([from = '', to = '']) =>
      codeWords(from).map((status) => [status, codeWords(to).sort()] as const),
    );
    const found = SESSION_STATUSES.map((status) => [status, written.find(([name]) => name === status)?.[1]]);
    expect(found).toEqual(
      SESSION_STATUSES.map((status) => [status, [...SESSION_TRANSITIONS[status]].sort()]),
    );
  });

  it('docs/protocol has the transitions, stop reasons and failure classes', () => {
    const page = read('docs/protocol/sessions.md');
    const transitions = rowsUnder(page, 'Status').flatMap(([from = '', to = '']) =>
      codeWords(from).map((status) => [status, codeWords(to).sort()] as const),
    );
    expect(Object.fromEntries(transitions)).toEqual(
      Object.fromEntries(SESSION_STATUSES.map((status) => [status, [...SESSION_TRANSITIONS[status]].sort()])),
    );
    const reasons = rowsUnder(page, 'Stop reasons').map(([status = '', names = '', code]) => [
      codeWords(status)[0],
      { names: codeWords(names).sort(), code: Number(code) },
    ]);
    expect(Object.fromEntries(reasons)).toEqual(
      Object.fromEntries(
        Object.entries(STOP_REASONS).map(([status, names]) => [
          status,
          { names: [...names].sort(), code: EXIT_CODES[status as keyof typeof STOP_REASONS] },
        ]),
      ),
    );
    const classes = rowsUnder(page, 'Failures').flatMap(([names = '']) => codeWords(names));
    expect(classes.sort()).toEqual([...FAILURE_CLASSES].sort());
  });

  it('docs/protocol has what voids an experiment, and the kinds of crashes', () => {
    const page = read('docs/protocol/research.md');
    const namesUnder = (heading: string) =>
      rowsUnder(page, heading).flatMap(([names = '']) => codeWords(names));
    expect(namesUnder('Violations').sort()).toEqual([...VIOLATION_REASONS].sort());
    expect(namesUnder('Crashes')).toEqual([...CRASH_KINDS]);
  });

  it('the list of actions stands in its decision', () => {
    const page = read('docs/decisions/0005-recognise-and-perform.md');
    for (const actions of [ENGINE_ACTIONS, ...fakeLoopList().map((loop) => loop.actions ?? [])])
      if (actions.length > 0) expect(page).toContain(`\`${actions.join(' ')}\``);
  });

  it('docs/configuration.md has every setting and every variable', () => {
    const source = read('src/config.ts');
    const schema = source.split('settingsSchema = z.strictObject({\n')[1]!.split('\n});')[0]!;
    const settings = [...schema.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name!);
    const rows = tableRows(read('docs/configuration.md').split('## Settings')[1]!.split('\n## ')[0]!).slice(
      1,
    );
    expect(rows.map(([key = '']) => codeWords(key)[0])).toEqual(settings);
    const variables = [...source.matchAll(/'(PULSE_\w+)'/g)].map(([, name]) => name!);
    expect(rows.flatMap((row) => codeWords(row[3] ?? ''))).toEqual(variables);
  });

  it('docs/monitoring.md has every metric', () => {
    const served = [...read('src/api/metrics.ts').matchAll(/metric\(\s*'(\w+)'/g)].map(([, name]) => name);
    const rows = read('docs/monitoring.md').split('\n## Metrics\n')[1]!.split('\n## ')[0]!;
    const named = [...rows.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name);
    expect(named).toEqual(served);
  });

  it('the decision on dependencies names each one, with the licence it states', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    const rows = tableRows(read('docs/decisions/0008-dependencies.md')).filter(([name]) =>
      name?.includes('`'),
    );
    const named = Object.fromEntries(rows.map(([name = '', , licence]) => [codeWords(name)[0], licence]));
    const installed = Object.keys({ ...dependencies, ...devDependencies }).map((name) => {
      const { license } = JSON.parse(read(`node_modules/${name}/package.json`)) as { license: string };
      return [name, license];
    });
    expect(named).toEqual(Object.fromEntries(installed));
  });
});

describe('docs/guide.md and docs/monitoring.md', () => {
  it('work as printed', { timeout: 180_000 }, async () => {
    using tour = createTour();
    const { code, output } = await tour.run(runnableScript('docs/guide.md'));
    expect(code, output).toBe(0);
    expect(output).toContain('COMPLETE rejected');
    expect(output).toContain('fresh: the evidence still holds');
    expect(output).toMatch(/stale: .*\n.*\nexit code 1/);
    expect(output).toContain('Which language shall greet.sh speak?');
    expect(output).toContain('the cost limit is reached');
    expect(output).toContain('"rule":"explicit:tag-alone"');

    using database = openReadOnly(join(tour.home, 'pulse.db'));
    const queries = fences('docs/monitoring.md', 'sql');
    expect(queries.length).toBeGreaterThan(3);
    const counts = queries.map((query) => database.prepare(query).all().length);
    expect(counts.slice(1).every((count) => count > 0)).toBe(true);
  });
});

describe('a citation', () => {
  const texts = ['src', 'test', 'bench', 'bin', 'docs', 'examples'].flatMap(textsBelow);
  const all = [...texts, ...markdownIn('.')];

  it('names no document that a clone does not have', () => {
    const [agreed, first] = ['contract', 'seed'];
    const foreign = new RegExp(
      `\\b(?:${agreed}s?|${first}) \\d|\\(${agreed}|\\b${first}['’]s|the ${agreed}(?:['’]s| (?:has|names))|of the ${agreed}\\b`,
      'i',
    );
    expect(linesOf(all, foreign)).toEqual([]);
  });

  it('of the protocol names a page and a heading that exist', () => {
    const cited = all.flatMap((path) =>
      [...read(path).matchAll(/docs\/protocol\/([\w-]+\.md)(?:, ([A-Z][^\n]*))?/g)].map(
        ([, page = '', rest]) => ({ path, page, rest }),
      ),
    );
    expect(cited.length).toBeGreaterThan(30);
    const broken = cited.filter(({ page, rest }) => {
      if (!existsSync(join(ROOT, 'docs/protocol', page))) return true;
      return rest !== undefined && !headings(`docs/protocol/${page}`).some((name) => rest.startsWith(name));
    });
    expect(broken).toEqual([]);
  });

  it('by a link leads to a heading that exists', () => {
    const broken = documents.flatMap((document) =>
      [...withoutFences(read(document)).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
        .filter(([, target]) => !/^https?:/.test(target!))
        .filter(([, target, anchor]) => {
          const page = target === '' ? document : join(dirname(document), target!);
          return page.endsWith('.md') && !headings(page).map(slug).includes(anchor!);
        })
        .map(([link]) => `${document}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

interface Tour extends Disposable {
  home: string;
  run(script: string): Promise<{ code: number | null; output: string }>;
}

/** An empty folder, a state directory, and a `pulse` that is this checkout's. */
function createTour(): Tour {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-guide-'));
  const [bin, work, home] = ['bin', 'work', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [bin, work]) mkdirSync(path);
  const program = join(bin, 'pulse');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PULSE}' "$@"\n`);
  chmodSync(program, 0o755);
  const env = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: folder, PULSE_HOME: home, PULSE_REPLAY_SPEED: '0' },
    XDG_CACHE_HOME: join(PULSE, '../../cache'),
  };
  return {
    home,
    run: (script) =>
      new Promise((resolvePromise, reject) => {
        const shell = spawn('/bin/sh', ['-c', `exec 2>&1\nset -e\n${script}`], { cwd: work, env });
        let output = '';
        shell.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
        shell.once('error', reject);
        shell.once('close', (code) => resolvePromise({ code, output }));
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

function openReadOnly(path: string): DatabaseSync & Disposable {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

/** All runnable blocks as one script that says where it is. */
function runnableScript(document: string): string {
  const blocks = fences(document, 'sh runnable');
  expect(blocks.length).toBeGreaterThan(5);
  return blocks.map((block, index) => `echo "--- example ${index + 1}"\n${block}`).join('\n');
}

function fences(document: string, info: string): string[] {
  const pattern = new RegExp(`^\`\`\`${info}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...read(document).matchAll(pattern)].map(([, block]) => block!);
}

function headings(document: string): string[] {
  return [...withoutFences(read(document)).matchAll(/^#+ (.+)$/gm)].map(([, name]) => name!);
}

/** The anchor of a heading, as GitHub makes it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function linesOf(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

function tableRows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|---'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The rows of the table in the section of this heading, without its head. */
function rowsUnder(page: string, heading: string): string[][] {
  return tableRows(page.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!).slice(1);
}

function codeWords(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
}

function textsBelow(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(?:md|ts|js|sh)$/.test(name)).map((name) => join(folder, name));
}

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
}

function markdownBelow(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
