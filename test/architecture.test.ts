/** The rules of the house that no compiler holds: who may import whom, how long a file is, who touches the machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SKIPPED = ['node_modules', '.git', 'dist', 'coverage'];

/** Processes of their own, or the one default at the edge; everything else is handed its environment. */
const READS_PROCESS_ENV = [
  'src/agents/acp/agent.ts',
  'src/agents/demo/agent.ts',
  'src/agents/native/agent.ts',
  'src/agents/replay/agent.ts',
  'src/context/thread-environment.ts',
  'src/git/exec.ts',
  'src/loops/beads/shims/graph-shim.ts',
  'src/process/parent-death-watch.ts',
];

const sources = filesBelow('src').filter((path) => path.endsWith('.ts'));
const tests = filesBelow('test').filter((path) => path.endsWith('.ts'));
const programs = filesBelow('bin');

describe('the import table of ARCHITECTURE.md', () => {
  const table = readImportTable();

  it('names exactly the rooms that there are', () => {
    expect([...table.keys()].sort()).toEqual([...new Set(sources.map(roomOf))].sort());
  });

  it('has no circle: a room imports only rooms that stand above it', () => {
    const above = new Set<string>();
    const upwards: string[] = [];
    for (const [room, allowed] of table) {
      for (const name of allowed.keys()) if (!above.has(name)) upwards.push(`${room} → ${name}`);
      above.add(room);
    }
    expect(upwards).toEqual([]);
  });

  it('holds for every relative import', () => {
    const illegal = sources.flatMap((path) =>
      importsOf(path).flatMap(({ target, isTypeOnly }) => {
        const [from, to] = [roomOf(path), roomOf(target)];
        const allowed = from === to ? 'all' : table.get(from)?.get(to);
        if (allowed === 'all' || (allowed === 'types' && isTypeOnly)) return [];
        return [`${path} → ${target}${allowed === 'types' ? ' (only types are allowed)' : ''}`];
      }),
    );
    expect(illegal).toEqual([]);
  });
});

