/** The tracked files that the words of a command name. */
import { posix } from 'node:path';
import { type Call, inside } from './calls.ts';
import type { Findings } from './findings.ts';

/**
 * What the words of a program are. `named`: files that belong to the check. `work`: what it looks at is the work; only
 * options name files of the check. `tests`: tests, as files, folders or patterns. `none`: nothing is meant.
 */
export type Arguments = 'named' | 'work' | 'tests' | 'none';

/** Options whose value says how a tool works. */
const SETTING =
  /^--?(?:c|p|f|r|config|cfg|conf|rcfile|rc|project|tsconfig|setup|require|import|loader|experimental-loader|env-file|manifest-path|settings|ignore-path|rulesdir|rules|baseline|preset|file|makefile|justfile|taskfile|init-script|runsettings|bootstrap|configuration|opts|package|plugin|ruleset)(?:[-.=]|$)|config/i;

export function namedFiles(call: Call, findings: Findings, kind: Arguments): string[] {
  if (kind === 'none') return [];
  const found = call.args.flatMap((word, at) => {
    const isSetting = SETTING.test(word.text) || SETTING.test(optionBefore(call, at));
    if (kind === 'work' && !isSetting) return [];
    return partsOf(word.text).flatMap((part) => {
      const isEnd = !word.isWhole && part === word.text;
      return pathsMeant({ part, isEnd, call, findings, isTests: kind === 'tests' && !isSetting });
    });
  });
  return [...new Set(found)];
}

function optionBefore({ args }: Call, at: number): string {
  const text = args[at - 1]?.text ?? '';
  return text.startsWith('-') && !text.includes('=') ? text : '';
}

/** `--config=path`, `NAME=path`, `@path` and `path::test` name the path too. */
function partsOf(text: string): string[] {
  const plain = text.replace(/::.*$/s, '');
  const parts = [plain, plain.replace(/^@/, ''), plain.slice(plain.indexOf('=') + 1)];
  return [...new Set(parts)].filter((part) => part !== '' && !part.startsWith('-'));
}

interface Meant {
  part: string;
  /** Something unknown stands before it, such as a variable. */
  isEnd: boolean;
  call: Call;
  findings: Findings;
  isTests: boolean;
}

function pathsMeant({ part, isEnd, call, findings, isTests }: Meant): string[] {
  if (part.length > 1000) return [];
  if (isEnd) {
    const end = part.replace(/^[./]+/, '');
    if (!/\w\.\w/.test(end)) return [];
    return findings.tree.paths.filter((path) => path === end || path.endsWith(`/${end}`));
  }
  if (posix.isAbsolute(part)) return [];
  const path = inside(call.folder, part);
  if (findings.hasFile(path)) return [path];
  if (!isTests) return [];
  if (/[*?[{]/.test(part)) findings.addTests(path, `named by \`${call.name}\``);
  else if (path !== '' && findings.hasFolder(path) && isTestFolder(path)) {
    findings.addTests(`${path}/**`, `named by \`${call.name}\``);
  }
  return [];
}

function isTestFolder(path: string): boolean {
  return /test|spec|e2e|check|integration|acceptance|suite/i.test(path);
}
