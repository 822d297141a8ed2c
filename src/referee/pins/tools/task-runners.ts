/** make, just and task: from a target to what it needs and runs. */
import { posix } from 'node:path';
import { type Call, inside } from '../calls.ts';
import { justAliases, justImports, justRules } from '../parts/justfile.ts';
import { makeIncludes, makeRules, makeVariables } from '../parts/makefile.ts';
import { type Rules, reachedFrom, targetsPart } from '../parts/targets.ts';
import { readTasks, tasksPart } from '../parts/taskfile.ts';
import type { Follow, Tool } from './tool.ts';

interface Asked {
  file: string | null;
  folder: string;
  goals: string[];
}

/** The file, the folder and the goals that a command line names. */
function readAsked(call: Call, names: readonly string[], { findings }: Follow): Asked {
  let [folder, file]: [string, string | null] = [call.folder, null];
  const goals: string[] = [];
  for (let at = 0; at < call.args.length; at++) {
    const { text } = call.args[at]!;
    const [option = '', joined] = /^--/.test(text) ? text.split('=', 2) : [text];
    const value = (): string => joined ?? call.args[++at]?.text ?? '';
    if (/^(?:-C|--directory|-d|--working-directory|--dir)$/.test(option)) folder = inside(folder, value());
    else if (/^(?:-f|--file|--makefile|--justfile|-t|--taskfile)$/.test(option)) file = value();
    else if (/^(?:-j|-l|-o|-W|-I)$/.test(option) && /^\d/.test(call.args[at + 1]?.text ?? '')) at++;
    else if (text === '--') break;
    else if (!/^-|=/.test(text)) goals.push(text);
  }
  const wanted = file === null ? names : [file];
  const path = wanted.map((name) => inside(folder, name)).find((each) => findings.hasFile(each)) ?? null;
  return { file: path, folder, goals: goals.length === 0 ? [''] : goals };
}

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const JUSTFILES = ['justfile', 'Justfile', '.justfile', 'JUSTFILE'];
const TASKFILES = ['Taskfile', 'taskfile'].flatMap((name) =>
  ['.yml', '.yaml', '.dist.yml', '.dist.yaml'].map((ending) => `${name}${ending}`),
);

const make: Tool = {
  args: 'none',
  async follow(call, follow) {
    const asked = readAsked(call, MAKEFILES, follow);
    follow.findings.families.add('make');
    await followRules({ asked, follow, rules: makeRules, includes: makeIncludes, expand: expandVariables });
  },
};

const just: Tool = {
  args: 'none',
  async follow(call, follow) {
    const asked = readAsked(call, JUSTFILES, follow);
    follow.findings.families.add('just');
    // What follows the first recipe may be its arguments, or more recipes.
    const text = asked.file === null ? null : await follow.findings.tree.read(asked.file);
    const aliases = justAliases(text ?? '');
    const goals = asked.goals.flatMap((goal) => [goal, aliases.get(goal) ?? []].flat());
    await followRules({ asked: { ...asked, goals }, follow, rules: justRules, includes: justImports });
  },
};

interface Ruled {
  asked: Asked;
  follow: Follow;
  rules: Rules;
  includes(text: string): string[];
  expand?(body: string, text: string): string;
}

async function followRules({
  asked,
  follow,
  rules,
  includes,
  expand = (body) => body,
}: Ruled): Promise<void> {
  const { findings } = follow;
  if (asked.file === null || !findings.addGoals(asked.file, asked.goals)) return;
  const base = await findings.tree.read(asked.file);
  if (base === null) return;
  const included = await readIncluded({ text: base, folder: asked.folder, follow, includes });
  const goals = findings.goals.get(asked.file)!;
  findings.parts.set(asked.file, async () =>
    targetsPart({ rules, base, included, goals, always: [...MAKEFILES, ...includes(base)] }),
  );
  const text = `${base}\n${included}`;
  const blocks = rules.cut(text);
  const reached = blocks && reachedFrom(blocks, goals);
  // Where nobody can say what is reached, all of it may be.
  const scripts = blocks?.filter(({ names }) => reached === null || names?.some((name) => reached.has(name)));
  nameStandIns({
    targets: scripts?.flatMap(({ names }) => names ?? []) ?? [],
    text,
    folder: asked.folder,
    follow,
  });
  const bodies = scripts?.map(({ body }) => body) ?? [text.replace(/^\s*[@+-]*/gm, '')];
  for (const body of bodies) await follow.run(expand(body, text), asked.folder);
}

/** A file with the name of a target makes it up to date, and nothing is run. */
function nameStandIns({
  targets,
  text,
  folder,
  follow: { findings },
}: {
  targets: readonly string[];
  text: string;
  folder: string;
  follow: Follow;
}): void {
  const phony = new Set(
    [...text.matchAll(/^\.PHONY\s*:([^#\n]*)/gm)].flatMap(([, names]) => names!.split(/\s+/)),
  );
  for (const target of targets) {
    const path = inside(folder, target);
    if (phony.has(target) || findings.hasFile(path) || findings.hasFolder(path)) continue;
    findings.name(path, 'would stand in for a target');
  }
}

async function readIncluded({
  text,
  folder,
  follow: { findings },
  includes,
}: Pick<Ruled, 'follow' | 'includes'> & { text: string; folder: string }): Promise<string> {
  const texts: string[] = [];
  const waiting = includes(text).map((name) => inside(folder, name));
  for (const path of waiting) {
    if (!findings.hasFile(path) || texts.length > 50) continue;
    findings.name(path, 'included by what a check runs');
    const inner = (await findings.tree.read(path)) ?? '';
    texts.push(inner);
    for (const name of includes(inner)) {
      const next = inside(posix.dirname(path) === '.' ? '' : posix.dirname(path), name);
      if (!waiting.includes(next)) waiting.push(next);
    }
  }
  return texts.join('\n');
}

function expandVariables(body: string, text: string): string {
  const values = makeVariables(text);
  return body.replace(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => values.get(name) ?? whole);
}

const task: Tool = {
  args: 'none',
  async follow(call, follow) {
    const { findings } = follow;
    findings.families.add('task');
    const { file, folder, goals } = readAsked(call, TASKFILES, follow);
    if (file === null || !findings.addGoals(file, goals)) return;
    const base = (await findings.tree.read(file)) ?? '';
    const all = findings.goals.get(file)!;
    findings.parts.set(file, async () => tasksPart(base, all));
    const graph = readTasks(base, all);
    for (const name of graph?.includes ?? []) {
      for (const path of [name, ...TASKFILES.map((each) => posix.join(name, each))].map((each) =>
        inside(folder, each),
      )) {
        if (findings.hasFile(path)) findings.name(path, `included by ${file}`);
      }
    }
    for (const command of graph?.commands ?? [base]) await follow.run(command, folder);
  },
};

export const TASK_RUNNERS: Record<string, Tool> = {
  ...{ make, gmake: make, remake: make, bmake: make, just, task, 'go-task': task },
};
