/**
 * Files that tests lean on although they lie elsewhere: helpers that compare. Code under test is imported by tests too, so
 * a file counts only if it uses a test library itself, or is called after what it does and refuses something.
 */
import { posix } from 'node:path';
import type { Findings } from './findings.ts';

/** More than this is not read: a helper is imported by many tests, so some of them are enough. */
const MOST_TESTS = 1_000;
const MOST_IMPORTED = 2_000;

const SCRIPT = /\.[cm]?[jt]sx?$/;
const LIBRARIES =
  /(?:from|require\(|import)\s*\(?['"](?:vitest|@jest\/globals|chai|expect|node:test|jest-\w+|@playwright\/test|ava|tap|uvu(?:\/assert)?)['"]|^\s*(?:from|import)\s+(?:pytest|unittest|nose|hypothesis)\b|^\s*(?:import\s+)?(?:\w+\s+)?"(?:testing|github\.com\/stretchr\/testify\/\w+)"/m;
const NAME = /expect|assert|should|matcher|test[-_]?(?:util|helper|support|kit)|testing/i;
const REFUSES = /\bassert\b|\bassert_\w+!|\bthrow\b|\braise\b|\bpanic!?\(|\bt\.(?:Error|Fatal)/;
/** A module that a Rust test has from outside of the crate's sources is compiled into that test. */
const RUST_MODULE = /^(?!(?:.*\/)?src\/).*\.rs$/;

/** Their paths. */
export async function findSupport(
  findings: Findings,
  isTest: (path: string) => boolean,
): Promise<Set<string>> {
  const { tree } = findings;
  const tests = tree.paths.filter((path) => RESOLVERS.some(({ files }) => files.test(path)) && isTest(path));
  const texts = await readMany(findings, tests.slice(0, MOST_TESTS));
  const module = /^module\s+(\S+)/m.exec((await tree.read('go.mod')) ?? '')?.[1] ?? null;
  const imported = new Set<string>();
  for (const [test, text] of texts) {
    for (const { files, find } of RESOLVERS)
      if (files.test(test)) for (const path of find(text, { test, findings, module })) imported.add(path);
  }
  const candidates = [...imported].filter((path) => !isTest(path)).slice(0, MOST_IMPORTED);
  const read = await readMany(findings, candidates);
  return new Set([...read].filter(([path, text]) => isSupport(path, text)).map(([path]) => path));
}

function isSupport(path: string, text: string): boolean {
  return LIBRARIES.test(text) || RUST_MODULE.test(path) || (NAME.test(path) && REFUSES.test(text));
}

async function readMany({ tree }: Findings, paths: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const all = await tree.readMany?.(paths);
  for (const path of paths) {
    const text = all ? (all.get(path) ?? null) : await tree.read(path);
    if (text !== null) found.set(path, text);
  }
  return found;
}

interface Resolver {
  files: RegExp;
  /** The files of the tree that this text imports. */
  find(text: string, place: { test: string; findings: Findings; module: string | null }): string[];
}

const RESOLVERS: readonly Resolver[] = [
  {
    files: SCRIPT,
    find(text, { test, findings }) {
      const named = text.matchAll(/(?:from|import|require\()\s*\(?['"](\.{1,2}\/[^'"\n]+)['"]/g);
      return [...named].flatMap(([, name]) =>
        resolveScript(posix.join(posix.dirname(test), name!), findings),
      );
    },
  },
  {
    files: /\.py$/,
    find(text, { test, findings }) {
      const named = text.matchAll(/^\s*(?:from\s+([\w.]+)\s+import\s+([\w, ]+)|import\s+([\w.]+))/gm);
      return [...named].flatMap(([, from, names = '', whole]) => {
        const base = (from ?? whole!).replace(/^\.+/, '').replaceAll('.', '/');
        const inner = names.split(',').map((name) => `${base}/${name.trim()}`);
        const near = posix.dirname(test);
        return [base, ...inner]
          .flatMap((path) => [path, `src/${path}`, `${near}/${path}`])
          .flatMap((path) => [`${path}.py`, `${path}/__init__.py`])
          .filter((path) => findings.hasFile(path));
      });
    },
  },
  {
    files: /_test\.go$/,
    find(text, { findings, module }) {
      if (module === null) return [];
      const named = [...text.matchAll(/"([\w./-]+)"/g)].map(([, name]) => name!);
      const folders = named
        .filter((name) => name.startsWith(`${module}/`))
        .map((name) => name.slice(module.length + 1));
      return findings.tree.paths.filter(
        (path) => path.endsWith('.go') && folders.includes(posix.dirname(path)),
      );
    },
  },
  {
    files: /\.rs$/,
    find(text, { test, findings }) {
      const included = [...text.matchAll(/#\[path\s*=\s*"([^"\n]+)"\]/g)].map(([, name]) =>
        posix.join(posix.dirname(test), name!),
      );
      // `use shop::testing::same`: a test of its own names the crate that it lies beside.
      const root = /^(.*?)(?:tests|benches|examples|src)\//.exec(test)?.[1] ?? '';
      const used = [...text.matchAll(/\buse\s+\w+((?:::\w+)+)/g)].flatMap(([, names]) => {
        const parts = names!.split('::').slice(1);
        const bases = parts.map((_, at) => `${root}src/${parts.slice(0, at + 1).join('/')}`);
        return bases.flatMap((base) => [`${base}.rs`, `${base}/mod.rs`]);
      });
      return [...included, ...used].filter((path) => findings.hasFile(path));
    },
  },
];

function resolveScript(path: string, findings: Findings): string[] {
  const bare = path.replace(/\.[cm]?js$/, '');
  const ends = ['', '.js', '.ts', '.tsx', '.jsx', '.mjs', '.cjs', '.mts', '/index.js', '/index.ts'];
  return [path, ...ends.map((end) => `${bare}${end}`)].filter((each) => findings.hasFile(each)).slice(0, 1);
}
