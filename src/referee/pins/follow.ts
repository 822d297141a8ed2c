/** Follows a check from its command to what defines it: scripts, targets, the programs they start, the files they name. */
import { posix } from 'node:path';
import { type Call, inside, readCalls } from './calls.ts';
import type { Findings } from './findings.ts';
import { looksLikeCheck } from './looks.ts';
import { namedFiles } from './named-files.ts';
import { toolNamed } from './tools/all.ts';
import type { Follow } from './tools/tool.ts';

const MAX_SCRIPTS = 500;

export function createFollow(findings: Findings): Follow {
  const seen = new Set<string>();

  async function run(script: string, folder: string): Promise<void> {
    const key = `${folder}\0${script}`;
    if (seen.has(key) || seen.size >= MAX_SCRIPTS) return;
    seen.add(key);
    for (const call of readCalls(script, folder)) await start(call);
  }

  async function start(call: Call): Promise<void> {
    const tool = toolNamed(call.name);
    const why = `named by \`${call.name}\``;
    for (const path of namedFiles(call, findings, tool?.args ?? 'named')) findings.name(path, why);
    // `NODE_OPTIONS="--require ./x.cjs"` is a command line without a program.
    for (const value of call.settings) {
      for (const path of namedFiles({ ...call, args: wordsOf(value) }, findings, 'named')) {
        findings.name(path, `named for \`${call.name}\``);
      }
    }
    if (tool !== undefined) await tool.follow(call, follow);
    else if (!(await startFile(call))) findings.unknown.add(call.name);
  }

  /** A program of the repository: `./scripts/test.sh`. */
  async function startFile({ program, folder, isExamined }: Call): Promise<boolean> {
    const path = inside(folder, program.text);
    if (!program.text.includes('/') || !findings.hasFile(path)) return false;
    if (!isExamined || looksLikeCheck(path)) await file(path, folder);
    return true;
  }

  async function file(path: string, folder: string): Promise<void> {
    findings.name(path, 'run by a check');
    const text = await findings.tree.read(path);
    if (text === null) return;
    if (/\.(?:ba|z|k)?sh$/.test(path) || /^#!.*\b(?:ba|z|k|da)?sh\b/.test(text)) {
      await run(text, folder);
      const own = posix.dirname(path);
      // A script often goes to its own folder, or to the one above, first.
      if (own !== '.') await run(text.replace(/^/, '\n'), own);
    }
  }

  const follow: Follow = { findings, run, file, knows: (name) => toolNamed(name) !== undefined };
  return follow;
}

function wordsOf(value: string): Call['args'] {
  return value.split(/\s+/).map((text) => ({ text, isWhole: true }));
}
