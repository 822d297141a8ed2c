/** Modules of the repository that pytest loads as plugins. */
import { posix } from 'node:path';
import type { Findings } from './findings.ts';

const CONFIG =
  /(?:^|\/)(?:conftest\.py|pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.(?:ini|toml)|setup\.py)$/;
const MAX_FILES = 200;

export async function readPythonConfigs(findings: Findings): Promise<void> {
  if (!findings.families.has('python')) return;
  for (const path of findings.tree.paths.filter((each) => CONFIG.test(each)).slice(0, MAX_FILES)) {
    const text = (await findings.tree.read(path)) ?? '';
    for (const name of pluginsIn(text)) {
      const file = name.replaceAll('.', '/');
      const folders = [...new Set(['', posix.dirname(path), 'src'])].map((folder) =>
        folder === '.' ? '' : folder,
      );
      for (const folder of folders) {
        for (const each of [`${file}.py`, `${file}/__init__.py`].map((end) => posix.join(folder, end))) {
          if (findings.hasFile(each)) findings.name(each, `a plugin, named by ${path}`);
        }
      }
    }
  }
}

/** `pytest_plugins = ["a.b"]`, `-p a.b`, and entry points of the group `pytest11`. */
function pluginsIn(text: string): string[] {
  const lists = [...text.matchAll(/\bpytest_plugins\s*=\s*([[(]?[^\])\n]*(?:\n[^\])]*)?)/g)];
  const listed = lists.flatMap(([, list]) =>
    [...list!.matchAll(/["']([\w.]+)["']/g)].map(([, name]) => name!),
  );
  const options = [...text.matchAll(/(?:^|[\s"'=])-p[\s"',]+([a-zA-Z_][\w.]*)/gm)].map(([, name]) => name!);
  const entries = [...text.matchAll(/pytest11["'\]]?[^\n]*\n?[^\n]*?[\w-]+\s*=\s*["']?([\w.]+)/g)].map(
    ([, name]) => name!,
  );
  return [...listed, ...options, ...entries];
}
