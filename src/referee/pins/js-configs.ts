/** What the configs of JavaScript's runners name: files that are loaded before the tests, and where tests are. */
import { posix } from 'node:path';
import type { Node } from '@vscode/tree-sitter-wasm';
import { loadSyntax, PATIENT_MS } from '../../context/tree-sitter.ts';
import { inside } from './calls.ts';
import { FAMILIES } from './families.ts';
import type { Findings } from './findings.ts';

/** Keys whose values are files that belong to the checks. */
const FILES =
  /^(?:setupFiles|setupFilesAfterEnv|setupFile|globalSetup|globalTeardown|testEnvironment|environment|preset|transform|reporters?|require|import|file|runner|testRunner|resolver|extends?|workspace|projects|snapshotSerializers|snapshotEnvironment|sequencer|testSequencer|typecheck|tsconfig|preload|snapshotResolver|configFile|config)$/;
/** Keys whose values are patterns of tests, or a folder of them. */
const TESTS = /^(?:include|testMatch|testDir|spec|files|includeSource)$/;
/** Below these, `include` means what is measured or bundled. */
const OTHER = /^(?:coverage|deps|optimizeDeps|server|build|plugins|compilerOptions|typecheck|benchmark)$/;
const MAX_IMPORTS = 50;
const MAX_LENGTH = 500_000;

export async function readJsConfigs(findings: Findings): Promise<void> {
  const families = (['javascript', 'javascript_lint'] as const).filter((each) => findings.families.has(each));
  if (families.length === 0) return;
  const definitions = families.flatMap((each) => FAMILIES[each].definitions);
  const patterns = definitions.filter(({ part }) => !part).map(({ path }) => path);
  const isConfig = (path: string) =>
    patterns.some((pattern) => pattern.test(path)) && !/(?:^|\/)(?:node_modules|\.yarn)\//.test(path);
  const waiting = findings.tree.paths.filter((path) => isConfig(path) || /(?:^|\/)package\.json$/.test(path));
  const seen = new Set(waiting);
  const most = waiting.length + MAX_IMPORTS;
  const [typescript, tsx] = [await loadSyntax('typescript', PATIENT_MS), await loadSyntax('tsx', PATIENT_MS)];
  for (const path of waiting) {
    const text = await findings.tree.read(path);
    if (text === null || text.length > MAX_LENGTH) continue;
    const isCode = /\.[cm]?[jt]sx?$/.test(path);
    const syntax = path.endsWith('x') ? tsx : typescript;
    const found = /\.(?:ya?ml|toml)$/.test(path)
      ? linesWithSettings(text)
      : (syntax.read(isCode ? text : `(${text})`, settingsIn) ?? []);
    for (const setting of found) note({ setting, path, findings });
    for (const imported of isCode ? importsIn(text) : []) {
      const target = resolveFile(imported, path, findings);
      if (target === null || seen.has(target) || seen.size >= most) continue;
      seen.add(target);
      waiting.push(target);
      findings.name(target, `imported by ${path}`);
    }
  }
}

interface Setting {
  keys: string[];
  value: string;
}

/** Every literal text with the keys that lead to it. */
function settingsIn(root: Node): Setting[] {
  const found: Setting[] = [];
  const visit = (node: Node, keys: string[], depth: number): void => {
    if (depth > 40) return;
    if (node.type === 'pair') {
      const key = node.childForFieldName('key')?.text.replace(/^['"]|['"]$/g, '') ?? '';
      const value = node.childForFieldName('value');
      if (value) visit(value, [...keys, key], depth + 1);
    } else if (node.type === 'string' || node.type === 'template_string') {
      found.push({ keys, value: node.text.slice(1, -1) });
    } else for (const child of node.namedChildren) if (child) visit(child, keys, depth + 1);
  };
  visit(root, [], 0);
  return found;
}

/** Of YAML and TOML: the plain texts of a line, or of the list below it, under its key. */
function linesWithSettings(text: string): Setting[] {
  let key = '';
  return text.split('\n').flatMap((line) => {
    key = /^\s*([\w-]+)\s*[:=]/.exec(line)?.[1] ?? key;
    const values = line.replace(/^\s*(?:[\w-]+\s*[:=]|-\s)/, '').match(/[^\s'",[\]]+/g) ?? [];
    return values.map((value) => ({ keys: [key], value }));
  });
}

function note({
  setting: { keys, value },
  path,
  findings,
}: {
  setting: Setting;
  path: string;
  findings: Findings;
}): void {
  const isManifest = posix.basename(path) === 'package.json';
  const runner = /^(?:jest|mocha|ava|vitest|c8|nyc|tap)$/;
  if (isManifest && !runner.test(keys[0] ?? '')) return;
  const key = keys.findLast((each) => FILES.test(each) || TESTS.test(each) || OTHER.test(each));
  if (key === undefined) return;
  const why = `named by ${path}`;
  if (keys.some((each) => OTHER.test(each))) return;
  if (FILES.test(key)) {
    const target = resolveFile(value, path, findings);
    if (target !== null) findings.name(target, why);
    return;
  }
  const isTestSetting =
    isManifest || /(?:vite|jest|mocha|ava|playwright|cypress|karma|tap)/.test(posix.basename(path));
  if (!TESTS.test(key) || key === 'includeSource' || !isTestSetting || value.startsWith('!')) return;
  const glob = inside(folderOf(path), value.replace('<rootDir>', '.'));
  if (glob === '' || glob.startsWith('/')) return;
  findings.addTests(findings.hasFolder(glob) ? `${glob}/**` : glob, why);
}

function importsIn(text: string): string[] {
  return [
    ...text.matchAll(/(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"](\.{1,2}\/[^'"]+)['"]/g),
  ].map(([, path]) => path!);
}

function resolveFile(value: string, from: string, findings: Findings): string | null {
  if (value === '' || value.length > 500 || posix.isAbsolute(value)) return null;
  const path = value.replace('<rootDir>', '.');
  for (const folder of new Set([folderOf(from), ''])) {
    const plain = inside(folder, path);
    const base = plain.replace(/\.[cm]?js$/, '');
    const endings = [
      '.ts',
      '.mts',
      '.js',
      '.mjs',
      '.cjs',
      '.cts',
      '.tsx',
      '.jsx',
      '.json',
      '/index.ts',
      '/index.js',
    ];
    const found = [
      plain,
      ...endings.map((ending) => `${plain}${ending}`),
      ...endings.map((ending) => `${base}${ending}`),
    ];
    const hit = found.find((each) => each !== '' && findings.hasFile(each));
    if (hit !== undefined) return hit;
  }
  return null;
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}
