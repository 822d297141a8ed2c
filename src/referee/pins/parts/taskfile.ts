/** Tasks of a Taskfile: those that a check reaches, and all that is no task. */
import { stringify } from 'yaml';
import { createPart, type Part } from './part.ts';
import { objectOf, readYaml } from './yaml-text.ts';

export interface TaskGraph {
  reached: Set<string>;
  commands: string[];
  includes: string[];
}

/** `null`: nobody can say what is reached. */
export function readTasks(text: string, goals: ReadonlySet<string>): TaskGraph | null {
  const file = readYaml(text);
  if (file === null) return null;
  const tasks = objectOf(file.tasks);
  const waiting = [...goals].map((goal) => (goal === '' ? 'default' : goal));
  const reached = new Set(waiting);
  const commands: string[] = [];
  for (const name of waiting) {
    const task = tasks[name];
    const parts = typeof task === 'string' || Array.isArray(task) ? { cmds: task } : objectOf(task);
    const [deps, cmds] = [[parts.deps].flat(), [parts.cmds, parts.cmd].flat()];
    commands.push(...cmds.flatMap((each) => textOf(typeof each === 'string' ? each : objectOf(each).cmd)));
    const needs = [
      ...deps.filter((each) => typeof each === 'string'),
      ...[...deps, ...cmds].map((each) => objectOf(each).task),
    ];
    for (const need of needs.flatMap(textOf)) {
      if (need.includes('{{')) return null;
      const plain = need.replace(/^:/, '');
      if (!reached.has(plain)) waiting.push(plain);
      reached.add(plain);
    }
  }
  const includes = Object.values(objectOf(file.includes)).flatMap((each) => {
    return textOf(typeof each === 'string' ? each : objectOf(each).taskfile);
  });
  return { reached, commands, includes };
}

export function tasksPart(base: string, goals: ReadonlySet<string>): Part | null {
  const graph = readTasks(base, goals);
  if (graph === null) return null;
  const isFree = (name: string) => !graph.reached.has(name) && !name.includes('*');
  const named = [...goals].filter((goal) => goal !== '');
  return createPart({
    name:
      named.length === 0
        ? 'the task default'
        : `${named.length === 1 ? 'task' : 'tasks'} ${named.join(', ')}`,
    read(content) {
      const file = readYaml(content);
      if (file === null) return null;
      const { tasks, ...rest } = file;
      const own = Object.entries(objectOf(tasks)).filter(
        ([name, task]) => !isFree(name) || hasAlias(task, graph.reached),
      );
      const texts = Object.entries(rest).map((entry) => JSON.stringify(entry));
      return [...texts.sort(), ...own.map((entry) => JSON.stringify(entry)).sort()].join('\n');
    },
    merge(before, claim) {
      const [old, claimed] = [readYaml(before), readYaml(claim)];
      if (old === null || claimed === null) return null;
      const free = Object.entries(objectOf(claimed.tasks)).filter(
        ([name, task]) => isFree(name) && !hasAlias(task, graph.reached),
      );
      const own = Object.entries(objectOf(old.tasks)).filter(
        ([name, task]) => !isFree(name) || hasAlias(task, graph.reached),
      );
      return stringify({ ...old, tasks: Object.fromEntries([...own, ...free]) });
    },
  });
}

/** A task that answers to another name. */
function hasAlias(task: unknown, reached: ReadonlySet<string>): boolean {
  const { aliases, label } = objectOf(task);
  return [aliases, label].flat().some((name) => typeof name === 'string' && reached.has(name));
}

function textOf(value: unknown): string[] {
  return typeof value === 'string' ? [value] : [];
}
