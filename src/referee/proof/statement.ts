/**
 * What is said of an accepted unit, as in-toto Statements: one of Pulse's own type with all of it, and one of in-toto's
 * test-result for each command that counted tests (docs/proof.md, The statement).
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { redact } from '../../domain/redact.ts';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const TEST_RESULT_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';
const ACCEPTED_WORK_TYPE = 'pkg:npm/pulse-loops#accepted-work/v1';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const line = z.string().max(1_000);
const count = z.int().nonnegative();

const countsSchema = z.object({ run: count, passed: count, failed: count, skipped: count });
/** As many and as long as a project has them; what is too much is left out when the statement is made. */
const names = z.array(z.string()).optional();

const commandSchema = z.object({
  command: z.string().min(1).max(10_000),
  exit: z.int().nullable(),
  /** As the referee judged it: a failure that was there at the base may have passed. */
  passed: z.boolean(),
  outputSha256: sha256,
  durationMs: z.number().nonnegative(),
  /** Where it ran, as a verification record says it. */
  environment: line,
  at: z.iso.datetime(),
  /** `null`: what it prints is not understood. */
  tests: z
    .object({
      base: countsSchema.nullable(),
      claim: countsSchema,
      passed: names,
      failed: names,
      skipped: names,
    })
    .nullable(),
  /** Names of tests that failed and then passed on the same tree. */
  flaky: names,
  /** It was not run again: the record of the same tree was used. */
  isReused: z.boolean().optional(),
  /** Its files are in no clone, so nobody else can run it. */
  isHeldOut: z.boolean().optional(),
  /** It held a secret, which was taken out. */
  isRedacted: z.boolean().optional(),
});
export type ProofCommand = z.infer<typeof commandSchema>;

/** A file that says what the checks are, or the part of it that does. `null`: not there. */
const pinSchema = z.object({
  path: z.string().min(1).max(4_096),
  part: z.string().max(1_000).nullable(),
  base: sha256.nullable(),
  claim: sha256.nullable(),
});
export type ProofPin = z.infer<typeof pinSchema>;

const common = {
  /** Of the unit: what its protected parts are compared with. */
  base: objectId,
  session: line,
  unit: z.object({ kind: line, id: line.nullable() }),
  goalSha256: sha256,
  trust: z.enum(['verified', 'verified_checks_changed', 'unverified']),
  commands: z.array(commandSchema).max(200),
  /** The old checks on the new code; `null`: nothing protected had changed. */
  replay: z
    .object({
      tree: objectId,
      passed: z.boolean(),
      commands: z
        .array(commandSchema.pick({ command: true, exit: true, passed: true, outputSha256: true }))
        .max(200),
    })
    .nullable(),
  checksChanged: z.array(z.object({ path: z.string().max(4_096), reason: z.string() })).max(10_000),
  /** `plan`: it was declared in a plan that a person approved. `policy`: `checks: allow`. */
  decision: z.object({
    by: z.enum(['pulse', 'person', 'plan', 'policy']),
    name: line.nullable(),
    at: z.iso.datetime(),
  }),
  agent: z.object({ name: line, model: line.nullable() }),
  pulse: z.object({ version: line }),
};

const proofInputSchema = z.object({
  commit: objectId,
  /** The commit's own, whole tree. */
  tree: objectId,
  ...common,
  pins: z.array(pinSchema).max(500_000),
});
/** All data, from durable records: the same input makes the same proof, byte for byte. */
export type ProofInput = z.infer<typeof proofInputSchema>;

const predicateSchema = z.object({
  ...common,
  /** `sha256`: of all pins, also of those that are not listed. */
  pins: z.object({ count, sha256, listed: z.array(pinSchema) }),
});
export type AcceptedWork = z.infer<typeof predicateSchema>;

const statementSchema = z.object({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(z.object({ name: line.optional(), digest: z.record(z.string(), z.string()) })).max(100),
  predicateType: line,
  predicate: z.unknown(),
});
export type Statement = z.infer<typeof statementSchema>;

/** `slim`: without names of tests, the list of pins and long reasons, which an agent can make as long as it likes. */
export type Detail = 'full' | 'slim';

/** Pulse's own first. Throws where the input is not of its form. */
export function statementsOf(given: ProofInput, detail: Detail = 'full'): Statement[] {
  const input = forPublishing(proofInputSchema.parse(given), detail);
  const subject: Statement['subject'] = [
    { name: 'commit', digest: { gitCommit: input.commit } },
    { name: 'tree', digest: { gitTree: input.tree } },
  ];
  const own = { _type: STATEMENT_TYPE, subject, predicateType: ACCEPTED_WORK_TYPE } as const;
  const counted = input.commands.filter(({ tests }) => tests !== null);
  return [
    { ...own, predicate: predicateOf(input, detail) },
    ...counted.map((command) => ({
      ...own,
      predicateType: TEST_RESULT_TYPE,
      predicate: testResult(command, detail === 'full' ? input.pins : []),
    })),
  ];
}

