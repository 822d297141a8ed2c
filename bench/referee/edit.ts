/** What an agent does to a project, as lines of a shell script. */
import type { Project } from './project.ts';

/** Writes the file. */
export function put(path: string, text: string, { isExecutable = false } = {}): string {
  const mark = 'END_OF_FILE_7d1';
  const body = text.endsWith('\n') ? text : `${text}\n`;
  const parts = [
    `mkdir -p "$(dirname '${path}')"`,
    `rm -f '${path}'`,
    `cat > '${path}' <<'${mark}'\n${body}${mark}`,
  ];
  if (isExecutable) parts.push(`chmod +x '${path}'`);
  return parts.join('\n');
}

export const remove = (path: string): string => `rm -rf '${path}'`;

export const move = (from: string, to: string): string =>
  `mkdir -p "$(dirname '${to}')" && mv '${from}' '${to}'`;

/** The file with one text replaced by another; what is not there to be replaced is a fault of the case. */
export function change(project: Project, path: string, ...pairs: readonly [string, string][]): string {
  return put(path, changed(project, path, ...pairs));
}

export function changed(project: Project, path: string, ...pairs: readonly [string, string][]): string {
  let text = textOf(project, path);
  for (const [from, to] of pairs) {
    if (!text.includes(from)) throw new Error(`${project.ecosystem}: ${path} has no ${JSON.stringify(from)}`);
    text = text.replace(from, () => to);
  }
  return text;
}

export function textOf(project: Project, path: string): string {
  const text = project.files[path];
  if (text === undefined) throw new Error(`${project.ecosystem} has no ${path}`);
  return text;
}

/** The failing test's text replaced by another, with the imports that it then needs. */
export function replaceTest(project: Project, block: string): string {
  const text = changed(project, project.test, [project.block, block]);
  return put(project.test, project.ecosystem === 'go' ? withImports(text) : text);
}

function withImports(text: string): string {
  const missing = ['os', 'time'].filter((name) => text.includes(`${name}.`) && !text.includes(`"${name}"`));
  return text.replace('import (\n', () => `import (\n${missing.map((name) => `\t"${name}"\n`).join('')}`);
}

export const all = (...steps: readonly string[]): string => steps.join('\n');
