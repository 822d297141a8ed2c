/** npm, pnpm, yarn, bun and what runs several scripts of a package: from a script's name to what it says. */

import { posix } from 'node:path';
import { quoteWord } from '../../../domain/shell-words.ts';
import { type Call, inside } from '../calls.ts';
import { isObject, memberOf, readJsonObject } from '../parts/json-text.ts';
import type { Follow, Tool } from './tool.ts';

interface Wanted {
  script: string;
  folder: string;
  /** In the packages below, too. */
  everywhere: boolean;
}

/** Options with a value, which is not the script's name. */
const WITH_VALUE =
  /^(?:--prefix|-C|--dir|--cwd|-w|--workspace|--filter|-F|--userconfig|--loglevel|--script-shell)$/;
const ALIASES: Record<string, string> = { t: 'test', tst: 'test', 'install-test': 'test', it: 'test' };
/** Words of a package manager that start no script. */
const OWN = new Set([
  ...[
    'install',
    'i',
    'ci',
    'add',
    'remove',
    'update',
    'audit',
    'pack',
    'publish',
    'init',
    'link',
    'ls',
    'list',
  ],
  ...[
    'why',
    'config',
    'cache',
    'prune',
    'rebuild',
    'outdated',
    'version',
    'view',
    'import',
    'fetch',
    'dedupe',
  ],
]);

function manager(name: string): Tool {
  return {
    args: 'named',
    async follow(call, follow) {
      follow.findings.families.add('javascript');
      const wanted = readScript(call);
      if (wanted === null) return;
      if (name === 'bun' && call.args.some(({ text }) => text === 'test') && wanted.script === 'test') return;
      const found = await runScripts(wanted, follow);
      // `yarn vitest` and `pnpm vitest` start a program where no script has that name.
      if (!found && follow.knows(wanted.script)) {
        const at = call.args.findIndex(({ text }) => text === wanted.script);
        await follow.run(
          call.args
            .slice(at)
            .map(({ text }) => quoteWord(text))
            .join(' '),
          wanted.folder,
        );
      }
    },
  };
}

function readScript({ args, folder }: Call): Wanted | null {
  let [at, script, place, everywhere]: [number, string | null, string, boolean] = [0, null, folder, false];
  for (; at < args.length; at++) {
    const { text } = args[at]!;
    if (text === '--') break;
    const [option, joined] = text.startsWith('-') ? text.split('=', 2) : ['', undefined];
    if (/^(?:--prefix|-C|--dir|--cwd)$/.test(option!))
      place = inside(folder, joined ?? args[at + 1]?.text ?? '');
    if (/^(?:-w|--workspaces?|--ws|-r|--recursive|--filter|-F|-A|--all)$/.test(option!)) everywhere = true;
    if (WITH_VALUE.test(option!) && joined === undefined) at++;
    else if (option !== '' || /^(?:run|run-script|rum|urn|exec|foreach)$/.test(text)) continue;
    else if (/^workspaces?$/.test(text)) {
      everywhere = true;
      if (text === 'workspace') at++;
    } else {
      script = text;
      break;
    }
  }
  if (script === null || OWN.has(script)) return null;
  return { script: ALIASES[script] ?? script, folder: place, everywhere };
}

/** Whether there is such a script. */
export async function runScripts({ script, folder, everywhere }: Wanted, follow: Follow): Promise<boolean> {
  const own = nearestPackage(folder, follow);
  const below = everywhere ? follow.findings.filesNamed('package.json', folder) : [];
  let found = false;
  for (const path of new Set([...(own === null ? [] : [own]), ...below])) {
    const scripts = scriptsOf(await follow.findings.tree.read(path));
    const isWanted = matcher(script);
    for (const [name, text] of scripts) {
      if (!isWanted(name.replace(/^(?:pre|post)(?=.)/, '')) && !isWanted(name)) continue;
      if (isWanted(name)) found = true;
      const place = posix.dirname(path);
      await follow.run(text, place === '.' ? '' : place);
    }
  }
  return found;
}

/** `build:*` names several scripts. */
function matcher(script: string): (name: string) => boolean {
  if (!script.includes('*')) return (name) => name === script;
  const start = script.slice(0, script.indexOf('*'));
  return (name) => name.startsWith(start);
}

function nearestPackage(folder: string, { findings }: Follow): string | null {
  for (let at = folder; ; at = inside(at, '..')) {
    const path = inside(at, 'package.json');
    if (findings.hasFile(path)) return path;
    if (at === '') return null;
  }
}

function scriptsOf(text: string | null): [string, string][] {
  const scripts = memberOf(
    readJsonObject(text ?? '') ?? { kind: 'object', members: [], start: 0, end: 0 },
    'scripts',
  );
  if (!isObject(scripts?.value)) return [];
  return scripts.value.members.flatMap(({ key, value }) => (typeof value === 'string' ? [[key, value]] : []));
}

/** `run-s lint test`, `concurrently "npm:test" "tsc -w"`, `turbo run test`, `nx run-many -t test`. */
function several(read: (text: string) => Partial<Wanted> | null): Tool {
  return {
    args: 'named',
    async follow({ args, folder }, follow) {
      follow.findings.families.add('javascript');
      for (const { text } of args) {
        const wanted = text.startsWith('-') ? null : read(text);
        if (wanted !== null) await runScripts({ script: text, folder, everywhere: false, ...wanted }, follow);
        if (/\s/.test(text)) await follow.run(text, folder);
      }
    },
  };
}

const here = several((text) => ({ script: text.replace(/^(?:npm|yarn|pnpm|bun|node):/, '') }));
const everywhere = several((text) => ({ script: text.split(':').at(-1)!, everywhere: true }));

export const PACKAGE_SCRIPTS: Record<string, Tool> = {
  ...{ npm: manager('npm'), pnpm: manager('pnpm'), yarn: manager('yarn'), bun: manager('bun') },
  ...{
    'npm-run-all': here,
    'npm-run-all2': here,
    'run-s': here,
    'run-p': here,
    concurrently: here,
    wireit: here,
  },
  ...{ turbo: everywhere, nx: everywhere, lerna: everywhere, rush: everywhere, ultra: everywhere },
};