/** `null`: no statement. */
export function readStatement(value: unknown): Statement | null {
  return statementSchema.safeParse(value).data ?? null;
}

/** What Pulse said; `null` where the statement is of another type, or not of the form that this version knows. */
export function readAcceptedWork({ predicateType, predicate }: Statement): AcceptedWork | null {
  if (predicateType !== ACCEPTED_WORK_TYPE) return null;
  return predicateSchema.safeParse(predicate).data ?? null;
}

/** Whether the statement is of this commit with this tree, and of nothing else. */
export function isAbout({ subject }: Statement, { commit, tree }: { commit: string; tree: string }): boolean {
  const said = subject.flatMap(({ digest }) => Object.entries(digest).map(([kind, id]) => `${kind} ${id}`));
  return said.sort().join() === [`gitCommit ${commit}`, `gitTree ${tree}`].join();
}

/** More would make each proof of a large project a large file; the hash still covers all. */
const MOST_PINS = 1_000;
/** Of all names of one proof. */
const MOST_NAME_CHARACTERS = 256 * 1024;
const MOST_REASON_CHARACTERS = { full: 2_000, slim: 100 };

function predicateOf(
  { commit: _commit, tree: _tree, pins, ...rest }: ProofInput,
  detail: Detail,
): AcceptedWork {
  const sorted = [...pins].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const changed = sorted.filter(({ base, claim }) => base !== claim);
  const hash = createHash('sha256');
  for (const pin of sorted) hash.update(`${keyOf(pin)}\n`);
  const listed = (sorted.length <= MOST_PINS ? sorted : changed).slice(0, detail === 'full' ? MOST_PINS : 0);
  return { ...rest, pins: { count: sorted.length, sha256: hash.digest('hex'), listed } };
}

function keyOf({ path, part, base, claim }: ProofPin): string {
  return JSON.stringify([path, part, base, claim]);
}

function testResult({ command, passed, tests, flaky }: ProofCommand, pins: readonly ProofPin[]): unknown {
  const isOdd = (tests?.failed?.length ?? 0) > 0 || (flaky?.length ?? 0) > 0;
  const configuration = [
    { name: 'command', mediaType: 'text/x-shellscript', content: Buffer.from(command).toString('base64') },
    ...pins
      .filter(({ claim }) => claim !== null)
      .slice(0, MOST_PINS)
      .map(({ path, part, claim }) => ({
        name: part === null ? path : `${path}#${part}`,
        digest: { sha256: claim },
      })),
  ];
  return {
    result: passed ? (isOdd ? 'WARNED' : 'PASSED') : 'FAILED',
    configuration,
    ...(tests?.passed ? { passedTests: tests.passed.filter((name) => !flaky?.includes(name)) } : {}),
    ...(flaky ? { warnedTests: flaky } : {}),
    ...(tests?.failed ? { failedTests: tests.failed } : {}),
  };
}

/** Without secrets, and of a bounded length. */
function forPublishing(input: ProofInput, detail: Detail): ProofInput {
  const namesOf = ({ tests, flaky }: ProofCommand): string[] => [
    ...(tests?.passed ?? []),
    ...(tests?.failed ?? []),
    ...(tests?.skipped ?? []),
    ...(flaky ?? []),
  ];
  const length = input.commands.flatMap(namesOf).reduce((sum, name) => sum + name.length, 0);
  const clean = (list: string[] | undefined) =>
    list && detail === 'full' && length <= MOST_NAME_CHARACTERS
      ? list.map((name) => redact(name))
      : undefined;
  return {
    ...input,
    commands: input.commands.map((command) => ({
      ...redacted(command),
      flaky: clean(command.flaky),
      tests: command.tests && {
        ...command.tests,
        passed: clean(command.tests.passed),
        failed: clean(command.tests.failed),
        skipped: clean(command.tests.skipped),
      },
    })),
    replay: input.replay && { ...input.replay, commands: input.replay.commands.map(redacted) },
    checksChanged: input.checksChanged.map(({ path, reason }) => ({
      path,
      reason: redact(reason).slice(0, MOST_REASON_CHARACTERS[detail]),
    })),
  };
}

function redacted<C extends { command: string }>(given: C): C {
  const command = redact(given.command);
  return command === given.command ? given : { ...given, command, isRedacted: true };
}