describe('the page', () => {
  it('imports of src the typed client and the words of domain; of all else only types', () => {
    const page = filesBelow('web').filter((path) => /\.tsx?$/.test(path));
    const illegal = page.flatMap((path) =>
      importsOf(path)
        .filter(({ target, isTypeOnly }) => target.startsWith('src/') && !isTypeOnly)
        .filter(({ target }) => !['client', 'domain'].includes(roomOf(target)))
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(illegal).toEqual([]);
  });
});

describe('files', () => {
  it('load each other in no circle', () => {
    const loads = new Map(
      sources.map((path) => [
        path,
        importsOf(path).flatMap(({ target, isTypeOnly, isDeferred }) =>
          isTypeOnly || isDeferred ? [] : [target],
        ),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
      if (done.has(path)) return;
      done.add(path);
      for (const target of loads.get(path) ?? []) walk(target, [...way, path]);
    };
    for (const path of sources) walk(path, []);
    expect(circles).toEqual([]);
  });
});

describe('a loop', () => {
  it('imports no other loop', () => {
    const loopOf = (path: string) => /^src\/loops\/(\w+)\//.exec(path)?.[1] ?? 'shared';
    const others = sources.flatMap((path) =>
      importsOf(path)
        .filter(({ target }) => loopOf(path) !== 'shared' && loopOf(target) !== 'shared')
        .filter(({ target }) => loopOf(path) !== loopOf(target))
        .map(({ target }) => `${path} → ${target}`),
    );
    expect(others).toEqual([]);
  });
});

describe('the engine', () => {
  it('knows no loop: it names none, and none of what belongs to one', () => {
    const words =
      /workflow|research|experiment|countdown|swarm|commander|\bbeads?\b|loops\/|\bkind [!=]== |[!=]== kind\b|plannedPulse|pulse_id/i;
    const engine = sources.filter((path) => roomOf(path) === 'engine');
    expect(
      engine.flatMap((path) =>
        codeOf(path)
          .split('\n')
          .filter((line) => words.test(line))
          .map((line) => `${path}: ${line.trim()}`),
      ),
    ).toEqual([]);
  });
});

describe('a file', () => {
  it('has at most 400 lines, a test 600', () => {
    const tooLong = [
      ...[...sources, ...programs].filter((path) => linesOf(path) > 400),
      ...tests.filter((path) => linesOf(path) > 600),
    ];
    expect(tooLong).toEqual([]);
  });

  it('has a name of its own: no utils, helpers, common, manager or service', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|managers?|services?)(\.|-|\/)/;
    expect([...sources, ...tests].filter((path) => vague.test(path))).toEqual([]);
  });

  it('leaves no work for later in a comment', () => {
    const later = new RegExp(`\\b(?:${['TO', 'DO'].join('')}|${['FIX', 'ME'].join('')})\\b`);
    expect([...sources, ...tests, ...programs].filter((path) => later.test(read(path)))).toEqual([]);
  });
});

describe('the machine', () => {
  it('is reached by child_process from process/ alone', () => {
    const users = sources.filter((path) => /['"](?:node:)?child_process['"]/.test(read(path)));
    expect(users.filter((path) => roomOf(path) !== 'process')).toEqual([]);
  });

  it('gives its environment to the command line, and to the few that say why', () => {
    const readers = sources.filter((path) => /\bprocess\.env\b/.test(read(path)));
    expect(readers.filter((path) => roomOf(path) !== 'cli')).toEqual(READS_PROCESS_ENV);
  });
});

describe('tests', () => {
  it('mock no module', () => {
    const mocks = new RegExp(
      `\\b(?:vi|jest)\\.(?:${['do', ''].map((word) => `${word}[mM]ock`).join('|')})\\(`,
    );
    expect(tests.filter((path) => mocks.test(read(path)))).toEqual([]);
  });
});

describe('what is written', () => {
  const hard = /\b(?:whoever|whatever|whichever|anew|borne|any more|in hand|goes on|going on)\b/i;

  it('for people has ordinary words', () => {
    const pages = filesBelow('.').filter((path) =>
      /^(?:README|ARCHITECTURE|CONTRIBUTING|AGENTS|docs\/(?:protocol\/)?[^/]+|examples\/.+)\.md$/.test(path),
    );
    expect(pages.length).toBeGreaterThan(20);
    expect(pages.flatMap((path) => linesWith(read(path), hard, path))).toEqual([]);
  });

  it('in the code has them too, in texts and in comments', () => {
    expect(sources.flatMap((path) => linesWith(read(path), hard, path))).toEqual([]);
  });

  it('never tells anyone to fetch the stranger’s package that has our short name', () => {
    const wrong = new RegExp(['npx', '(?:-\\S+\\s+)*pulse(?![\\w-])'].join('\\s+'));
    const texts = filesBelow('.').filter((path) => /\.(?:md|ts|js|json|ya?ml|txt)$/.test(path));
    expect(texts.filter((path) => wrong.test(read(path)))).toEqual([]);
  });
});

type Allowed = Map<string, 'all' | 'types'>;

function readImportTable(): Map<string, Allowed> {
  const section =
    read('ARCHITECTURE.md')
      .split(/^### Imports$/m)[1]
      ?.split(/^## /m)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.map((row) => {
      const [room = '', allowed = ''] = row.split('|').slice(1);
      const names = [...allowed.matchAll(/`([^`]+)`( \(types\))?/g)];
      return [
        room.trim().replaceAll('`', ''),
        new Map(names.map(([, name, types]) => [name!, types ? 'types' : 'all'] as const)),
      ];
    }),
  );
}

/**
 * The folder below `src`, or the file where it stands in `src` itself. What a loop, coordination or context adds to the
 * operations and to the command line lies in its own folder, and belongs to those rooms.
 */
function roomOf(path: string): string {
  const [, room = '', inner = '', part = ''] = path.split('/');
  if (['coordination', 'context'].includes(room) && ['operations', 'cli'].includes(inner)) return inner;
  if (room !== 'loops') return room;
  if (part === 'operations' || ['table.ts', 'rules.ts'].includes(inner)) return 'operations';
  if (part === 'cli' || ['commands.ts', 'followers.ts', 'words.ts'].includes(inner)) return 'cli';
  return inner === 'shared' || inner.endsWith('.ts') ? `loops/${inner}` : 'loops/*';
}

interface Import {
  target: string;
  isTypeOnly: boolean;
  /** Loaded when it is needed, not with the file. */
  isDeferred: boolean;
}

function importsOf(path: string): Import[] {
  const text = read(path);
  const target = (specifier: string): string => relative(ROOT, resolve(ROOT, dirname(path), specifier));
  const named = [...text.matchAll(/^(?:import|export)\s+(type\s+)?([^'";]*?)\s*from\s*'(\.[^']+)'/gm)];
  const bare = [...text.matchAll(/\bimport\s*(\(?)\s*'(\.[^']+)'/g)];
  return [
    ...named.map(([, type, names = '', specifier]) => ({
      target: target(specifier!),
      isTypeOnly: type !== undefined || areAllTypes(names),
      isDeferred: false,
    })),
    ...bare.map(([, call, specifier]) => ({
      target: target(specifier!),
      isTypeOnly: false,
      isDeferred: call !== '',
    })),
  ];
}

function areAllTypes(names: string): boolean {
  if (!names.startsWith('{')) return false;
  const each = names.replace(/[{}]/g, '').split(',');
  return each.every((name) => name.trim() === '' || name.trim().startsWith('type '));
}

function filesBelow(folder: string): string[] {
  const found = readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.includes(entry.name) ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
  return found.sort();
}

/** Without comments. */
function codeOf(path: string): string {
  return read(path).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

function linesWith(text: string, pattern: RegExp, path: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim().slice(0, 200)}`] : []));
}

function linesOf(path: string): number {
  return read(path).trimEnd().split('\n').length;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
