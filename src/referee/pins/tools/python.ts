/** Python's interpreters, runners and linters. */
import { quoteWord } from '../../../domain/shell-words.ts';
import { type Call, inside } from '../calls.ts';
import { looksLikeCheck } from '../looks.ts';
import type { Follow, Tool } from './tool.ts';

const runner: Tool = {
  args: 'tests',
  follow: (_, { findings }) => void findings.families.add('python'),
};

const linter: Tool = {
  args: 'work',
  follow: (_, { findings }) => void findings.families.add('python_lint'),
};

/** Runs tests in environments whose commands stand in its config. */
const tox: Tool = {
  args: 'named',
  async follow({ folder }, follow) {
    follow.findings.families.add('python').add('python_lint');
    for (const name of ['tox.ini', 'setup.cfg', 'pyproject.toml', 'noxfile.py']) {
      const text = await follow.findings.tree.read(inside(folder, name));
      for (const script of commandsIn(text ?? '')) await follow.run(script, folder);
    }
  },
};

const unittest: Tool = {
  args: 'tests',
  follow(_, { findings }) {
    findings.families.add('python');
    findings.addTests('**/test*.py', 'what unittest discovers');
  },
};

const python: Tool = {
  args: 'none',
  async follow(call, follow) {
    follow.findings.families.add('python');
    const at = call.args.findIndex(({ text }) => /^-[a-zA-Z]*m$/.test(text));
    if (at >= 0) {
      await startModule({ ...call, args: call.args.slice(at + 1) }, follow);
      return;
    }
    const script = call.args.find(({ text }) => !text.startsWith('-'));
    const path = script && inside(call.folder, script.text);
    if (path && follow.findings.hasFile(path) && (!call.isExamined || looksLikeCheck(path))) {
      await follow.file(path, call.folder);
    }
  },
};

/** `python -m pytest`, and `python -m package.checks`, which is a file of the repository. */
async function startModule(call: Call, follow: Follow): Promise<void> {
  const [module, ...args] = call.args;
  if (!module) return;
  if (follow.knows(module.text)) {
    await follow.run([module, ...args].map(({ text }) => quoteWord(text)).join(' '), call.folder);
    return;
  }
  const file = module.text.replaceAll('.', '/');
  for (const path of [`${file}.py`, `${file}/__main__.py`].map((each) => inside(call.folder, each))) {
    if (follow.findings.hasFile(path) && (!call.isExamined || looksLikeCheck(path))) {
      await follow.file(path, call.folder);
    }
  }
}

/** The lines under `commands =`, and what a config lists under such a key. */
function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^commands(?:_pre|_post)?\s*=((?:.*\n?)(?:[ \t]+.*\n?)*)/gm)];
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'));
  return lines
    .map((line) => line.replace(/\{posargs(?::([^}]*))?\}/g, '$1').trim())
    .filter((line) => line !== '');
}

export const PYTHON_TOOLS: Record<string, Tool> = {
  ...{
    pytest: runner,
    'py.test': runner,
    nose2: runner,
    nosetests: runner,
    coverage: coverageTool(),
    ward: runner,
  },
  ...{
    tox,
    nox: tox,
    unittest,
    doctest: runner,
    python,
    pypy: python,
    py: python,
    trial: runner,
    stestr: runner,
  },
  ...{ ruff: linter, mypy: linter, dmypy: linter, pyright: linter, basedpyright: linter, flake8: linter },
  ...{ pylint: linter, pycodestyle: linter, pydocstyle: linter, bandit: linter, ty: linter, vulture: linter },
};

/** `coverage run -m pytest`. */
function coverageTool(): Tool {
  return {
    args: 'named',
    async follow(call, follow) {
      follow.findings.families.add('python');
      if (call.args[0]?.text === 'run') await python.follow({ ...call, args: call.args.slice(1) }, follow);
    },
  };
}
