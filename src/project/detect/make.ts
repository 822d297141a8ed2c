/** Makefiles, where no other build is: what their targets are called is all there is to go by. */
import type { IssueSource } from '../issue-source.ts';
import { type Findings, nothing } from './plan.ts';
import type { WorktreeView } from './worktree.ts';

const VERIFY: readonly { targets: readonly string[]; source: IssueSource }[] = [
  { targets: ['build', 'all'], source: 'Build' },
  { targets: ['lint'], source: 'Lint' },
  { targets: ['test', 'check'], source: 'Test' },
];
const SETUP = ['deps', 'setup', 'bootstrap'];

export function detectMake(view: WorktreeView): Findings {
  const found = nothing();
  const name = ['GNUmakefile', 'makefile', 'Makefile'].find((each) => view.exists(each));
  if (name === undefined) return found;
  const text = view.read(name) ?? '';
  const targets = new Set(
    [...text.matchAll(/^([A-Za-z][\w-]*)[ \t]*:(?![=:])/gm)].map(([, target]) => target!),
  );
  const setup = SETUP.find((target) => targets.has(target));
  if (setup !== undefined) {
    found.steps.push({ command: `make ${setup}`, cwd: '.', why: `${name} has the target ${setup}` });
    found.doubts.push(`${name}: what "${setup}" does, only the file itself says`);
  }
  for (const { targets: names, source } of VERIFY) {
    const target = names.find((each) => targets.has(each));
    if (target !== undefined) found.verify.push({ command: `make ${target}`, source });
  }
  return found;
}
