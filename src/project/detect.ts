/** Detects from a worktree's files which commands prepare it and which verify it. Pure. */
import { detectCargo, detectDotnet, detectGo, detectJvm } from './detect/compiled.ts';
import { detectMake } from './detect/make.ts';
import { detectNode } from './detect/node.ts';
import { type Findings, merge, nothing, type SetupStep, type VerifyCommand } from './detect/plan.ts';
import { detectPython } from './detect/python.ts';
import { isMaterial, type WorktreeView } from './detect/worktree.ts';

export interface Preflight {
  /** Only then does Pulse prepare the worktree by itself; otherwise a preflight agent does. */
  certain: boolean;
  steps: SetupStep[];
  verify: VerifyCommand[];
  /** Why it is not certain, in words; empty when it is. */
  doubts: string[];
  notes: string[];
}

/** Say that there is something to build, in a way that Pulse does not know. */
const UNKNOWN = [
  'CMakeLists.txt',
  'configure',
  'configure.ac',
  'meson.build',
  'Gemfile',
  'composer.json',
  'mix.exs',
  'Package.swift',
  'build.sbt',
  'pubspec.yaml',
  'WORKSPACE',
  'MODULE.bazel',
  'deno.json',
  'deno.jsonc',
  'stack.yaml',
  'dune-project',
  'Rakefile',
  'flake.nix',
];

export function detectPreflight(worktree: WorktreeView): Preflight {
  const view = { ...worktree, paths: worktree.paths.filter((path) => !isMaterial(path)) };
  const families = [detectNode, detectPython, detectCargo, detectGo, detectDotnet, detectJvm].map((detect) =>
    detect(view),
  );
  const isBuilt = families.some(({ steps, verify }) => steps.length > 0 || verify.length > 0);
  // A Makefile beside another build mostly calls it.
  const found = merge([detectSubmodules(view), ...families, isBuilt ? nothing() : detectMake(view)]);
  const strangers = UNKNOWN.filter((name) => view.exists(name));
  const doubts = [
    ...found.doubts,
    ...strangers.map((name) => `${name}: Pulse does not know how to prepare it`),
  ];
  return { ...found, doubts, certain: doubts.length === 0 };
}

/** What the lockfiles in the root call for: the part of preflight that every loop's worktree gets. */
export function detectInstalls(worktree: WorktreeView): string[] {
  const { steps } = detectPreflight(worktree);
  return steps.flatMap(({ command, cwd, isLocked }) => (cwd === '.' && isLocked ? [command] : []));
}

function detectSubmodules(view: WorktreeView): Findings {
  if (!view.exists('.gitmodules')) return nothing();
  const command = 'git submodule update --init --recursive';
  return { ...nothing(), steps: [{ command, cwd: '.', why: '.gitmodules is there', isLocked: true }] };
}
