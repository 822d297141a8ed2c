/** Go, the JVM's build tools, .NET, Ruby and PHP. */

import { posix } from 'node:path';
import { quoteWord } from '../../../domain/shell-words.ts';
import { type Call, inside } from '../calls.ts';
import type { Family } from '../families.ts';
import { looksLikeCheck } from '../looks.ts';
import { isObject, type JsonValue, memberOf, readJsonObject } from '../parts/json-text.ts';
import type { Follow, Tool } from './tool.ts';

function family(name: Family, args: Tool['args'] = 'work'): Tool {
  return { args, follow: (_, { findings }) => void findings.families.add(name) };
}

/** `go run ./tools/check`: a program of the repository that is the check. */
const go: Tool = {
  args: 'work',
  follow({ args, folder, isExamined }, { findings }) {
    findings.families.add('go');
    if (args[0]?.text !== 'run' || isExamined) return;
    const target = args.slice(1).find(({ text }) => !text.startsWith('-'));
    const path = target && inside(folder, target.text);
    if (!path || !looksLikeCheck(path)) return;
    if (findings.hasFile(path)) findings.name(path, 'run by a check');
    else if (findings.hasFolder(path)) findings.addTests(`${path}/**`, 'run by a check');
  },
};

/** `./gradlew test` is a program of the repository, and the family's file. */
const jvm = family('jvm');

function interpreter(name: Family): Tool {
  return {
    args: 'none',
    async follow(call, follow) {
      follow.findings.families.add(name);
      const script = call.args.find(({ text }) => !text.startsWith('-'));
      if (!script) return;
      const path = inside(call.folder, script.text);
      if (follow.findings.hasFile(path) && (!call.isExamined || looksLikeCheck(path))) {
        await follow.file(path, call.folder);
      } else if (follow.knows(posix.basename(script.text))) {
        const rest = call.args.slice(call.args.indexOf(script));
        await follow.run(rest.map(({ text }) => quoteWord(text)).join(' '), call.folder);
      }
    },
  };
}

/** What phpunit.xml loads first, and where it says that tests are. */
const phpunit: Tool = {
  args: 'tests',
  async follow(call, { findings }) {
    findings.families.add('php');
    for (const name of ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml']) {
      const text = (await findings.tree.read(inside(call.folder, name))) ?? '';
      for (const [, bootstrap] of text.matchAll(/\bbootstrap="([^"]+)"/g)) {
        const path = inside(call.folder, bootstrap!);
        if (findings.hasFile(path)) findings.name(path, `named by ${name}`);
      }
      const suites = /<testsuites>[\s\S]*<\/testsuites>/.exec(text)?.[0] ?? '';
      for (const [, folder] of suites.matchAll(/<(?:directory|file)[^>]*>\s*([^<\s]+)\s*</g)) {
        const path = inside(call.folder, folder!);
        if (path !== '') findings.addTests(findings.hasFile(path) ? path : `${path}/**`, `named by ${name}`);
      }
    }
  },
};

/** `composer test` runs a script of composer.json. */
const composer: Tool = {
  args: 'named',
  async follow(call, follow) {
    follow.findings.families.add('php');
    const [name] = call.args.map(({ text }) => text).filter((text) => !/^-|^run(?:-script)?$/.test(text));
    if (name !== undefined) await runComposerScript(name, call, follow);
  },
};

async function runComposerScript(name: string, call: Call, follow: Follow): Promise<void> {
  const file = readJsonObject((await follow.findings.tree.read(inside(call.folder, 'composer.json'))) ?? '');
  const scripts = file && memberOf(file, 'scripts')?.value;
  const script: JsonValue | undefined = isObject(scripts ?? undefined)
    ? memberOf(scripts as never, name)?.value
    : undefined;
  for (const line of [script].flat()) {
    if (typeof line !== 'string') continue;
    const other = /^@(?!php\b|putenv\b)([\w:-]+)/.exec(line)?.[1];
    if (other === undefined) await follow.run(line.replace(/^@(?:php|putenv)\s+/, ''), call.folder);
    else if (other !== name) await follow.run(`composer ${other}`, call.folder);
  }
}

const rake: Tool = {
  args: 'none',
  async follow({ folder }, follow) {
    follow.findings.families.add('ruby');
    const rakefiles = ['Rakefile', 'rakefile', 'Rakefile.rb'].map((name) => inside(folder, name));
    for (const path of rakefiles)
      if (follow.findings.hasFile(path)) follow.findings.name(path, 'run by a check');
  },
};

export const COMPILED_TOOLS: Record<string, Tool> = {
  ...{ go, gotestsum: go, ginkgo: go, 'golangci-lint': family('go'), staticcheck: family('go') },
  ...{
    mvn: jvm,
    mvnw: jvm,
    mvnd: jvm,
    gradle: jvm,
    gradlew: jvm,
    ant: family('jvm', 'named'),
    sbt: family('jvm', 'named'),
  },
  ...{ dotnet: family('dotnet'), msbuild: family('dotnet'), vstest: family('dotnet') },
  ...{
    rspec: family('ruby', 'tests'),
    ruby: interpreter('ruby'),
    rake,
    rails: rake,
    minitest: family('ruby', 'tests'),
  },
  ...{ cucumber: family('ruby', 'tests'), rubocop: family('ruby'), standardrb: family('ruby') },
  ...{
    phpunit,
    paratest: phpunit,
    pest: phpunit,
    simplephpunit: phpunit,
    'simple-phpunit': phpunit,
    php: interpreter('php'),
  },
  ...{
    composer,
    phpstan: family('php'),
    psalm: family('php'),
    phpcs: family('php'),
    codecept: phpunit,
    behat: phpunit,
  },
};
