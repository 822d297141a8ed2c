/** Python: uv, poetry, or pip into a virtual environment of the worktree's own. */
import { type Findings, folderOf, inFolder, merge, nothing, verifyIn } from './plan.ts';
import type { WorktreeView } from './worktree.ts';

const MANIFESTS = ['pyproject.toml', 'requirements.txt', 'uv.lock', 'poetry.lock', 'setup.py', 'Pipfile'];

export function detectPython(view: WorktreeView): Findings {
  const folders = view.paths
    .filter((path) => MANIFESTS.includes(path.split('/').at(-1)!))
    .map(folderOf)
    .filter(
      (folder) => folder === '.' || view.exists(inFolder(folder, 'pyproject.toml')) || hasLock(view, folder),
    );
  return merge([...new Set(folders)].map((folder) => detectProject(view, folder)));
}

function hasLock(view: WorktreeView, folder: string): boolean {
  return ['uv.lock', 'poetry.lock', 'requirements.txt'].some((name) => view.exists(inFolder(folder, name)));
}

function detectProject(view: WorktreeView, folder: string): Findings {
  const found = nothing();
  const has = (name: string): boolean => view.exists(inFolder(folder, name));
  const pyproject = view.read(inFolder(folder, 'pyproject.toml')) ?? '';
  const step = (command: string, why: string): void => void found.steps.push({ command, cwd: folder, why });
  const lockedStep = (command: string, lockfile: string): void =>
    void found.steps.push({
      command,
      cwd: folder,
      why: `${inFolder(folder, lockfile)} is there`,
      isLocked: true,
    });
  let run = '';
  if (has('uv.lock') && has('poetry.lock')) {
    found.doubts.push(`${inFolder(folder, 'uv.lock')} and poetry.lock belong to different tools`);
  }
  if (has('uv.lock')) {
    lockedStep('uv sync --frozen', 'uv.lock');
    run = 'uv run --frozen ';
  } else if (has('poetry.lock')) {
    lockedStep('poetry install --no-interaction', 'poetry.lock');
    run = 'poetry run ';
  } else if (has('requirements.txt')) {
    const wanted = inFolder(folder, 'requirements.txt');
    step('python3 -m venv .venv && .venv/bin/pip install -r requirements.txt', `${wanted} is there`);
    if (!isPinned(view.read(wanted) ?? '')) found.doubts.push(`${wanted} does not pin every version with ==`);
    run = '.venv/bin/python -m ';
  } else if (has('Pipfile')) {
    found.doubts.push(`${inFolder(folder, 'Pipfile')}: pipenv is not known to Pulse`);
  } else if (
    /^dependencies *= *\[\s*[^\s\]]|^\[tool\.poetry\.dependencies\]/m.test(pyproject) ||
    has('setup.py')
  ) {
    found.doubts.push(`${inFolder(folder, 'pyproject.toml')} has dependencies and no lockfile`);
    step('python3 -m venv .venv && .venv/bin/pip install -e .', 'a package with dependencies is there');
    run = '.venv/bin/python -m ';
  } else {
    run = 'python3 -m ';
  }
  return merge([found, detectTools(view, { folder, run, pyproject })]);
}

function detectTools(
  view: WorktreeView,
  { folder, run, pyproject }: { folder: string; run: string; pyproject: string },
): Findings {
  const found = nothing();
  const texts = ['requirements.txt', 'requirements-dev.txt', 'setup.cfg', 'tox.ini'].map(
    (name) => view.read(inFolder(folder, name)) ?? '',
  );
  const all = [pyproject, ...texts].join('\n');
  const isThere = (name: string): boolean => view.exists(inFolder(folder, name));
  const add = (command: string, source: 'Build' | 'Lint' | 'Test'): void =>
    void found.verify.push(verifyIn(folder, `${run}${command}`, source));
  if (/\bmypy\b/.test(all) || isThere('mypy.ini')) add('mypy .', 'Build');
  if (/\bruff\b/.test(all) || isThere('ruff.toml') || isThere('.ruff.toml')) add('ruff check .', 'Lint');
  else if (/\bflake8\b/.test(all) || isThere('.flake8')) add('flake8', 'Lint');
  if (/\bpytest\b/.test(all) || isThere('pytest.ini') || isThere('conftest.py')) add('pytest', 'Test');
  return found;
}

function isPinned(requirements: string): boolean {
  const wanted = requirements
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter(
      (line) => line !== '' && !/^--?(?:hash|index-url|extra-index-url|find-links|no-binary|i)\b/.test(line),
    );
  return wanted.every((line) => /==|@\s*\S+/.test(line));
}
