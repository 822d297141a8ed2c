/** Commits by their signed proofs: what `pulse verify REV` says of a commit, a branch or a range. */
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { type Field, FormPanel } from '../ui/form.tsx';
import { shortSha } from '../ui/format.ts';
import { Output } from '../ui/output.tsx';
import { Tag, type Tone } from '../ui/status.tsx';

const FIELDS: Field[] = [
  {
    name: 'what',
    label: 'Commit, branch or range',
    placeholder: 'main..HEAD',
    isRequired: true,
    isWide: true,
  },
  { name: 'run', label: 'Commands run again', kind: 'choice', choices: ['tip', 'all', 'none'] },
  { name: 'base', label: 'Branch whose keys count' },
  { name: 'key', label: 'A public key to believe', kind: 'file' },
];

type Report = Awaited<ReturnType<typeof pulse.verifyCommits>>;
type Asked = Omit<Parameters<typeof pulse.verifyCommits>[0], 'keys'> & { key?: string };

export function ProofsTab({ project }: { project: string }) {
  const verify = useAction(verifyCommits, { says: 'The proofs are checked' });
  return (
    <>
      <FormPanel
        title="Check proofs"
        label="Check proofs"
        fields={FIELDS}
        draft="proofs"
        action={verify}
        fixed={{ projectPath: project }}
        submit="Verify commits"
      />
      <p className="hint">
        Only commands that a known key has signed, or that the base names, are run, in a fresh checkout.
      </p>
      {verify.result && <ReportView report={verify.result} />}
    </>
  );
}

function verifyCommits({ key, ...asked }: Asked, call: Parameters<typeof pulse.verifyCommits>[1]) {
  return pulse.verifyCommits({ ...asked, ...(key ? { keys: [key] } : {}) }, call);
}

const TONES: Record<Report['verdict'], Tone> = {
  ...{
    fresh: 'done',
    signed: 'done',
    covered: 'done',
    stale: 'needs',
    false: 'failed',
    unproven: 'unverified',
  },
};

function Verdict({ word }: { word: Report['verdict'] }) {
  const tone = TONES[word];
  return (
    <Tag tone={tone} icon={tone === 'done' ? 'done' : tone === 'needs' ? 'needs' : 'failed'}>
      {word}
    </Tag>
  );
}

function ReportView({ report: { what, verdict, keys, base, commits } }: { report: Report }) {
  return (
    <section className="claim" aria-label="Proofs">
      <h3>
        <code>{what}</code> <Verdict word={verdict} />
      </h3>
      <p className="dim">
        {keys.length === 0 ? 'no key is believed' : `keys: ${keys.map(shortSha).join(', ')}`}
        {base && `, base ${base.name} ${shortSha(base.commit)}`}
      </p>
      <ul className="found" aria-label="Commits">
        {commits.map((one) => (
          <li key={one.commit}>
            <Verdict word={one.verdict} /> <code>{shortSha(one.commit)}</code> {one.why}
            {one.proofs.map(({ state, keyId, problem, work }) => (
              <p key={`${state}${keyId}`} className="dim">
                {state} key {shortSha(keyId)} {problem ?? (work && `${work.trust}, session ${work.session}`)}
              </p>
            ))}
            {one.checks.map(({ command, verdict: word, why, again }) => (
              <details key={command} className="check-run">
                <summary>
                  {word}: <code>{command}</code> {why}
                </summary>
                <Output text={again?.outputTail || 'It printed nothing.'} />
              </details>
            ))}
            {one.missing.map((command) => (
              <p key={command} className="tone-needs">
                not in the proof, but in the base's verify: <code>{command}</code>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
