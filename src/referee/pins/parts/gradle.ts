/** Gradle's build files are programs: all of one is protected but what names versions and dependencies. */
import { createPart, type Part } from './part.ts';

interface Statement {
  text: string;
  /** Its first word. */
  name: string;
}

const FREE = /^(?:dependencies|dependencyManagement|version|group|description|include|includeBuild|import)$/;

export const gradleBuild: Part = createPart({
  name: 'all but versions and dependencies',
  read(content) {
    const statements = readStatements(content);
    if (statements === null) return null;
    const own = statements.filter(({ name }) => !FREE.test(name)).map(comparable);
    return own.filter((text) => text !== '').join('\n');
  },
  merge(base, claim) {
    const [before, claimed] = [readStatements(base), readStatements(claim)];
    if (before === null || claimed === null) return null;
    const imports = claimed.filter(({ name }) => name === 'import');
    const free = claimed.filter(({ name }) => FREE.test(name) && name !== 'import');
    const own = before.filter(({ name }) => !FREE.test(name));
    return [...imports, ...own, ...free].map(({ text }) => text.replace(/\n*$/, '\n')).join('');
  },
});

/** A plugin's version is a version. */
function comparable({ name, text }: Statement): string {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const versions =
    name === 'plugins' ? plain.replace(/\bversion\s*\(?\s*(?:"[^"]*"|'[^']*')\)?/g, '') : plain;
  return versions.replace(/\s+/g, ' ').trim();
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[({[\]})]|\n|[^\n(){}[\]"'/]+|./g;

/** Statements at the top, each up to the end of the line on which its brackets close; `null`: they do not close. */
function readStatements(text: string): Statement[] | null {
  const statements: Statement[] = [];
  let [current, depth] = ['', 0];
  const finish = (): void => {
    const code = current.replace(/^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*/, '');
    statements.push({ text: current, name: /^[\w.]+/.exec(code)?.[0] ?? '' });
    current = '';
  };
  for (const [token] of text.matchAll(TOKEN)) {
    // A slash may begin a pattern, a dollar a text of Groovy: neither is read here.
    if (token === '/' || /^\$\//.test(token)) return null;
    current += token;
    if (/^[({[]$/.test(token)) depth++;
    if (/^[)}\]]$/.test(token) && --depth < 0) return null;
    if (token === '\n' && depth === 0 && current.trim() !== '' && !/^\s*(?:\/\/[^\n]*\s*)*$/.test(current))
      finish();
  }
  if (current.trim() !== '') finish();
  return depth === 0 ? statements : null;
}
