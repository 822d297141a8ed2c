/** The tests of a file by name, with how many assertions each has. */
import { extname } from 'node:path';
import type { Node } from '@vscode/tree-sitter-wasm';
import { grammarOf, loadSyntax, PATIENT_MS } from '../../context/tree-sitter.ts';
import { readCode } from './code-view.ts';

export interface TestCase {
  /** With the names of the groups that it stands in. */
  name: string;
  line: number;
  assertions: number;
  /** Of these, how many take what is merely close. */
  close: number;
}

interface Language {
  assertion: RegExp;
  /** The name of a test or of a group that this node is; `null`: it is neither. */
  nameOf(node: Node): { name: string; isTest: boolean } | null;
}

const CLOSE =
  /\btoBeCloseTo\s*\(|\bcloseTo\s*\(|\bapprox\s*\(|\bassert(?:Not)?AlmostEqual\w*\s*\(|\bisclose\s*\(|\ballclose\s*\(|\bInDelta\w*\s*\(|\bInEpsilon\w*\s*\(|\bassert_(?:relative|abs_diff|ulps)_eq!|\bbe_within\b/g;

const JAVASCRIPT: Language = {
  assertion:
    /\bexpect(?:TypeOf)?\s*\(|\bexpect\.(?:soft|poll)\s*\(|\bassert(?:\.\w+)*\s*\(|\.should\b|\bt(?:\.assert)?\.(?:ok|notOk|equal|notEqual|is|not|deepEqual|notDeepEqual|strictEqual|notStrictEqual|deepStrictEqual|throws|throwsAsync|doesNotThrow|rejects|true|false|truthy|falsy|like|regex|match|same|snapshot|pass|fail)\s*\(/g,
  nameOf(node) {
    if (node.type !== 'call_expression') return null;
    const callee = node.childForFieldName('function')?.text ?? '';
    const word = /^(?:[xf])?(it|test|specify|describe|suite|context)\b[\s\S]*$/.exec(callee)?.[1];
    const [first] = node.childForFieldName('arguments')?.namedChildren ?? [];
    if (word === undefined || !first || !/string$/.test(first.type)) return null;
    return { name: first.text.slice(1, -1), isTest: !/^(?:describe|suite|context)$/.test(word) };
  },
};

const PYTHON: Language = {
  assertion:
    /\bassert\b|\bself\.(?:assert\w+|fail)\s*\(|\bpytest\.(?:raises|warns|fail)\s*\(|\btesting\.assert\w+\s*\(/g,
  nameOf(node) {
    const name = node.childForFieldName('name')?.text ?? '';
    if (node.type === 'class_definition') return { name, isTest: false };
    return node.type === 'function_definition' && /^test/.test(name) ? { name, isTest: true } : null;
  },
};

const GO: Language = {
  assertion:
    /\b[tb]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is|qt)\.\w+\s*\(|\bExpect\s*\(/g,
  nameOf(node) {
    const name = node.childForFieldName('name')?.text ?? '';
    return node.type === 'function_declaration' && /^(?:Test|Benchmark|Fuzz|Example)/.test(name)
      ? { name, isTest: true }
      : null;
  },
};

const RUST: Language = {
  assertion: /\b(?:debug_|prop_)?assert\w*!|\bpanic!|\bunreachable!/g,
  nameOf(node) {
    const name = node.childForFieldName('name')?.text ?? '';
    if (node.type === 'mod_item') return { name, isTest: false };
    if (node.type !== 'function_item') return null;
    for (
      let above = node.previousNamedSibling;
      above?.type === 'attribute_item';
      above = above.previousNamedSibling
    ) {
      if (/\b(?:\w*test\w*|rstest|proptest)\b/.test(above.text)) return { name, isTest: true };
    }
    return null;
  },
};

/** Java, C# and PHP: a method that is marked, or named so. */
function methods(mark: RegExp, assertion: RegExp): Language {
  return {
    assertion,
    nameOf(node) {
      const name = node.childForFieldName('name')?.text ?? '';
      if (node.type === 'class_declaration') return { name, isTest: false };
      if (node.type !== 'method_declaration') return null;
      const head = node.text.slice(0, Math.max(0, node.text.indexOf('{')));
      return mark.test(head) ? { name, isTest: true } : null;
    },
  };
}

const LANGUAGES: Record<string, Language> = {
  ...{ javascript: JAVASCRIPT, typescript: JAVASCRIPT, tsx: JAVASCRIPT, python: PYTHON, go: GO, rust: RUST },
  java: methods(/@(?:\w*Test\w*|Property)\b/, /\bassert\w*\s*\(|\bverify\s*\(|\bfail\s*\(|\bexpect\w*\s*\(/g),
  'c-sharp': methods(/\[\s*(?:Fact|Theory|Test\w*)\b/, /\bAssert\.\w+|\.Should\w*\s*\(|\bExpect\s*\(/g),
  php: methods(
    /\bfunction\s+test|#\[\s*Test\b|@test\b/i,
    /(?:->|::)assert\w+\s*\(|\bexpect\s*\(|->expectException/g,
  ),
};

/** Empty for files in languages that are not read. */
export async function testsIn(path: string, content: string | null): Promise<TestCase[]> {
  const grammar = grammarOf(path);
  const language = grammar === undefined ? undefined : LANGUAGES[grammar];
  if (content === null || language === undefined || extname(path) === '' || content.length > 1_000_000)
    return [];
  const { code } = await readCode(path, content);
  const syntax = await loadSyntax(grammar!, PATIENT_MS);
  return syntax.read(content, (root) => collect(root, code, language)) ?? [];
}

function collect(root: Node, code: string, language: Language): TestCase[] {
  const tests: TestCase[] = [];
  const visit = (node: Node, path: string, depth: number): void => {
    if (depth > 100) return;
    const found = language.nameOf(node);
    const name = found ? `${path}${path === '' ? '' : ' › '}${found.name}` : path;
    if (found?.isTest) {
      const body = code.slice(node.startIndex, node.endIndex);
      const count = (pattern: RegExp) => body.match(pattern)?.length ?? 0;
      const line = node.startPosition.row + 1;
      tests.push({ name, line, assertions: count(language.assertion), close: count(CLOSE) });
      return;
    }
    for (const child of node.namedChildren) if (child) visit(child, name, depth + 1);
  };
  visit(root, '', 0);
  return tests;
}
