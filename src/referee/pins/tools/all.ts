/** All tools, by the names of their programs. */
import { COMPILED_TOOLS } from './compiled.ts';
import { LINT_TOOLS } from './lint.ts';
import { NODE_TOOLS } from './node.ts';
import { PACKAGE_SCRIPTS } from './package-scripts.ts';
import { PLAIN_TOOLS } from './plain.ts';
import { PYTHON_TOOLS } from './python.ts';
import { RUST_TOOLS } from './rust.ts';
import { SHELL_TOOLS } from './shell.ts';
import { TASK_RUNNERS } from './task-runners.ts';
import type { Tool } from './tool.ts';

const TOOLS: Record<string, Tool> = {
  ...PLAIN_TOOLS,
  ...SHELL_TOOLS,
  ...PACKAGE_SCRIPTS,
  ...NODE_TOOLS,
  ...PYTHON_TOOLS,
  ...RUST_TOOLS,
  ...COMPILED_TOOLS,
  ...LINT_TOOLS,
  ...TASK_RUNNERS,
};

export function toolNamed(name: string): Tool | undefined {
  const plain = name.replace(/^(python|pypy|pip|ruby|php)[\d.]+$/, '$1');
  return Object.hasOwn(TOOLS, plain) ? TOOLS[plain] : undefined;
}
