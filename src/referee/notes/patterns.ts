/** What a line may say that a person wants to know of, by kind of file. */
import type { What } from './notes.ts';

export type FileKind = 'test' | 'source' | 'script';

export interface Pattern {
  what: What;
  /** Files by the ends of their names; without it all. */
  files?: RegExp;
  kinds: readonly FileKind[];
  /** `text`: what stands in quotes counts, too. */
  view: 'code' | 'text';
  line: RegExp;
}

const JS = /\.[cm]?[jt]sx?$/;
const PY = /\.py$/;
const GO = /\.go$/;
const RS = /\.rs$/;
const JVM = /\.(?:java|kt|kts|groovy|scala)$/;
const CS = /\.(?:cs|fs|vb)$/;
const RB = /\.rb$/;
const PHP = /\.php$/;

const TEST = ['test', 'source'] as const;
const CODE = ['test', 'source', 'script'] as const;

function skips(files: RegExp, line: RegExp): Pattern {
  return { what: 'skip', files, kinds: TEST, view: 'code', line };
}

const SKIPS: Pattern[] = [
  skips(
    JS,
    /\b(?:it|test|describe|suite|context|specify|bench)(?:\.\w+)*\.(?:skip|todo|fixme|skipIf|runIf|fails|failing)\b|\bx(?:it|test|describe|context|specify)\s*\(/,
  ),
  // Outside of tests these words have other meanings.
  {
    what: 'skip',
    files: JS,
    kinds: ['test'],
    view: 'code',
    line: /\b(?:t|ctx|this)\.(?:skip|todo)\s*\(|[{,]\s*(?:skip|todo)\s*:\s*(?!false\b|undefined\b|\d)/,
  },
  skips(
    PY,
    /@(?:\w+\.)*(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(/,
  ),
  skips(
    PY,
    /\bskipTest\s*\(|\braise\s+(?:\w+\.)?SkipTest|\bpytestmark\s*=|\bcollect_ignore\w*\s*=|\b__test__\s*=\s*False/,
  ),
  skips(GO, /\b[tb]\.Skip(?:f|Now)?\s*\(|\b[XP](?:It|Describe|Context|Specify)\s*\(/),
  skips(RS, /#\s*!?\[\s*(?:ignore\b|cfg\s*\(\s*(?:any\s*\(\s*\)|FALSE|false)\s*\))/),
  skips(JVM, /@(?:Disabled\w*|Ignore\w*)\b|\bassume(?:True|False|That)\s*\(/),
  skips(CS, /\[\s*(?:\w+\s*,\s*)*(?:Ignore|Explicit)\b|\bSkip\s*=|\bAssert\.(?:Ignore|Inconclusive)\s*\(/),
  skips(RB, /^\s*(?:xit|xdescribe|xcontext|xspecify|xscenario|pending|skip)\b/),
  skips(PHP, /\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo)\s*\(/),
];

const ONLY: Pattern[] = [
  {
    what: 'only',
    files: JS,
    kinds: TEST,
    view: 'code',
    line: /\b(?:it|test|describe|suite|context|specify)(?:\.\w+)*\.only\b|\bf(?:it|describe)\s*\(|[{,]\s*only\s*:\s*true\b/,
  },
  {
    what: 'only',
    files: RB,
    kinds: TEST,
    view: 'code',
    line: /^\s*(?:fit|fdescribe|fcontext)\b|\bfocus:\s*true|,\s*:focus\b/,
  },
  { what: 'only', files: GO, kinds: TEST, view: 'code', line: /\bF(?:It|Describe|Context|Specify)\s*\(/ },
];

/** Of commands: in scripts, in package.json, in the steps of a pipeline. */
const IGNORED: Pattern[] = [
  {
    what: 'ignored_exit',
    kinds: ['script'],
    view: 'text',
    line: /\|\|\s*(?:true|:|exit\s+0|return\s+0|echo\b|\/bin\/true)(?=\W|$)|;\s*(?:true|exit\s+0)\s*(?:["']|$)|\bset\s+\+e\b/,
  },
  {
    what: 'ignored_exit',
    kinds: ['script'],
    view: 'text',
    line: /--pass-?[wW]ith-?[nN]o-?[tT]ests|--exit-zero\b|--no-fail\b|--allow-no-tests|--suppress-no-test-exit-code|\bcontinue-on-error:\s*true|\ballow_failure:\s*true/,
  },
  {
    what: 'ignored_exit',
    kinds: CODE,
    view: 'text',
    line: /\bpassWithNoTests\s*:\s*true|dangerouslyIgnoreUnhandledErrors\s*:\s*true|testFailureIgnore>\s*true|\bignoreFailures\s*(?:=|\.set\()\s*true|test\.failure\.ignore=true|\bignore_errors\s*=\s*true/i,
  },
  {
    what: 'ignored_exit',
    files: /(?:^|\/)(?:GNUmakefile|[Mm]akefile|.*\.mk)$/,
    kinds: ['script'],
    view: 'text',
    line: /^\t@?-@?\s*\S/,
  },
];

const EXITS: Pattern[] = [
  {
    what: 'early_exit',
    files: JS,
    kinds: ['test'],
    view: 'code',
    line: /\bprocess\.(?:exit|reallyExit|abort)\s*\(|\bprocess\.exitCode\s*=|\bprocess\.kill\s*\(\s*process\.pid|\b(?:Deno|Bun)\.exit\s*\(/,
  },
  {
    what: 'early_exit',
    files: JS,
    kinds: ['source'],
    view: 'code',
    line: /\bprocess\.(?:exit\s*\(\s*0?\s*\)|reallyExit\s*\(|exitCode\s*=\s*0)/,
  },
  {
    what: 'early_exit',
    files: PY,
    kinds: ['test'],
    view: 'code',
    line: /\bos\.(?:_exit|abort)\s*\(|\bsys\.exit\s*\(|\braise\s+SystemExit|\bpytest\.exit\s*\(|^\s*(?:quit|exit)\s*\(/,
  },
  {
    what: 'early_exit',
    files: PY,
    kinds: ['source'],
    view: 'code',
    line: /\bos\._exit\s*\(|\bsys\.exit\s*\(\s*0?\s*\)/,
  },
  {
    what: 'early_exit',
    files: RS,
    kinds: TEST,
    view: 'code',
    line: /\bprocess\s*::\s*(?:exit\s*\(\s*0|abort\s*\()/,
  },
  {
    what: 'early_exit',
    files: GO,
    kinds: TEST,
    view: 'code',
    line: /\bos\.Exit\s*\(\s*0|\bsyscall\.Exit\s*\(|\bruntime\.Goexit\s*\(/,
  },
  {
    what: 'early_exit',
    files: JVM,
    kinds: TEST,
    view: 'code',
    line: /\bSystem\.exit\s*\(\s*0|\.halt\s*\(|\bexitProcess\s*\(\s*0/,
  },
  { what: 'early_exit', files: CS, kinds: TEST, view: 'code', line: /\bEnvironment\.Exit\s*\(/ },
  {
    what: 'early_exit',
    files: RB,
    kinds: TEST,
    view: 'code',
    line: /^\s*(?:exit!?\s*(?:\(?\s*(?:0|true)|$)|Kernel\.exit)/,
  },
  { what: 'early_exit', files: PHP, kinds: ['test'], view: 'code', line: /\b(?:exit|die)\s*[(;]/ },
];

const PATCHES: Pattern[] = [
  {
    what: 'patched_runner',
    kinds: ['source'],
    view: 'text',
    line: /\b(?:NODE_TEST_CONTEXT|VITEST(?:_WORKER_ID|_POOL_ID|_MODE)?|JEST_WORKER_ID|PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST_WORKER|NEXTEST(?:_\w+)?|MOCHA_COLORS|TAP_CHILD_ID)\b/,
  },
  {
    what: 'patched_runner',
    kinds: ['source'],
    view: 'text',
    line: /\b(?:NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|BUN_ENV)\b.{0,20}["']test["']|\bRails\.env\.test\?/,
  },
  {
    what: 'patched_runner',
    files: JS,
    kinds: ['source'],
    view: 'code',
    line: /\btypeof\s+(?:globalThis\.|global\.)?(?:it|describe|jest|vi|expect|vitest|mocha|__vitest_\w+|beforeEach)\b|\b(?:globalThis|global|window)\.(?:it|test|describe|expect|jest|vi|assert|beforeEach|afterEach)\b/,
  },
  {
    what: 'patched_runner',
    files: JS,
    kinds: TEST,
    view: 'code',
    line: /\bassert(?:\.\w+)+\s*=(?![=>])|\b(?:Object\.(?:assign|defineProperty|defineProperties)|Reflect\.(?:set|defineProperty))\s*\(\s*(?:assert|expect|console|process)\b|\bprocess\.(?:exit|emit|on|reallyExit)\s*=(?![=>])|\bModule\._(?:load|resolveFilename|extensions|compile)\b|\bexpect(?:\.\w+)+\s*=(?![=>])/,
  },
  {
    what: 'patched_runner',
    files: JS,
    kinds: ['source'],
    view: 'text',
    line: /(?:\bfrom|\brequire\s*\(|\bimport\s*\()\s*["'](?:node:test|node:assert(?:\/strict)?|assert|vitest|@jest\/globals|chai|mocha|expect|@playwright\/test|bun:test)["']/,
  },
  {
    what: 'patched_runner',
    files: JS,
    kinds: ['source'],
    view: 'text',
    line: /\bprocess\.(?:argv|execArgv)\b.*\b(?:test|vitest|jest|mocha)\b|\.stack\b.*\b(?:test|spec|vitest|jest)\b/,
  },
  {
    what: 'patched_runner',
    files: PY,
    kinds: ['source'],
    view: 'text',
    line: /^\s*(?:import|from)\s+(?:_?pytest|unittest|pluggy)\b|["'](?:pytest|_pytest|unittest)["']\s+(?:not\s+)?in\s+sys\.modules|\bsys\.modules\b.*\b(?:pytest|unittest)\b|\binspect\.stack\s*\(|\bsys\._getframe\s*\(|\bsys\.settrace\s*\(/,
  },
  {
    what: 'patched_runner',
    files: PY,
    kinds: TEST,
    view: 'code',
    line: /\bdef\s+pytest_(?:runtest_\w+|pyfunc_call|collection_modifyitems|sessionfinish|report_\w+|ignore_collect|assertrepr_compare|terminal_summary)\b|\b(?:report|rep|call|session)\.(?:outcome|exitstatus|excinfo|testsfailed)\s*=(?!=)|\bbuiltins\.\w+\s*=(?!=)|\b(?:unittest\.)?TestCase\.\w+\s*=(?!=)/,
  },
  {
    what: 'patched_runner',
    files: PY,
    kinds: TEST,
    view: 'code',
    line: /\bdef\s+__(?:eq|ne|lt|gt|le|ge)__\s*\([^)]*\)[^:]*:\s*return\s+True\b/,
  },
  {
    what: 'patched_runner',
    files: RS,
    kinds: ['source'],
    view: 'code',
    line: /\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\b|#\s*!?\[\s*cfg(?:_attr)?\s*\([^\]]*\bnot\s*\(\s*test\s*\)|\bmacro_rules!\s*(?:debug_)?(?:assert\w*|panic)\b/,
  },
  {
    what: 'patched_runner',
    files: GO,
    kinds: ['source'],
    view: 'text',
    line: /\btesting\.Testing\s*\(|\bflag\.Lookup\s*\(\s*"test\.|os\.Args\[0\].*\.test\b|^\s*(?:\w+\s+)?"testing"\s*$/,
  },
  {
    what: 'patched_runner',
    files: JVM,
    kinds: ['source'],
    view: 'text',
    line: /["'](?:org\.junit|junit\.|org\.testng)|\bimport\s+(?:static\s+)?(?:org\.junit|org\.testng|org\.mockito)\b/,
  },
  {
    what: 'patched_runner',
    files: RB,
    kinds: ['source'],
    view: 'code',
    line: /\bdefined\?\s*\(?\s*(?:RSpec|Minitest)\b|\b(?:RSpec|Minitest)(?:::\w+)*\.(?:class_eval|prepend|define_method)/,
  },
];

export const PATTERNS: readonly Pattern[] = [...SKIPS, ...ONLY, ...IGNORED, ...EXITS, ...PATCHES];

/** Lines by which a file can decide over others that run beside it. */
export const TAKING_OVER: readonly Pattern[] = [...EXITS, ...PATCHES].filter(({ kinds }) =>
  kinds.includes('test'),
);
