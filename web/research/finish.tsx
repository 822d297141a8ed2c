/** What becomes of the findings, and the report that tells them. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useAction } from '../api/action.ts';
import { useDownload } from '../api/download.ts';
import type { ResearchView } from '../api/types.ts';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';

const MOST_WORKERS = 16;

interface FinishProps {
  id: string;
  view: ResearchView;
  status: string;
}

export function Finish({ id, view: { research }, status }: FinishProps) {
  const [, navigate] = useLocation();
  const download = useDownload();
  const [workers, setWorkers] = useState('1');
  const [isTrusted, setIsTrusted] = useState(false);
  const finish = useAction<{ implementation: { swarm: string } | null }>(`/api/research/${id}/finish`, {
    says: 'It is written down',
    onDone: ({ implementation }) => {
      if (implementation) navigate(`/sw/${implementation.swarm}`);
    },
  });
  const isStopped = status !== 'running' && status !== 'pending';
  return (
    <p className="row finish">
      {research.baseline !== null && (
        <Button onClick={() => download.run(`/api/research/${id}/report`)}>Report</Button>
      )}
      {research.finishedAt ? (
        <span className="dim">
          finished by {research.finishedBy} <At at={research.finishedAt} />
        </span>
      ) : (
        isStopped && (
          <>
            <ActionButton
              disabled={finish.isBusy}
              onClick={() =>
                finish.run({
                  how: 'implement',
                  workers: Number(workers),
                  ...(isTrusted ? { trust: true } : {}),
                })
              }
            >
              Implement next steps
            </ActionButton>
            <label className="inline">
              by{' '}
              <input
                type="number"
                min={1}
                max={MOST_WORKERS}
                aria-label="Workers"
                value={workers}
                onChange={({ target }) => setWorkers(target.value)}
              />{' '}
              {workers === '1' ? 'worker' : 'workers'}
            </label>
            <label className="inline">
              <input
                type="checkbox"
                checked={isTrusted}
                onChange={({ target }) => setIsTrusted(target.checked)}
              />{' '}
              Trust the repository's own config
            </label>
            <ActionButton disabled={finish.isBusy} onClick={() => finish.run({ how: 'pause' })}>
              Leave for later
            </ActionButton>
            <ActionButton disabled={finish.isBusy} onClick={() => finish.run({ how: 'done' })}>
              Done
            </ActionButton>
          </>
        )
      )}
      <Failure error={finish.error ?? download.error} />
    </p>
  );
}
