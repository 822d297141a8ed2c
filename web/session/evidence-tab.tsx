/** Why we believe it: claims against facts, what judged them, who decided, and whether it still holds. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { ask } from '../api/client.ts';
import { useDownload } from '../api/download.ts';
import { useEvidence } from '../api/queries.ts';
import type { Evidence, Head, Job, Judgement } from '../api/types.ts';
import { shortSha, words } from '../ui/format.ts';
import { ActionButton, Button, Empty, Failure, Loading } from '../ui/parts.tsx';
import { Tag, TrustWord } from '../ui/status.tsx';
import { At } from '../ui/time.tsx';
import { CheckRun } from './check-run.tsx';
import { formatEnvironment } from './environment.ts';

export function EvidenceTab({ head }: { head: Head }) {
  const { session } = head;
  const { data, error } = useEvidence(session.id);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the evidence" />;
  const isBare = data.verifications.length === 0 && data.judgements.length === 0;
  return (
    <div className="evidence">
      <header className="section-head">
        <h3>Why we believe it</h3>
        <TrustWord trust={data.trust} />
        {head.head && <code className="dim">{shortSha(head.head)}</code>}
        {session.verify.length > 0 && <VerifyAgain id={session.id} />}
      </header>
      {isBare && (
        <Empty>
          {session.verify.length === 0
            ? 'No verification command is set, so nothing of this was checked: it is UNVERIFIED.'
            : 'Nothing was claimed yet, so nothing was checked.'}
        </Empty>
      )}
      {data.judgements.map((judgement) => (
        <Claim key={`${judgement.iteration}.${judgement.attempt}`} judgement={judgement} evidence={data} />
      ))}
      <Unjudged evidence={data} />
      <Export id={session.id} />
    </div>
  );
}

/** All of it as a file: one page that needs nothing else, a text, or data. */
function Export({ id }: { id: string }) {
  const download = useDownload();
  const path = `/api/pulse/${id}/export?format=`;
  return (
    <p className="row">
      <Button onClick={() => download.run(`${path}html`)}>Export as a page</Button>
      <Button onClick={() => download.run(`${path}md`)}>As Markdown</Button>
      <Button onClick={() => download.run(`${path}json`)}>As JSON</Button>
      <Failure error={download.error} />
    </p>
  );
}

function VerifyAgain({ id }: { id: string }) {
  const [jobId, setJobId] = useState<string | null>(null);
  const verify = useAction<{ jobId: string }>(`/api/pulse/${id}/verify`, {
    onDone: (asked) => setJobId(asked.jobId),
  });
  const { data } = useQuery<{ job: Job }>({
    queryKey: ['job', jobId],
    queryFn: ({ signal }) => ask(`/api/jobs/${jobId}`, { signal }),
    enabled: jobId !== null,
    refetchInterval: ({ state }) => (state.data?.job.endedAt ? false : 700),
  });
  const job = data?.job;
  const isRunning = jobId !== null && !job?.endedAt;
  return (
    <>
      <ActionButton disabled={verify.isBusy || isRunning} onClick={() => verify.run()}>
        {isRunning ? 'Verifying…' : 'Verify again'}
      </ActionButton>
      {job?.answer && (
        <span className="verdict">
          now{' '}
          <b className={job.answer.verdict === 'fresh' ? 'tone-done' : 'tone-failed'}>
            {job.answer.verdict.toUpperCase()}
          </b>{' '}
          tree <code>{job.answer.tree.slice(0, 7)}</code>
        </span>
      )}
      {job?.error && <Failure error={new Error(job.error.message)} />}
      <Failure error={verify.error} />
    </>
  );
}

const VERDICTS = {
  accepted: ['done', 'done', 'accepted'],
  rejected: ['failed', 'failed', 'rejected'],
  ask: ['needs', 'needs', 'a person decides'],
} as const;

function Claim({ judgement, evidence }: { judgement: Judgement; evidence: Evidence }) {
  const [tone, icon, word] = VERDICTS[judgement.verdict];
  const runs = evidence.verifications.filter(
    ({ iteration, attempt }) => iteration === judgement.iteration && attempt === judgement.attempt,
  );
  return (
    <section className="claim">
      <h4>
        Claim of iteration {judgement.iteration}{' '}
        <Tag tone={tone} icon={icon}>
          {word}
        </Tag>
        {judgement.verdict === 'accepted' && <TrustWord trust={judgement.trust} />}
      </h4>
      {judgement.reasons.length > 0 && (
        <ul className="reasons">
          {judgement.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {runs.map((run) => (
        <CheckRun key={`${run.command}${run.at}`} run={run} />
      ))}
      <Referee judgement={judgement} />
      {runs[0] && <p className="dim">{formatEnvironment(runs[0].environment)}</p>}
    </section>
  );
}

/** What the referee looked at beside the commands. */
function Referee({
  judgement: { changes, replay, heldOut, opinion, notes, flaky, decidedBy, decidedAt, proof },
}: {
  judgement: Judgement;
}) {
  return (
    <ul className="referee">
      {changes.map(({ path, part, what }) => (
        <li key={`${path}${part}`}>
          check {what}: <code>{path}</code> {part}
        </li>
      ))}
      {replay && <li>with the old checks: {replay.passed ? 'they hold' : 'they do not hold'}</li>}
      {heldOut?.map(({ holds, tests }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told by their place
        <li key={index}>
          held-out check {index + 1}: {holds ? 'holds' : 'does not hold'}
          {tests && `, ${tests.passed} of ${tests.ran}`}
        </li>
      ))}
      {opinion && (
        <li>
          second opinion of {opinion.agent}: {opinion.accept ? 'accepts' : 'does not accept'}{' '}
          {opinion.reasons.join('; ')}
        </li>
      )}
      {notes.map(({ path, line, what, text }) => (
        <li key={`${path}${line}${what}`}>
          {words(what)}: <code>{`${path}:${line}`}</code> {text}
        </li>
      ))}
      {flaky.map((command) => (
        <li key={command}>
          flaky: <code>{command}</code>
        </li>
      ))}
      {decidedBy && (
        <li>
          decided by {decidedBy} {decidedAt && <At at={decidedAt} />}
        </li>
      )}
      {proof && (
        <li>
          proof <code>{proof.slice(0, 16)}</code>
        </li>
      )}
    </ul>
  );
}

/** What ran without a judgement: by version 0.1, or the checks of a pulse. */
function Unjudged({ evidence: { verifications, judgements } }: { evidence: Evidence }) {
  const judged = new Set(judgements.map(({ iteration, attempt }) => `${iteration}.${attempt}`));
  const rest = verifications.filter(({ iteration, attempt }) => !judged.has(`${iteration}.${attempt}`));
  if (rest.length === 0) return null;
  return (
    <section className="claim">
      <h4>Commands that Pulse ran</h4>
      {rest.map((run) => (
        <div key={`${run.iteration}.${run.attempt}${run.command}${run.at}`} className="run-of">
          <span className="dim figures">{run.iteration}</span>
          <CheckRun run={run} />
        </div>
      ))}
    </section>
  );
}
