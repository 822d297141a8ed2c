/** Why we believe it: claims against facts, what judged them, who decided, and whether it still holds. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { ask } from '../api/client.ts';
import { useDownload } from '../api/download.ts';
import { pageOf, useIterationPages } from '../api/iteration-pages.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer, useEvidence } from '../api/queries.ts';
import type { Evidence, Head, Iteration, Job, Judgement, PulseEvent } from '../api/types.ts';
import { shortSha } from '../ui/format.ts';
import { ActionButton, Button, Empty, Failure, Loading } from '../ui/parts.tsx';
import { Tag, TrustWord } from '../ui/status.tsx';
import { At } from '../ui/time.tsx';
import { DecidedChecks } from './changed-checks.tsx';
import { CheckRun } from './check-run.tsx';
import { claimRows, type Freshness, freshnessOf, type Word } from './claims.ts';
import { formatEnvironment } from './environment.ts';
import { People } from './people.tsx';
import { Referee } from './referee.tsx';

/** So many claims at first, the newest. */
const SHOWN = 20;
const MOST_PAGES = 5;

export function EvidenceTab({ head }: { head: Head }) {
  const { session } = head;
  const { data, error } = useEvidence(session.id);
  const [isAll, setIsAll] = useState(false);
  const judgements = (data?.judgements ?? []).toReversed();
  const shown = isAll ? judgements : judgements.slice(0, SHOWN);
  const newest = Math.max(head.iterations, session.current_iteration);
  const pages = [newest, ...shown.map(({ iteration }) => iteration)].filter((n) => n > 0).map(pageOf);
  const { byNumber } = useIterationPages(session.id, [...new Set(pages)].slice(0, MOST_PAGES));
  const refusals = useRefusals(session.id);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the evidence" />;
  const isBare = data.verifications.length === 0 && data.judgements.length === 0;
  return (
    <div className="evidence">
      <header className="section-head">
        <h3>Why we believe it</h3>
        <TrustWord trust={data.trust} />
        {head.head && <code className="dim">{shortSha(head.head)}</code>}
        {data.verifications.length > 0 && (
          <VerifyAgain
            id={session.id}
            standing={`${head.head} ${newest}`}
            known={freshnessOf(data.verifications, byNumber.get(newest), head.head)}
          />
        )}
      </header>
      {isBare && (
        <Empty>
          {session.verify.length === 0
            ? 'No verification command is set, so nothing of this was checked: it is UNVERIFIED.'
            : 'Nothing was claimed yet, so nothing was checked.'}
        </Empty>
      )}
      {shown.map((judgement) => (
        <Claim
          key={`${judgement.iteration}.${judgement.attempt}`}
          judgement={judgement}
          evidence={data}
          iteration={byNumber.get(judgement.iteration)}
          refusals={refusals.filter(({ iteration }) => iteration === judgement.iteration)}
        />
      ))}
      {shown.length < judgements.length && (
        <p>
          <Button onClick={() => setIsAll(true)}>{judgements.length - shown.length} earlier claims</Button>
        </p>
      )}
      <Unjudged evidence={data} />
      <DecidedChecks session={session} judgements={data.judgements} />
      <People id={session.id} />
      <Export id={session.id} />
    </div>
  );
}

const MOST_REFUSALS = 1_000;

function useRefusals(id: string): readonly PulseEvent[] {
  const { data } = useAnswer([`refusals ${id}`], (call) =>
    pulse.history({ id, types: 'pulse.rejected,bead.rejected', limit: MOST_REFUSALS }, call),
  );
  return data?.events ?? [];
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

/** Before the checks have run again. */
function Known({ known: { state, at } }: { known: Freshness }) {
  if (at === null) return null;
  if (state === 'stale') {
    return (
      <span className="verdict">
        <b className="tone-needs">STALE</b>: the work has changed since it was checked <At at={at} />
      </span>
    );
  }
  return (
    <span className="verdict dim">
      not checked again since <At at={at} />
    </span>
  );
}

interface VerifyAgainProps {
  id: string;
  /** The commit and the newest iteration: an answer is of these alone. */
  standing: string;
  known: Freshness;
}

function VerifyAgain({ id, standing, known }: VerifyAgainProps) {
  const [asked, setAsked] = useState<{ jobId: string; standing: string } | null>(null);
  const jobId = asked?.jobId ?? null;
  const verify = useAction<{ jobId: string }>(`/api/pulse/${id}/verify`, {
    onDone: (answer) => setAsked({ jobId: answer.jobId, standing }),
  });
  const { data } = useQuery<{ job: Job }>({
    queryKey: ['job', jobId],
    queryFn: ({ signal }) => ask(`/api/jobs/${jobId}`, { signal }),
    enabled: jobId !== null,
    refetchInterval: ({ state }) => (state.data?.job.endedAt ? false : 700),
  });
  const isRunning = jobId !== null && !data?.job.endedAt;
  const job = asked?.standing === standing ? data?.job : undefined;
  return (
    <>
      <ActionButton disabled={verify.isBusy || isRunning} onClick={() => verify.run()}>
        {isRunning ? 'Verifying…' : 'Verify again'}
      </ActionButton>
      {!job?.answer && <Known known={known} />}
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

interface ClaimProps {
  judgement: Judgement;
  evidence: Evidence;
  iteration: Iteration | undefined;
  refusals: readonly PulseEvent[];
}

function Claim({ judgement, evidence, iteration, refusals }: ClaimProps) {
  const [tone, icon, word] = VERDICTS[judgement.verdict];
  const runs = evidence.verifications.filter((run) => isOf(run, judgement));
  const name = `Claim of iteration ${judgement.iteration}`;
  return (
    <section className="claim">
      <h4>
        {name}{' '}
        <Tag tone={tone} icon={icon}>
          {word}
        </Tag>
        {judgement.verdict === 'accepted' && <TrustWord trust={judgement.trust} />}
      </h4>
      <ClaimTable label={name} rows={claimRows({ judgement, runs, iteration, refusals })} />
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

function isOf(run: { iteration: number; attempt: number }, { iteration, attempt }: Judgement): boolean {
  return run.iteration === iteration && run.attempt === attempt;
}

const TONES: Record<Word, string> = {
  ok: 'tone-done',
  FALSE: 'tone-failed',
  differs: 'tone-needs',
  'you decide': 'tone-needs',
  '': '',
};

function ClaimTable({ label, rows }: { label: string; rows: ReturnType<typeof claimRows> }) {
  return (
    <div className="table-wrap">
      <table className="claim-table" aria-label={label}>
        <thead>
          <tr>
            <th>claim (agent)</th>
            <th>fact (Pulse)</th>
            <th>
              <span className="unseen">they agree</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ claim, fact, word }) => (
            <tr key={`${claim}${fact}`}>
              <td>{claim}</td>
              <td>{fact}</td>
              <td>
                <b className={TONES[word]}>{word}</b>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
